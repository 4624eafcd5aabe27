import pytest

from regard.data.scripts import is_mostly, script_of, scripts_of


@pytest.mark.parametrize(
    ("characters", "script"),
    [
        ("aZßŁｱ"[:4], "Latin"),
        ("Ａ", "Latin"),
        ("яЙ", "Cyrillic"),
        ("漢々〇"[:1], "Han"),
        ("かゃ", "Hiragana"),
        ("カｶー"[:2], "Katakana"),
        ("한", "Hangul"),
        ("אב", "Hebrew"),
        ("ب", "Arabic"),
        ("हि"[:1], "Devanagari"),
        ("กข", "Thai"),
        ("1.٣ \n🐶ʰ", None),
    ],
)
def test_letters_have_scripts_and_nothing_else_has(characters: str, script: str | None) -> None:
    assert {script_of(character) for character in characters} == {script}


def test_shares_are_of_letters_the_largest_first() -> None:
    assert list(scripts_of(["я1 ", "ab c"]).items()) == [("Latin", 0.75), ("Cyrillic", 0.25)]
    assert scripts_of(["12", ""]) == {}


@pytest.mark.parametrize(
    ("text", "scripts", "is_so"),
    [
        ("plain", ["Latin"], True),
        ("plain", ["Cyrillic"], False),
        ("12 %", ["Cyrillic"], True),
        ("", ["Cyrillic"], True),
        ("яяa", ["Cyrillic"], True),
        ("яa", ["Cyrillic"], True),
        ("яaa", ["Cyrillic"], False),
        ("漢かア", ["Han", "Katakana"], True),
    ],
)
def test_a_text_is_mostly_of_scripts_that_half_of_its_letters_have(
    text: str, scripts: list[str], is_so: bool
) -> None:
    assert is_mostly(text, scripts) is is_so
