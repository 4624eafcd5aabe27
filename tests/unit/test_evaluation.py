"""The parts that compare attention with people's alignments, and that score other pairs than a run's own."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from small import VOCABULARY, recurrent, transformer
from untrained import transformer_changes, write_model

import regard
from regard import build
from regard.alignments import Argmax, Gold, Threshold, agreement, align
from regard.attention import FixedVector
from regard.config import parse_config
from regard.core.errors import UserError
from regard.core.prediction import Prediction
from regard.data import Limits, Pair
from regard.engines import export
from regard.evaluation import AlignmentTest, Given, alignment, difference_label, evaluate
from regard.forcing import force
from regard.metrics import Comparison
from regard.models import Seq2Seq
from regard.predictor import Predictor
from regard.run import ModelFolder
from regard.search import SearchPlan
from regard.tasks.examples import OwnFiles
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS
from regard.viewing import TextView

PAIRS = [Pair("ab c", "d ea"), Pair("", "a"), Pair("a b c", "c b a"), Pair("d", ""), Pair("e a", "ae e")]
LINES = ["0-0 1p1", "", "0-2 1-1 2-0", "", "0?0 1-1"]


def predictor(model: Seq2Seq) -> Predictor:
    tokenizer = TOKENIZERS["characters"](["abc de "], vocabulary=VOCABULARY)
    codec = TextCodec(tokenizer, tokenizer, Limits(source=20, target=20), TextView())
    return Predictor([model], codec, search=SearchPlan(), batch_tokens=60, device=torch.device("cpu"))


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.txt"
    path.write_text("".join(f"{line}\n" for line in LINES))
    return path


def deep() -> Seq2Seq:
    return transformer("decoder.layers=3")


PEOPLE = [
    Gold(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)})),
    Gold(frozenset(), frozenset()),
    Gold(frozenset({(0, 2), (1, 1), (2, 0)}), frozenset({(0, 2), (1, 1), (2, 0)})),
    Gold(frozenset(), frozenset()),
    Gold(frozenset({(1, 1)}), frozenset({(0, 0), (1, 1)})),
]


@pytest.mark.parametrize("window", [1, 2, 512])
@pytest.mark.parametrize(
    ("make", "layer", "head", "shown"),
    [
        (recurrent, None, None, "layer:0|head:mean"),
        (deep, None, None, "layer:1|head:mean"),
        (deep, 2, 1, "layer:2|head:1"),
        (deep, 0, None, "layer:0|head:mean"),
    ],
)
def test_the_links_of_all_forced_pairs_are_compared(
    gold: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], Seq2Seq],
    layer: int | None,
    head: int | None,
    shown: str,
    window: int,
) -> None:
    monkeypatch.setattr(alignment, "WINDOW", window)
    asked = predictor(make())
    for by, name in ((Argmax(), "argmax"), (Threshold(0.2), "threshold-0.2")):
        scores = AlignmentTest(gold, by, layer, head)(asked, PAIRS)
        taken = layer if layer is not None else int(shown[len("layer:")])
        found = [
            align(force(asked, [source], [target])[0].attention, by, layer=taken, head=head)
            if source
            else frozenset()
            for source, target in (pair.sides for pair in PAIRS)
        ]
        assert any(found)
        expected = agreement(found, PEOPLE)
        for which, score in scores.items():
            assert score.value == pytest.approx(expected[which].value)
            assert score.signature.startswith(f"by:{name}|{shown}|words:space|sure:5|possible:7|version:")


def test_with_a_model_of_the_other_direction_only_what_both_say_counts(gold: Path) -> None:
    forward, backward = predictor(recurrent()), predictor(deep())
    scores = AlignmentTest(gold, Threshold(0.2), backward=backward)(forward, PAIRS)
    found = []
    for source, target in (pair.sides for pair in PAIRS):
        there, back = (
            align(force(model, [one], [other])[0].attention, Threshold(0.2)) if one and other else frozenset()
            for model, one, other in ((forward, source, target), (backward, target, source))
        )
        found.append(frozenset(link for link in there if link[::-1] in back))
    assert any(found)
    for which, score in agreement(found, PEOPLE).items():
        assert scores[which].value == pytest.approx(score.value)
        assert "|layer:0|head:mean|and-backward:layer-1|words:space|" in scores[which].signature


def test_a_model_without_attention_is_told_to_the_person(gold: Path) -> None:
    fixed = predictor(recurrent(look=lambda: FixedVector(width=16)))
    with pytest.raises(UserError, match="no attention"):
        AlignmentTest(gold)(fixed, PAIRS)


def test_a_layer_or_head_that_is_not_there_is_refused(gold: Path) -> None:
    with pytest.raises(UserError, match="no layer 1: this model has one layer"):
        AlignmentTest(gold, layer=1)(predictor(recurrent()), PAIRS)
    with pytest.raises(UserError, match="no head 2: this model has heads 0 to 1"):
        AlignmentTest(gold, head=2)(predictor(deep()), PAIRS)


def test_gold_that_does_not_fit_is_refused_before_the_model_is_asked(gold: Path) -> None:
    nobody = predictor(recurrent())
    nobody.models = []
    with pytest.raises(UserError, match="5 lines, but there are 4 pairs"):
        AlignmentTest(gold)(nobody, PAIRS[:4])
    with pytest.raises(UserError, match=r"line 3: the link 0-2 names target word 2"):
        AlignmentTest(gold)(nobody, [*PAIRS[:2], Pair("a b c", "c b"), *PAIRS[3:]])


def test_the_looks_of_few_pairs_are_held_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []

    def counted(model: Predictor, sources: Sequence[str], targets: Sequence[str]) -> list[Prediction]:
        counts.append(len(sources))
        return force(model, sources, targets)

    monkeypatch.setattr(alignment, "force", counted)
    gold = tmp_path / "gold.txt"
    gold.write_text("0-0\n" * 150)
    AlignmentTest(gold)(predictor(recurrent()), [Pair("a", "b")] * 150)
    assert counts == [64, 64, 22]


@pytest.mark.parametrize(
    ("value", "other", "told"),
    [(38.07, 38.95, "-0.88"), (45.0, 43.0, "+2.00"), (0.0123, 0.0101, "+0.0022"), (0.5, 0.25, "+0.250")],
)
def test_a_small_difference_is_not_told_as_none(value: float, other: float, told: str) -> None:
    shown = difference_label(Comparison("mse", value, other, 0.01, False))
    assert shown.rstrip("0") == told.rstrip("0")
    assert float(shown) != 0


FEW = ["task.pairs=50", "data.validation_size=5", "data.test_size=5"]  # quickly made, though never trained on
TEST_SET = [("abc", "cba"), ("dddd", "d"), ("abc", "abc"), ("e f", "fe")]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that learned nothing, without a run and without its data."""
    settings = [*FEW, "data.columns=[3,1]", "data.source_field=en", "data.target_field=de"]
    return write_model(tmp_path_factory.mktemp("alone") / "carried", [*transformer_changes(), *settings])


