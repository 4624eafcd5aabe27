from pathlib import Path

import pytest
from commands import TINY, regard


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny.toml and its finished run runs/tiny. Tests may score it, never change what it learned."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(TINY)
    regard("train", "tiny.toml", folder=folder)
    return folder
