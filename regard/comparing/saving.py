"""A result in files: compare.html and compare.png to look at, compare.md to paste, compare.json for programs."""

import json
from collections.abc import Iterator
from pathlib import Path

from regard.comparing.curves import figure
from regard.comparing.page import page
from regard.comparing.standings import Result
from regard.comparing.tables import document, markdown
from regard.core.files import write_whole
from regard.viewing import save_figure


def save_result(result: Result, folder: Path) -> Iterator[Path]:
    for name, content in (
        ("compare.json", json.dumps(document(result), indent=2, ensure_ascii=False) + "\n"),
        ("compare.md", markdown(result)),
        ("compare.html", page(result)),
    ):
        write_whole(folder / name, content)
        yield folder / name
    if (drawn := figure(result)) is not None:
        yield save_figure(drawn, folder / "compare.png")