def written(folder: Path, form: str) -> Given:
    """The test set in a form that the model's own files might have."""
    lines = {
        "tsv": [f"{target}\tbetween\t{source}" for source, target in TEST_SET],
        "jsonl": [json.dumps({"en": source, "de": target}) for source, target in TEST_SET],
    }
    if form == "two":
        for side, name in enumerate(("new.en", "new.de")):
            (folder / name).write_text("".join(f"{pair[side]}\n" for pair in TEST_SET))
        return folder / "new.en", folder / "new.de"
    path = folder / f"new.{form}"
    content = "".join(f"{line}\n" for line in lines[form.removesuffix(".gz")]).encode()
    path.write_bytes(gzip.compress(content) if form.endswith(".gz") else content)
    return path


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("tsv", "new.tsv"),
        ("jsonl", "new.jsonl"),
        ("jsonl.gz", "new.jsonl.gz"),
        ("two", "new.en and new.de"),
    ],
)
def test_a_model_on_its_own_is_scored_on_a_file_read_as_its_settings_say(
    alone: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, form: str, name: str
) -> None:
    before = {path: path.read_bytes() for path in alone.iterdir()}
    found = evaluate(alone, pairs=written(tmp_path, form), metrics=["chrf"], against=alone)
    assert found.split == name
    assert [one.text for one in found.requests] == [source for source, _ in TEST_SET]
    assert found.references == [(target,) for _, target in TEST_SET]
    answers = [one.text for one in regard.load(alone).predict([source for source, _ in TEST_SET])]
    assert [one.text for one in found.predictions] == answers
    assert set(found.scores) == {"exact_match", "character_error_rate", "chrf"}
    assert all(one.interval for one in found.scores.values())
    assert sum(bucket.count for bucket in found.by_length) == 4
    assert found.against is not None
    assert {one.p for one in found.against.comparisons.values()} == {1.0}
    assert found.by_frequency == []  # nobody knows what is rare
    assert "the training pairs are not at hand" in caplog.text
    assert found.saved is None
    assert {path: path.read_bytes() for path in alone.iterdir()} == before


