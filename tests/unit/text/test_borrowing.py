import pytest

from regard.core.pieces import UNKNOWN
from regard.data import Limits
from regard.text import TOKENIZERS, Borrowing

WORDS = TOKENIZERS["words"](["the cat saw the dog."] * 3, vocabulary=9)  # ▁the ▁cat ▁dog ▁saw .


def borrowing(longest: int = 50, read: str = "first") -> Borrowing:
    return Borrowing(WORDS, len(WORDS), Limits(longest, 50, read).window)


def test_unknown_words_are_numbered_behind_the_vocabulary_as_they_come() -> None:
    the, cat, saw, dot = WORDS.encode("the cat saw.")
    first = len(WORDS)
    (row,) = borrowing().sources(["Zorblax saw the Qwib, Zorblax saw the cat."])
    assert row == [first, saw, the, first + 1, first + 2, first, saw, the, cat, dot]
    assert borrowing().words("Zorblax saw the Qwib, Zorblax saw the cat.") == (" Zorblax", " Qwib", ",")


def test_a_target_has_its_sources_words_and_no_others() -> None:
    first = len(WORDS)
    (row,) = borrowing().targets(["Qwib saw Grue"], ["Zorblax saw the Qwib"])
    assert row == [first + 1, WORDS.encode("saw")[0], UNKNOWN]


def test_texts_without_unknown_words_are_as_they_were() -> None:
    texts = ["the cat saw the dog.", ""]
    assert borrowing().sources(texts) == WORDS.encode_many(texts)
    assert borrowing().targets(texts, texts) == WORDS.encode_many(texts)


@pytest.mark.parametrize(
    ("read", "words"), [("first", (" a", " b")), ("last", (" d", " e")), ("ends", (" a", " e"))]
)
def test_what_is_not_read_lends_no_words(read: str, words: tuple[str, ...]) -> None:
    short = borrowing(2, read)
    assert short.words("a b c d e") == words
    first = len(WORDS)
    assert short.sources(["a b c d e"]) == [[first, first + 1]]
    assert short.targets(["c e a"], ["a b c d e"])[0][0] == UNKNOWN
    assert short.targets([words[1].strip()], ["a b c d e"]) == [[first + 1]]


def test_words_come_back_as_they_stood() -> None:
    text = "Zorblax saw (Qwib) the Grue-cat!"
    (row,) = borrowing().sources([text])
    words = borrowing().words(text)
    instead = {place: words[one - len(WORDS)] for place, one in enumerate(row) if one >= len(WORDS)}
    assert len(instead) == 8
    known = [UNKNOWN if one >= len(WORDS) else one for one in row]
    assert WORDS.decode(known, instead) == text


def test_words_are_borrowed_in_the_letters_that_the_vocabulary_has() -> None:
    small = TOKENIZERS["words"](["the cat"], vocabulary=6, lowercase=True)
    assert Borrowing(small, 6, list).words("The ZORBLAX zorblax") == (" zorblax",)


@pytest.mark.parametrize("source", ["Zorké saw", "Zorke\u0301 saw", " Zorké saw"])
def test_a_word_is_borrowed_as_it_is_written_wherever_it_stands(source: str) -> None:
    """With its accents, however they are coded, and one blank before it."""
    assert " Zorké" in borrowing().words(source)
    (row,) = borrowing().targets(["the Zorké"], [source])
    assert row[-1] >= len(WORDS)
