import json
from pathlib import Path

import numpy as np
import pytest
from commands import regard, sentence

import regard as library
from regard.core.figures import figure
from regard.evaluation import Direction, evaluate, scoring
from regard.run import ModelFolder, Run


def test_evaluate_prints_and_saves_the_same_scores_with_signatures(tiny: Path) -> None:
    done = regard("evaluate", "runs/tiny", "--examples", "4", folder=tiny)
    scores = json.loads((tiny / "runs/tiny/scores.json").read_text())["test"]
    table = done.stdout.decode()
    for name in ("exact_match", "character_error_rate"):
        assert name in table
        assert figure(scores[name]["value"]) in table
        assert scores[name]["signature"] in table
        assert "version:" in scores[name]["signature"]
        assert sum(bucket["count"] for bucket in scores[name]["by_source_length"]) == 20
    assert "source pieces" in table
    assert "right answer" in table
    assert "exact_match" in (tiny / "runs/tiny/model/README.md").read_text()


def test_evaluating_another_split_keeps_the_first(tiny: Path) -> None:
    regard("evaluate", "runs/tiny", folder=tiny)
    regard("evaluate", "runs/tiny", "--split", "validation", folder=tiny)
    assert json.loads((tiny / "runs/tiny/scores.json").read_text()).keys() == {"test", "validation"}


@pytest.mark.parametrize("other", [("--beam", "4"), ("--compute-type", "int8")])
def test_what_is_not_the_runs_own_is_shown_and_not_saved(other: tuple[str, str], tiny: Path) -> None:
    own = regard("evaluate", "runs/tiny", folder=tiny)
    before = (tiny / "runs/tiny/scores.json").read_bytes()
    done = regard("evaluate", "runs/tiny", *other, folder=tiny)
    assert b"exact_match" in done.stdout
    assert b"Saved in" in own.stderr
    assert b"Saved in" not in done.stderr
    assert b"The answers are those of" not in done.stderr
    assert (tiny / "runs/tiny/scores.json").read_bytes() == before


def test_scores_that_cannot_be_saved_are_told_nevertheless(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Run, "add_scores", full)
    found = evaluate(tiny / "runs/tiny")
    assert found.saved is None
    assert found.scores.keys() == {"exact_match", "character_error_rate"}
    assert "The scores could not be saved: [Errno 28] No space left on device" in caplog.text


