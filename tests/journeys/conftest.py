from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import chromium
from commands import TINY, regard
from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny.toml and its finished run runs/tiny. Tests may score it, never change what it learned."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(TINY)
    regard("train", "tiny.toml", folder=folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of a module: what its pages leave behind is gone with it."""
    with chromium() as found:
        yield found
