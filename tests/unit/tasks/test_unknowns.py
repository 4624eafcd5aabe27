from pathlib import Path

import numpy as np
import pytest
import torch

from regard.core.errors import UserError
from regard.core.pieces import END, UNKNOWN
from regard.core.prediction import Request
from regard.data import Limits
from regard.search import Found, Hypothesis
from regard.tasks.text import TextCodec
from regard.tasks.unknowns import Copying, read_dictionary
from regard.text import TOKENIZERS
from regard.viewing import TextView

SOURCE = "Frau Müller sah Tōkyō ."


def codec(copying: Copying | None, *, target: str = "words") -> TextCodec:
    source = TOKENIZERS["bpe"](["Frau sah ein Haus ."], vocabulary=300)
    words = TOKENIZERS[target](["Mrs saw a house ."], vocabulary=50)
    return TextCodec(source, words, Limits(source=50, target=50), TextView(), copying)


def answer(codec: TextCodec, said: list[int], looked: list[str]) -> str:
    """The answer in which each piece looked at a piece of the word given, or at the end mark."""
    (row,) = codec.read([Request(SOURCE)])
    words = codec.source.words(SOURCE)
    places = [
        next(n for n, part in enumerate(words.of) if part and words.texts[part[0]] == word)
        if word
        else len(row) - 1
        for word in looked
    ]
    weights = torch.zeros(1, 1, len(said), len(row))
    for step, place in enumerate(places):
        weights[0, 0, step, place] = 0.6
    weights[0, 0, :, words.of.index((1,))] += 0.3  # a little at Müller, always
    said_so = Hypothesis(tuple(said), -1.0, -1.0, finished=True, attention={"cross": weights})
    return codec.answer(row, Found((said_so,))).text


def test_an_unknown_word_is_copied_from_where_the_model_looked() -> None:
    copier = codec(Copying())
    mrs, saw = copier.target.encode("Mrs saw")
    said, looked = [mrs, UNKNOWN, saw, UNKNOWN, END], ["Frau", "Müller", "sah", "Tōkyō", ""]
    assert answer(copier, said, looked) == "Mrs Müller saw Tōkyō"
    assert answer(codec(None), said, looked) == "Mrs <unk> saw <unk>"
    assert answer(copier, [UNKNOWN, saw, END], ["Müller", "sah", ""]) == "Müller saw"


def test_a_dictionary_goes_before_the_copy() -> None:
    translator = codec(Copying({"Tōkyō": "Tokyo"}))
    (saw,) = translator.target.encode("saw")
    said = [UNKNOWN, saw, UNKNOWN, END]
    assert answer(translator, said, ["Müller", "sah", "Tōkyō", ""]) == "Müller saw Tokyo"


def test_what_looked_at_a_mark_gets_the_word_it_looked_at_next() -> None:
    assert answer(codec(Copying()), [UNKNOWN, END], ["", ""]) == "Müller"


def test_the_words_of_the_record_are_those_of_the_answer() -> None:
    copier = codec(Copying())
    (row,), (saw,) = copier.read([Request(SOURCE)]), copier.target.encode("saw")
    weights = torch.full((1, 1, 3, len(row)), 1 / len(row))
    hypothesis = Hypothesis((UNKNOWN, saw, END), -1.0, -1.0, finished=True, attention={"cross": weights})
    found = copier.answer(row, Found((hypothesis,)))
    words = found.attention.in_words()
    assert words.target_pieces[:-1] == tuple(found.text.split())
    assert np.allclose(words.cross().sum(1), 1)


def test_a_dictionary_is_read_and_its_first_word_wins(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("Haus\thouse\n\nHaus\thome\nMüller\tMiller\n", encoding="utf-8")
    assert read_dictionary(path) == {"Haus": "house", "Müller": "Miller"}


@pytest.mark.parametrize("line", ["Haus house", "\thouse", "a\tb\tc"])
def test_a_line_that_is_no_pair_of_words_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(f"a\tb\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 2"):
        read_dictionary(path)
