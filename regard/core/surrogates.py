"""Half characters in a Python string, which no UTF-8 can hold."""

import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Each half character becomes U+FFFD, the replacement character."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)
