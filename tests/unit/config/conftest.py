from collections.abc import Callable
from pathlib import Path

import pytest

from regard.config import load_config
from regard.core.errors import UserError


@pytest.fixture
def fails(tmp_path: Path) -> Callable[..., str]:
    """The one sentence that refuses my.toml with this text and these changes."""

    def fails(text: str, *changes: str) -> str:
        path = tmp_path / "my.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UserError) as caught:
            load_config(path, changes)
        sentence = str(caught.value)
        assert "\n" not in sentence
        return sentence

    return fails