def test_an_exported_model_is_scored_and_compared_with_like_any_other(alone: Path, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    exported = export(alone, to="ctranslate2", output=tmp_path / "exported").folder
    found = evaluate(exported, pairs=written(tmp_path, "tsv"), against=exported)
    assert found.against is not None
    assert {one.p for one in found.against.comparisons.values()} == {1.0}
    assert found.saved is None


def test_lines_with_the_same_source_are_one_question_where_the_task_has_it_so(tmp_path: Path) -> None:
    task = ["task={name='pronounce'}", "data.train=gone.dict"]
    spoken = write_model(tmp_path / "spoken", [*transformer_changes(), *task])
    (tmp_path / "words.txt").write_text("abc  AH0 B\nabc(2)  AE1 B\nef  EH1 F\n")
    found = evaluate(spoken, pairs=tmp_path / "words.txt", metrics=["phoneme_error_rate"])
    assert [one.text for one in found.requests] == ["abc", "ef"]
    assert found.references == [("AH B", "AE B"), ("EH F",)]


def test_lines_that_are_no_pairs_are_an_error_or_counted(
    alone: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "new.tsv"
    path.write_text("cba\t\tabc\nno tab\n")
    with pytest.raises(UserError, match=r"new.tsv, line 2: .*--on-bad-line skip"):
        evaluate(alone, pairs=path)
    assert len(evaluate(alone, pairs=path, on_bad_line="skip").requests) == 1
    assert "1 line was skipped" in caplog.text


@pytest.mark.parametrize("name", build.TASKS)
def test_every_task_reads_other_pairs_or_says_why_not(name: str, tmp_path: Path) -> None:
    if name not in ("captions", "forecast", "multilingual"):
        config = parse_config({"task": {"name": name}, "data": {"train": "x.tsv"}}, origin="a test")
        assert build.task(config).no_other_pairs is None
        assert isinstance(build.task(config).own, OwnFiles)  # type: ignore[attr-defined]
        return
    corpora = [{"source_language": "en", "target_language": "de", "train": "x.tsv"}]
    task = {"name": name, **({"corpora": corpora} if name == "multilingual" else {})}
    folder = ModelFolder(tmp_path)
    folder.describe(parse_config({"task": task}, origin="a test"), vocabulary={}, data={})
    folder.weights_path.touch()
    with pytest.raises(UserError, match=f"the task {name} is scored on pairs of its own alone, because "):
        evaluate(tmp_path, pairs="x.tsv")
