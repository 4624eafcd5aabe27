"""The part that compares attention with people's alignments."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from small import VOCABULARY, recurrent, transformer

import regard.evaluation
from regard.alignments import Argmax, Gold, Threshold, agreement, align
from regard.attention import FixedVector
from regard.core.errors import UserError
from regard.data import Limits, Pair
from regard.evaluation import AlignmentTest
from regard.forcing import force
from regard.models import Seq2Seq
from regard.predictor import Predictor
from regard.search import SearchPlan
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
    monkeypatch.setattr(regard.evaluation, "WINDOW", window)
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
