import json
from collections import Counter
from collections.abc import Iterator
from math import exp
from random import Random

import pytest

from regard.core.pieces import SPECIAL_PIECES
from regard.text import TOKENIZERS, Tokenizer, UnigramSampling

TEXTS = ["the cat sat on the mat", "the dog ate the cat", "Ein Café in Köln", "banana bandana </s>"] * 8
TOKENIZER = TOKENIZERS["unigram"](TEXTS, vocabulary=300)
HARD = [
    "the banana sat on the bandana",
    "Café in Köln",
    "漢字 😀",
    "<s> </s> <pad>",
    "  two  spaces ",
    "x" * 300,
]


def scored(**scores: float) -> Tokenizer:
    """Bytes at -9, but for these pieces; an underscore stands for the space."""
    description = json.loads(TOKENIZERS["unigram"](["a"], vocabulary=260).to_json())
    wanted = {piece.replace("_", "Ġ"): score for piece, score in scores.items()}
    vocabulary = description["model"]["vocab"]
    description["model"]["vocab"] = [
        *vocabulary[: len(SPECIAL_PIECES)],
        *([piece, wanted.pop(piece, -9.0)] for piece, _ in vocabulary[len(SPECIAL_PIECES) :]),
        *map(list, wanted.items()),
    ]
    return Tokenizer.from_json(json.dumps(description))


def cuts(text: str, scores: dict[str, float]) -> Iterator[tuple[tuple[str, ...], float]]:
    """All ways to cut a text, each with the sum of its scores."""
    if not text:
        yield (), 0.0
    for piece, score in scores.items():
        if text.startswith(piece):
            yield from (((piece, *rest), score + more) for rest, more in cuts(text[len(piece) :], scores))


@pytest.mark.parametrize("sharpness", [0.2, 1.0, 2.0])
def test_each_cut_comes_as_often_as_it_should(sharpness: float) -> None:
    scores = {"_": -2.0, "a": -1.5, "b": -2.0, "ab": -2.5, "ba": -3.0, "_a": -2.2, "aba": -4.0}
    tokenizer = scored(**scores)
    weights = {cut: exp(sharpness * score) for cut, score in cuts("_abab", scores)}
    assert len(weights) == 6 + 3, "after _ and after _a"
    expected = {cut: weight / sum(weights.values()) for cut, weight in weights.items()}
    draw, ids, chance = (
        UnigramSampling(tokenizer, sharpness, longest=100),
        tokenizer.encode("abab"),
        Random(1),
    )
    drawn = Counter(tokenizer.pieces(draw(ids, chance)) for _ in range(20_000))
    found = {tuple(piece.replace("▁", "_") for piece in cut): count / 20_000 for cut, count in drawn.items()}
    assert found.keys() <= expected.keys()
    assert {cut: found.get(cut, 0.0) for cut in expected} == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("text", HARD)
@pytest.mark.parametrize("sharpness", [0.01, 0.5])
def test_whatever_is_drawn_is_the_same_text_without_special_pieces(text: str, sharpness: float) -> None:
    ids = TOKENIZER.encode(text)
    draw, chance = UnigramSampling(TOKENIZER, sharpness, longest=1000), Random(1)
    for _ in range(50):
        drawn = draw(ids, chance)
        assert TOKENIZER.decode(drawn) == text
        assert min(drawn) >= len(SPECIAL_PIECES)


def test_a_great_sharpness_leaves_the_best_cut() -> None:
    scores = {"_": -2.0, "a": -1.5, "b": -2.1, "ab": -2.5, "ba": -3.2, "_a": -2.2, "aba": -4.4}
    tokenizer = scored(**scores)
    draw = UnigramSampling(tokenizer, 1000, longest=100)
    for text in ("abab", "aba ab", "bbabaa", "a b ab"):
        ids = tokenizer.encode(text)
        assert all(draw(ids, Random(seed)) == ids for seed in range(20)), text


def test_the_same_chance_gives_the_same_pieces() -> None:
    ids = TOKENIZER.encode(HARD[0])
    one, other = (UnigramSampling(TOKENIZER, 0.3, longest=100) for _ in range(2))
    other(TOKENIZER.encode("something else before"), Random(7))
    chance, again = Random(3), Random(3)
    assert [one(ids, chance) for _ in range(20)] == [other(ids, again) for _ in range(20)]
    assert len({tuple(one(ids, chance)) for _ in range(20)}) > 1


def test_a_row_that_would_grow_too_long_stays_as_it_is() -> None:
    ids = TOKENIZER.encode(HARD[0])
    free, bound = (UnigramSampling(TOKENIZER, 0.3, longest=len(ids) + more) for more in (100, 3))
    grown = [free(ids, Random(seed)) for seed in range(100)]
    assert {len(row) > len(ids) + 3 for row in grown} == {True, False}
    for seed, row in enumerate(grown):
        assert bound(ids, Random(seed)) == (row if len(row) <= len(ids) + 3 else ids)


def test_a_row_that_was_cut_inside_of_a_character_is_drawn_too() -> None:
    tokenizer = TOKENIZERS["unigram"](["今日は猫がとても大きい", "今日も犬が"] * 5, vocabulary=320)
    ids = tokenizer.encode("今日は鳥がいる")
    for size in range(1, len(ids)):
        assert UnigramSampling(tokenizer, 0.5, longest=200)(ids[:size], Random(size))
