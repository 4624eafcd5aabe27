"""Whatever the text: its words come back, and no weight is lost when pieces become words."""

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regard.core.pieces import END, SPECIAL_PIECES, UNKNOWN
from regard.core.prediction import AttentionRecord, Request
from regard.core.surrogates import without_surrogates
from regard.core.words import Words
from regard.data import Limits
from regard.search import Found, Hypothesis
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS, Tokenizer
from regard.viewing import TextView

TEXTS = [
    "the cat sat on the mat",
    "Ein Café in Köln: 12,50 €",
    "漢字 😀  x\ty",
    "Привет, мир!",
    "a\x1c!\x1c!b",
] * 4

texts = st.lists(
    st.sampled_from(
        [
            " ",
            "  ",
            "\u3000",
            "\t",
            "\u00a0",
            "\x1c",
            "!\x1c!",
            "Köln",
            "мир",
            "日本語",
            "👩‍👧",
            "e\u0301",
            "¨",
            "ﷺ",
            "İ",
        ]
    )
    | st.text(st.characters(), max_size=6)
    | st.sampled_from(["\ud800", "<s>", "</s>", "▁", "Ġ"])
).map("".join)


@cache
def learned(name: str, normalization: str) -> Tokenizer:
    return TOKENIZERS[name](
        TEXTS, vocabulary=320, normalization=normalization, lowercase=normalization == "nfkc"
    )


def uniform(source: Words, target: Words, seed: int) -> AttentionRecord:
    """A record of chance, with end marks."""
    chance = np.random.default_rng(seed)
    marked = [Words(words.texts, (*words.of, None)) for words in (source, target)]
    shape = (2, 3, len(marked[1].of), len(marked[0].of))
    weights = chance.dirichlet([0.5] * shape[-1], shape[:-1]).astype(np.float32)
    names = [(*map(str, words.of[:-1]), "</s>") for words in marked]
    return AttentionRecord(names[0], names[1], {"cross": weights}, *marked)


@pytest.mark.parametrize("normalization", ["none", "nfc", "nfkc"])
@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None, max_examples=60)
@given(source=texts, target=texts, seed=st.integers(0, 9))
def test_words_are_those_of_the_text_and_keep_all_weights(
    name: str, normalization: str, source: str, target: str, seed: int
) -> None:
    tokenizer = learned(name, normalization)
    words = tokenizer.words(source)
    assert len(words.of) == len(tokenizer.encode(source))
    record = uniform(words, tokenizer.words(target), seed)
    merged = record.in_words()
    assert merged.source_pieces == (*source.split(), "</s>")
    assert merged.target_pieces == (*target.split(), "</s>")
    np.testing.assert_allclose(merged.weights["cross"].sum(-1), 1, atol=1e-5)
    counts = np.array([len(positions) for positions in record.target_words.groups().values()])
    if all(part is None or len(part) < 2 for part in record.target_words.of):
        np.testing.assert_allclose(
            (merged.weights["cross"] * counts[:, None]).sum(-2), summed(record), atol=1e-4
        )


def summed(record: AttentionRecord) -> np.ndarray:
    """All that each source word or mark got, added up in a plain loop."""
    columns = record.weights["cross"].sum(-2)  # L H S
    groups = record.source_words.groups().values()
    shares = [sum(position in group for group in groups) for position in range(columns.shape[-1])]
    found = [sum(columns[..., position] / shares[position] for position in group) for group in groups]
    return np.stack(found, axis=-1)


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_the_words_of_any_ids_are_those_of_the_text_they_stand_for(name: str, data: st.DataObject) -> None:
    tokenizer = learned(name, "nfc")
    ids = data.draw(st.lists(st.integers(UNKNOWN, len(tokenizer) - 1).filter(lambda n: n not in (2, 3))))
    words = tokenizer.words_of([*ids, END])
    names = tokenizer.pieces([*ids, END])
    merged = words.names(names)
    assert words.texts == tuple(tokenizer.decode(ids).split())
    marks = [key for key in words.groups() if key < 0]
    assert all([*ids, END][~key] < len(SPECIAL_PIECES) for key in marks)
    assert [name for key, name in zip(words.groups(), merged, strict=True) if key >= 0] == list(words.texts)
    assert merged[-1] == "</s>"


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None, max_examples=60)
@given(text=texts)
def test_a_text_and_its_ids_have_the_same_words(name: str, text: str) -> None:
    tokenizer = learned(name, "none")
    ids = tokenizer.encode(text)
    if UNKNOWN not in ids:
        read, said = tokenizer.words(without_surrogates(text)), tokenizer.words_of(ids)
        assert (said.texts, said.groups()) == (read.texts, read.groups())


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None, max_examples=30)
@example(text="\ud800 and so on, for more than a dozen pieces", limit=1)  # its warning must be printable
@given(text=texts, limit=st.integers(1, 12))
def test_a_source_that_was_cut_has_the_words_it_still_has(name: str, text: str, limit: int) -> None:
    tokenizer = learned(name, "nfc")
    codec = TextCodec(tokenizer, tokenizer, Limits(source=limit, target=50), TextView())
    (row,) = codec.read([Request(text)])
    if row:
        attention = {"cross": torch.full((1, 1, 1, len(row)), 1 / len(row))}
        answer = codec.answer(row, Found((Hypothesis((END,), 0.0, 0.0, True, attention),)))
        merged = answer.attention.in_words()
        *words, mark = merged.source_pieces
        assert words == text.split()[: len(words)]
        assert mark == "</s>"
        assert len(row) <= limit + 1
        np.testing.assert_allclose(merged.cross().sum(), 1, atol=1e-5)
