"""A short name for a content: the same for the same texts in the same order, and for nothing else."""

from collections.abc import Iterable
from hashlib import blake2b


class Fingerprint:
    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)

    def add(self, *texts: str) -> None:
        self.add_framed(framed(texts))

    def add_framed(self, content: bytes) -> None:
        """What `framed` made of texts."""
        self._hash.update(content)

    @property
    def name(self) -> str:
        return self._hash.hexdigest()


def framed(texts: Iterable[str]) -> bytes:
    """Texts as bytes that tell where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"".join([b"%d %b" % (len(data), data) for data in encoded])


def fingerprint(rows: Iterable[Iterable[str]]) -> str:
    """Of pairs, or of any rows of texts."""
    found = Fingerprint()
    for row in rows:
        found.add(*row)
    return found.name
