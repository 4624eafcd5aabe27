import pytest

from regard.viewing.labels import label, labels, ordinary, plain


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("a", "a"),
        ("ğ", "ğ"),
        (" ", "␣"),
        (" the", "␣the"),
        ("\n", "↵"),
        ("\t", "⇥"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202eabc", "\\u202eabc"),
        ("\u2028", "\\u2028"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\u00a0", "\\xa0"),
        ("\u200d", "\\u200d"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("\u0308", "◌\u0308"),
        ("", "∅"),
        ("</s>", "</s>"),
    ],
)
def test_nothing_invisible_is_left_in_a_label(piece: str, shown: str) -> None:
    assert label(piece) == shown


def test_a_very_long_label_keeps_its_beginning_and_its_end() -> None:
    shown = label("start" + "x" * 200 + "end")
    assert shown.startswith("startx")
    assert shown.endswith("xend")
    assert "…" in shown
    assert len(shown) <= 32


def test_a_running_text_keeps_its_blanks_and_accents_and_spells_out_the_rest() -> None:
    assert plain("cafe\u0301 a\x1b[2J\nb") == "cafe\u0301 a\\x1b[2J↵b"


def test_special_pieces_are_told_from_ordinary_ones() -> None:
    assert ordinary(["<s>", "a", "</s>", "s", "<unk>", "<pad>"]).tolist() == [1, 3, 4]
    assert ordinary([]).tolist() == []
    assert labels(["a", " "]) == ("a", "␣")
