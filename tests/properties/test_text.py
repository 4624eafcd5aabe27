"""Whatever the text: it comes back, and no special piece is in it."""

from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.core.pieces import SPECIAL_PIECES, UNKNOWN
from regard.text import TOKENIZERS, BpeDropout, Tokenizer

TEXTS = ["the cat sat on the mat", "<s> </s> <pad> <unk>", "Ein Café in Köln: 12,50 €", "漢字 😀  x\ty"] * 4

# Any code point, with those that matter here often; half characters included.
hostile = st.lists(
    st.sampled_from(
        [*SPECIAL_PIECES, " ", "  ", "<", ">", "/", "s", "▁", "Ġ", "\u2028", "\0", "\n", "'s", "e\u0301"]
    )
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["\ud800", "\udc00"])
).map("".join)


@cache
def learned(name: str) -> Tokenizer:
    return TOKENIZERS[name](TEXTS, vocabulary=320, normalization="none")


def whole(text: str) -> str:
    return "".join("\ufffd" if 0xD800 <= ord(character) < 0xE000 else character for character in text)


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None)
@given(text=hostile)
def test_no_text_becomes_a_special_piece_but_unknown(name: str, text: str) -> None:
    ids = learned(name).encode(text)
    assert all(number == UNKNOWN or len(SPECIAL_PIECES) <= number < len(learned(name)) for number in ids)
    assert len(learned(name).pieces(ids)) == len(ids)


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None)
@given(text=hostile)
def test_a_text_without_unknown_pieces_comes_back(name: str, text: str) -> None:
    ids = learned(name).encode(text)
    if UNKNOWN not in ids:
        assert learned(name).decode(ids) == whole(text)


@pytest.mark.parametrize("name", ["bpe", "unigram", "bytes"])
@settings(deadline=None)
@given(text=hostile)
def test_bytes_know_every_text(name: str, text: str) -> None:
    assert UNKNOWN not in learned(name).encode(text)


@settings(deadline=None)
@given(text=hostile)
def test_characters_are_as_many_as_the_text_has(text: str) -> None:
    ids = learned("characters").encode(text)
    known = set("".join(TEXTS))
    assert [number == UNKNOWN for number in ids] == [character not in known for character in whole(text)]


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1, max_size=4))
def test_what_was_learned_from_comes_back(name: str, texts: list[str]) -> None:
    if any(text.strip() for text in texts):
        tokenizer = TOKENIZERS[name](texts, vocabulary=400, normalization="none")
        assert [tokenizer.decode(ids) for ids in tokenizer.encode_many(texts)] == texts


@settings(deadline=None)
@given(text=hostile, seed=st.integers(0, 9))
def test_bpe_dropout_never_changes_the_text(text: str, seed: int) -> None:
    ids = learned("bpe").encode(text)
    cut = BpeDropout(learned("bpe"), 0.3, longest=10_000)(ids, Random(seed))
    assert learned("bpe").decode(cut) == whole(text)
    assert len(cut) >= len(ids) or not text.strip()


@settings(deadline=None)
@given(text=hostile)
def test_no_dropout_is_the_librarys_own_way_to_cut(text: str) -> None:
    ids = learned("bpe").encode(text)
    assert list(BpeDropout(learned("bpe"), 0.0, longest=10_000)(ids, Random(1))) == ids
