"""When two texts are the same."""

import unicodedata


def compared(text: str) -> str:
    """A text as it is compared with others, without differences of white space or of how Unicode spells a letter."""
    return " ".join(unicodedata.normalize("NFC", text).split())
