"""The scripts that letters belong to: Latin, Cyrillic, Han and so on."""

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from unicodedata import name

# What the names of characters call otherwise than the script.
_CALLED = {"Cjk": "Han", "Fullwidth": "Latin", "Halfwidth": "Katakana", "Katakana-Hiragana": "Katakana"}
_ANY = ("Modifier", "Combining", "Feminine", "Masculine", "Mathematical", "Superscript", "Subscript")


@cache
def script_of(character: str) -> str | None:
    """None for all that is no letter, and for letters of no script."""
    if not character.isalpha():
        return None
    first = name(character, "").split(" ")[0].title()
    return None if not first or first in _ANY else _CALLED.get(first, first)


def scripts_of(texts: Iterable[str]) -> dict[str, float]:
    """The share of each script in all letters, the largest first."""
    found = Counter(script for text in texts for character in text if (script := script_of(character)))
    return {script: count / found.total() for script, count in found.most_common()}


def is_mostly(text: str, scripts: Collection[str]) -> bool:
    """At least half of the letters are of these scripts; a text without letters is of any."""
    if text.isascii():
        return "Latin" in scripts or not any(map(str.isalpha, text))
    letters = [script for character in text if (script := script_of(character))]
    return 2 * sum(script in scripts for script in letters) >= len(letters)
