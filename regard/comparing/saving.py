"""A result in files: compare.html to look at, compare.md to paste, compare.json for programs."""

import json
from collections.abc import Iterator
from pathlib import Path

from regard.comparing.page import page
from regard.comparing.standings import Result
from regard.comparing.tables import document, markdown
from regard.core.files import write_whole


def save_result(result: Result, folder: Path) -> Iterator[Path]:
    for name, content in (
        ("compare.json", json.dumps(document(result), indent=2, ensure_ascii=False) + "\n"),
        ("compare.md", markdown(result)),
        ("compare.html", page(result)),
    ):
        write_whole(folder / name, content)
        yield folder / name