def test_a_run_that_is_trained_on_meanwhile_gets_no_scores_of_its_earlier_weights(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where that happens after it answered, while the scores are counted."""
    seen = []

    def counted(*given: object) -> list[Direction]:
        seen.append("scores")
        return []

    monkeypatch.setattr(scoring, "_by_direction", counted)
    monkeypatch.setattr(ModelFolder, "digest", lambda folder: "after" if seen else "before")
    before = (tiny / "runs/tiny/scores.json").read_bytes()
    assert evaluate(tiny / "runs/tiny").saved is None
    assert (tiny / "runs/tiny/scores.json").read_bytes() == before
    assert "was trained on meanwhile" in caplog.text


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".html", b"<!doctype html"), (".json", b"{")],
)
def test_explain_writes_each_format(suffix: str, start: bytes, tiny: Path, tmp_path: Path) -> None:
    output = tmp_path / f"new/map{suffix}"
    done = regard("explain", tiny / "runs/tiny", "Saturday 09 May 2018", "-o", output, folder=tmp_path)
    assert output.read_bytes().lower().startswith(start.lower())
    assert len(done.stdout.splitlines()) == 1  # the answer


def test_the_json_of_explain_holds_the_whole_answer(tiny: Path, tmp_path: Path) -> None:
    output = tmp_path / "map.json"
    done = regard("explain", "runs/tiny", "3 May 2018", "--beam", "4", "-o", output, folder=tiny)
    document = json.loads(output.read_text())
    answer = library.load(tiny / "runs/tiny").predict("3 May 2018", beam=4)
    assert document["text"] == answer.text == done.stdout.decode().strip()
    assert document["score"] == pytest.approx(answer.score, abs=1e-5)
    weights = np.array(document["attention"]["cross"]["weights"])
    assert weights.shape == (1, 1, len(document["target_pieces"]), len(document["source_pieces"]))
    assert document["source_pieces"][-1] == "</s>"
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(weights, answer.attention.weights["cross"], atol=1e-5)


def test_explain_without_a_file_draws_in_the_terminal(tiny: Path) -> None:
    done = regard("explain", "runs/tiny", "3 May 2018", folder=tiny)
    assert "log-probability" in done.stdout.decode()
    assert done.stdout.decode().splitlines()[3].split() == [*"3▁May▁2018", "</s>"]


def test_a_beam_is_explained_as_a_tree_in_all_three_forms(tiny: Path, tmp_path: Path) -> None:
    asked = ("explain", "runs/tiny", "3 May 2018", "--beam", "3")
    shown = regard(*asked, folder=tiny).stdout.decode()
    regard(*asked, "-o", tmp_path / "tree.json", folder=tiny)
    regard(*asked, "-o", tmp_path / "tree.html", folder=tiny)
    document = json.loads((tmp_path / "tree.json").read_text())
    answer = library.load(tiny / "runs/tiny").predict("3 May 2018", beam=3, record=True)
    assert answer.beam is not None
    assert [(node["parent"], node["piece"], node["fate"], node["step"]) for node in document["beam"]] == [
        (node.parent, node.piece, node.fate, node.step) for node in answer.beam
    ]
    np.testing.assert_allclose(
        [node["score"] for node in document["beam"]], [node.score for node in answer.beam], atol=1e-5
    )
    page = (tmp_path / "tree.html").read_text()
    assert page.count('role="treeitem"') == len(answer.beam)
    assert page.count(' answer" role="treeitem"') == len(document["target_pieces"])
    heading = f"The beam: {len(answer.beam)} hypotheses in {answer.beam[-1].step} steps"
    assert heading in shown
    lines = shown[shown.index(heading) :].splitlines()
    assert sum("the answer, rank" in line for line in lines) == 1
    assert "log-probability" in shown[: shown.index(heading)]  # the map stands above


@pytest.mark.parametrize("beam", [(), ("--beam", "1")])
def test_without_a_beam_there_is_no_tree(beam: tuple[str, ...], tiny: Path, tmp_path: Path) -> None:
    asked = ("explain", "runs/tiny", "3 May 2018", *beam)
    assert "The beam" not in regard(*asked, folder=tiny).stdout.decode()
    regard(*asked, "-o", tmp_path / "tree.json", folder=tiny)
    assert "beam" not in json.loads((tmp_path / "tree.json").read_text())
    regard(*asked, "-o", tmp_path / "tree.html", folder=tiny)
    assert "treeitem" not in (tmp_path / "tree.html").read_text()


def test_what_is_asked_of_an_answer_is_explained_as_it_is_predicted(tiny: Path, tmp_path: Path) -> None:
    wishes = (
        "--prefix",
        "20",
        "--require",
        "77",
        "--forbid",
        "-",
        "--with",
        "runs/tiny",
        "--search",
        "no_repeat=3",
    )
    (said,) = (
        regard("predict", "runs/tiny", *wishes, folder=tiny, stdin=b"3 May 2018\n")
        .stdout.decode()
        .splitlines()
    )
    output = tmp_path / "map.json"
    done = regard("explain", "runs/tiny", "3 May 2018", *wishes, "-o", output, folder=tiny)
    document = json.loads(output.read_text())
    assert document["text"] == said == done.stdout.decode().strip()
    assert said.startswith("20")
    assert "77" in said
    assert {"cross.1", "cross.2"} <= set(document["attention"])
    regard("explain", "runs/tiny", "3 May 2018", *wishes, folder=tiny)  # and drawn in the terminal
    regard("explain", "runs/tiny", "3 May 2018", *wishes, "-o", tmp_path / "map.html", folder=tiny)
    regard("explain", "runs/tiny", "3 May 2018", *wishes, "-o", tmp_path / "map.png", folder=tiny)


def test_explain_refuses_a_format_it_cannot_write(tiny: Path, tmp_path: Path) -> None:
    done = regard("explain", "runs/tiny", "3 May 2018", "-o", tmp_path / "map.gif", folder=tiny, code=2)
    assert ".png" in sentence(done)


def test_a_model_folder_is_loadable_on_its_own(tiny: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(tiny / "runs/tiny/model", tmp_path / "carried away")
    expected = library.load(tiny / "runs/tiny").predict("3 May 2018")
    assert library.load(tmp_path / "carried away").predict("3 May 2018").text == expected.text


def test_explain_shows_words_and_one_layer_where_asked(tiny: Path, tmp_path: Path) -> None:
    regard("explain", "runs/tiny", "3 May 2018", "--words", "-o", tmp_path / "words.json", folder=tiny)
    document = json.loads((tmp_path / "words.json").read_text())
    assert document["source_pieces"] == ["3", "May", "2018", "</s>"]
    assert document["target_pieces"][:-1] == document["text"].split() or not document["finished"]
    done = regard("explain", "runs/tiny", "3 May 2018", "--layer", "7", folder=tiny, code=2)
    assert "There is no layer 7" in sentence(done)
    done = regard("explain", "runs/tiny", "3 May", "--head", "0", "-o", "x.json", folder=tiny, code=2)
    assert "a .json holds all" in sentence(done)
    done = regard("explain", "runs/tiny", "3 May", "--looks", "decoder", folder=tiny, code=2)
    assert "no looks of the kind 'decoder'. It has: cross" in sentence(done)
    done = regard("explain", "runs/tiny", "3 May", "--looks", "encoder", "-o", "x.json", folder=tiny, code=2)
    assert "a .json holds looks of every kind" in sentence(done)
