from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
import tokenizers

from regard.data import WINDOWS
from regard.text import TOKENIZERS, BpeDropout, Tokenizer
from regard.text.bytelevel import raw

TEXTS = ["the cat sat on the mat", "the dog ate the cat", "Ein Café in Köln", "banana bandana"] * 3
TOKENIZER = TOKENIZERS["bpe"](TEXTS, vocabulary=320)


def raw_bytes(tokenizer: Tokenizer, ids: Sequence[int]) -> bytes:
    names = {
        number: piece
        for piece, number in tokenizers.Tokenizer.from_str(tokenizer.to_json()).get_vocab().items()
    }
    return b"".join(raw(names[number]) for number in ids)


def frequencies(tokenizer: Tokenizer, text: str, rate: float, draws: int = 20_000) -> dict[str, float]:
    cut, ids, chance = BpeDropout(tokenizer, rate, longest=100), tokenizer.encode(text), Random(1)
    counts = Counter(" ".join(tokenizer.pieces(cut(ids, chance))) for _ in range(draws))
    return {pieces: count / draws for pieces, count in counts.items()}


def test_two_merges_in_a_row_are_skipped_as_often_as_they_should() -> None:
    # The merges a+b and ▁+ab. Either the first is skipped, and nothing else can be merged, or the second, or none.
    tokenizer = TOKENIZERS["bpe"](["ab ab ab"], vocabulary=262)
    found = frequencies(tokenizer, "ab", 0.2)
    assert found == pytest.approx({"▁ a b": 0.2, "▁ ab": 0.8 * 0.2, "▁ab": 0.8 * 0.8}, abs=0.01)


def test_of_two_possible_merges_the_earlier_is_preferred_and_either_may_be_skipped() -> None:
    # The merges ▁+a, then b+c, which don't touch: from "▁ a b c" the first, or, where it is skipped, the second.
    tokenizer = TOKENIZERS["bpe"](["a a a a bc,bc"], vocabulary=262)
    assert tokenizer.pieces(tokenizer.encode("abc")) == ("▁a", "bc")
    one, p = 1 - 0.3, 0.3
    expected = {
        "▁ a b c": p * p,  # both skipped at once
        "▁a b c": one * p,  # the first merged, then the second skipped
        "▁ a bc": p * one * p,  # the first skipped, the second merged, the first skipped again
        "▁a bc": one * one + p * one * one,
    }
    assert sum(expected.values()) == pytest.approx(1)
    assert frequencies(tokenizer, "abc", p) == pytest.approx(expected, abs=0.012)


def test_a_rate_of_nearly_one_leaves_bytes() -> None:
    cut = BpeDropout(TOKENIZER, 0.999999, longest=100)
    assert len(cut(TOKENIZER.encode("Café"), Random(1))) == len(" Café".encode())


def test_the_same_chance_gives_the_same_pieces() -> None:
    ids = TOKENIZER.encode("the banana sat on the bandana")
    one, other = BpeDropout(TOKENIZER, 0.3, longest=100), BpeDropout(TOKENIZER, 0.3, longest=100)
    other(TOKENIZER.encode("something else before"), Random(7))
    chance, again = Random(3), Random(3)
    assert [one(ids, chance) for _ in range(20)] == [other(ids, again) for _ in range(20)]
    assert len({tuple(one(ids, chance)) for _ in range(20)}) > 1


def test_a_row_that_would_grow_too_long_stays_as_it_is() -> None:
    ids = TOKENIZER.encode("the cat sat on the mat")
    free, bound = (BpeDropout(TOKENIZER, 0.1, longest=len(ids) + more) for more in (100, 2))
    for seed in range(100):
        grown = free(ids, Random(seed))
        assert bound(ids, Random(seed)) == (grown if len(grown) <= len(ids) + 2 else ids)
    assert len({len(bound(ids, Random(seed))) for seed in range(100)}) > 1
    assert max(len(free(ids, Random(seed))) for seed in range(100)) > len(ids) + 2


def test_a_word_without_end_is_cut_too() -> None:
    ids = TOKENIZER.encode("banana" * 60)
    assert TOKENIZER.decode(BpeDropout(TOKENIZER, 0.1, longest=1000)(ids, Random(1))) == "banana" * 60


@pytest.mark.parametrize("window", list(WINDOWS))
def test_rows_that_were_cut_inside_of_a_character_keep_their_bytes(window: str) -> None:
    ids = TOKENIZER.encode("今日は猫がとても大きい。Café 🐈")
    cut = BpeDropout(TOKENIZER, 0.3, longest=200)
    for size in range(1, len(ids)):
        row = WINDOWS[window](ids, size)
        again = cut(row, Random(size))
        assert raw_bytes(TOKENIZER, again) == raw_bytes(TOKENIZER, row), size
