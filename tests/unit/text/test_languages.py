import pytest

from regard.core.pieces import END, SPECIAL_PIECES, UNKNOWN
from regard.text import TOKENIZERS, LanguageTokenizers, encode_targets

GERMAN = TOKENIZERS["bpe"](["ein Hund und eine Katze"], vocabulary=300)
FRENCH = TOKENIZERS["characters"](["un chien et un chat"], vocabulary=40)
BOTH = LanguageTokenizers({"fr": FRENCH, "de": GERMAN})
FIRST = len(SPECIAL_PIECES)


def test_every_language_has_its_own_part_of_one_table() -> None:
    assert BOTH.of("de").ids == range(FIRST, len(GERMAN))
    assert BOTH.of("fr").ids == range(len(GERMAN), len(GERMAN) + len(FRENCH) - FIRST)
    assert len(BOTH) == len(GERMAN) + len(FRENCH) - FIRST
    assert BOTH.others("de") == (BOTH.of("fr").ids,)
    assert BOTH.others("fr") == (BOTH.of("de").ids,)


def test_the_others_of_a_language_in_the_middle_are_on_both_sides() -> None:
    three = LanguageTokenizers({"a": FRENCH, "b": FRENCH, "c": FRENCH})
    assert three.others("b") == (three.of("a").ids, three.of("c").ids)
    assert three.of("c").ids.stop == len(three)


@pytest.mark.parametrize(("language", "text"), [("de", "ein Hund"), ("fr", "un chien")])
def test_texts_come_back_from_the_ids_of_their_language(language: str, text: str) -> None:
    ids = BOTH.of(language).encode(text)
    assert all(number in BOTH.of(language).ids for number in ids)
    assert BOTH.decode([*ids, END]) == text
    tokenizer = {"de": GERMAN, "fr": FRENCH}[language]
    assert BOTH.pieces(ids) == tokenizer.pieces(tokenizer.encode(text))
    assert BOTH.words_of(ids) == tokenizer.words_of(tokenizer.encode(text))


def test_pieces_of_another_language_are_unknown_to_the_first_one_that_spoke() -> None:
    mixed = [*BOTH.of("fr").encode("un"), BOTH.of("de").ids[50], UNKNOWN]
    assert BOTH.decode(mixed) == "un"
    assert BOTH.decode([]) == BOTH.decode([UNKNOWN, END]) == ""


def test_a_word_can_stand_in_the_place_of_an_unknown_piece() -> None:
    ids = [*BOTH.of("de").encode("ein"), UNKNOWN]
    assert BOTH.decode(ids, {len(ids) - 1: BOTH.spaced("Hund")}) == "ein Hund"


def test_texts_of_several_languages_are_encoded_together() -> None:
    texts, languages = ["ein", "un", "eine"], ["de", "fr", "de"]
    expected = [BOTH.of(language).encode(text) for text, language in zip(texts, languages, strict=True)]
    assert encode_targets(BOTH, texts, languages) == expected
    assert encode_targets(GERMAN, texts, [None] * 3) == GERMAN.encode_many(texts)


def test_other_tokenizers_have_another_form() -> None:
    assert BOTH.to_json() == LanguageTokenizers({"de": GERMAN, "fr": FRENCH}).to_json()
    assert BOTH.to_json() != LanguageTokenizers({"de": FRENCH, "fr": GERMAN}).to_json()
