"""Scores on a terminal."""

import json
from pathlib import Path

import pytest

from regard.cli import app as application
from regard.cli.console import results
from regard.cli.evaluate import print_scores
from regard.config import parse_config
from regard.core.prediction import Request
from regard.evaluation import Against, Evaluation
from regard.metrics import Bucket, Comparison, Interval, Score
from regard.search import SearchPlan

NAMES = ("caption_bleu_1", "caption_bleu_2", "caption_bleu_3", "caption_bleu_4", "caption_cider", "rouge_l")


def evaluated(lengths: list[tuple[int, int]], against: Against | None = None) -> Evaluation:
    scores = tuple(Score(name, 12.5, name, True, Interval(11.5, 13.5)) for name in NAMES)
    return Evaluation(
        path=Path("run"),
        name="run",
        config=parse_config({"task": {"name": "dates"}}, origin="a test"),
        search=SearchPlan(),
        split="test",
        scores=dict(zip(NAMES, scores, strict=True)),
        by_length=[Bucket(least, most, 1, scores) for least, most in lengths],
        by_frequency=[],
        by_direction=[],
        requests=[Request("a"), Request("b")],
        references=[["a"], ["b"]],
        predictions=[],
        rarest=[None, None],
        look=lambda some: [],
        against=against,
    )


def evaluate(monkeypatch: pytest.MonkeyPatch, *options: str, found: Evaluation | None = None) -> int:
    """The command, which finds this; nothing may be scored where there is nothing to find."""

    def score(*_: object, **__: object) -> Evaluation:
        assert found is not None
        return found

    monkeypatch.setattr("regard.evaluation.evaluate", score)
    monkeypatch.setattr("sys.argv", ["regard", "evaluate", *options])
    return application.run()


@pytest.mark.parametrize("width", [60, 80, 300])
def test_metrics_that_do_not_fit_beside_each_other_stand_below(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(results, "width", width)
    with results.capture() as told:
        print_scores(evaluated([(1, 4), (5, 5)]))
    lines = told.get().splitlines()
    heads = [line for line in lines if line.startswith("test (2 sources)")]
    assert [name for line in heads for name in line.split()[3:]] == list(NAMES)
    assert all(len(line) <= width for line in heads)
    assert (len(heads) == 1) == (width == 300)
    assert sum(line.startswith("5 source pieces (1)") for line in lines) == len(heads)


def test_sources_that_are_all_as_long_are_not_told_apart() -> None:
    with results.capture() as told:
        print_scores(evaluated([(64, 64)]))
    assert "source pieces" not in told.get()


AGAINST = Against("other", {"mse": Comparison("mse", 0.0123, 0.0101, 0.0003, False)})


def test_a_small_difference_that_is_clear_is_not_told_as_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(monkeypatch, "run", found=evaluated([(1, 4)], AGAINST)) == 0
    (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("mse"))
    assert row.split() == ["mse", "0.0123", "0.0101", "+0.0022", "0.0003", "worse"]


def test_a_program_gets_one_object_with_all_that_was_found(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    found = evaluated([(1, 4), (5, 5)], AGAINST)
    assert evaluate(monkeypatch, "run", "--output", "json", found=found) == 0
    document = json.loads(capsysbinary.readouterr().out)
    assert (document["name"], document["split"], document["sources"]) == ("run", "test", 2)
    assert document["search"]["beam"] == 1
    assert document["scores"] == found.to_json()
    assert document["against"]["scores"]["mse"] == {
        "value": 0.0123,
        "other": 0.0101,
        "difference": 0.0022,
        "p": 0.0003,
        "verdict": "worse",
    }


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--output", "json", "--examples", "3"), "--examples are for the table"),
        (("--source", "a.en"), "--source and --target belong together"),
        (("--pairs", "a.tsv", "--source", "a.en", "--target", "a.de"), "Choose"),
        (("--pairs", "a.tsv", "--split", "test"), "--split is one of the run's own"),
        (("--on-bad-line", "skip"), "--on-bad-line is for --pairs"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    told: str,
) -> None:
    assert evaluate(monkeypatch, "run", *options) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("options", [("--report", "x.html"), ("--alignments", "gold.txt")])
def test_what_was_exported_is_asked_for_no_attention_before_it_is_scored(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, str],
) -> None:
    manifest = {"to": "ctranslate2", "of": "a model", "facts": {}}
    (tmp_path / "export.json").write_text(json.dumps(manifest))
    assert evaluate(monkeypatch, str(tmp_path), *options) == 2
    assert "need attention, which ctranslate2 does not record. Give the run itself" in capsys.readouterr().err
