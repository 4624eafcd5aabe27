"""A run's answers to its own test or validation sources, kept with what they depend on.

predictions/test.jsonl    a line for each source: what the model answered, in which pieces, and what is right
predictions/test.json     the model, sources, search and version that gave them, and the SHA-256 of those lines
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from regard import __version__
from regard.core.files import write_whole
from regard.core.prediction import Prediction, Request
from regard.core.surrogates import without_surrogates
from regard.data import fingerprint, located
from regard.records import load_records
from regard.run import ModelFolder
from regard.search import Finder
from regard.viewing import as_document
from regard.viewing.document import as_json

Basis = Mapping[str, Any]


def basis(
    folder: ModelFolder, requests: Sequence[Request], search: Finder, *, are_files: bool = False
) -> Basis:
    """All that answers depend on; where sources are names of files, on what is in them."""
    return {
        "regard": __version__,
        "model": folder.digest(),
        "sources": fingerprint(
            [one.text, *filter(None, [one.to]), *(_inside(one.text) if are_files else ())] for one in requests
        ),
        "search": asdict(cast(Any, search)),
    }


def _inside(source: str) -> Iterator[str]:
    """It may change and keep its name."""
    with suppress(OSError):
        yield sha256(located(source).read_bytes()).hexdigest()


@dataclass(frozen=True)
class Kept:
    """The file of JSON lines, and what the answers in it have to depend on."""

    path: Path
    basis: Basis

    def load(self) -> list[Prediction] | None:
        """What was saved, without attention; nothing if it has another basis or somebody changed it."""
        try:
            written = json.loads(self._beside.read_text(encoding="utf-8"))
            lines = self.path.read_bytes()
        except (OSError, ValueError):
            return None
        return load_records(self.path) if written == self._described(lines) else None

    def save(self, predictions: Sequence[Prediction], references: Sequence[Sequence[str]]) -> None:
        lines = "".join(
            as_json({**as_document(one), "references": [without_surrogates(answer) for answer in answers]})
            + "\n"
            for one, answers in zip(predictions, references, strict=True)
        ).encode()
        write_whole(self.path, lines)
        write_whole(self._beside, json.dumps(self._described(lines), indent=2) + "\n")

    @property
    def _beside(self) -> Path:
        return self.path.with_suffix(".json")

    def _described(self, lines: bytes) -> dict[str, Any]:
        return {**self.basis, "lines": sha256(lines).hexdigest()}
