from pathlib import Path

import pytest

from regard.cli.serve import KEY, _keys
from regard.core.errors import UserError


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_key_that_is_blank_lets_nobody_in_by_mistake(blank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, blank)
    with pytest.raises(UserError, match=f"{KEY} is set, but there is no key in it"):
        _keys(None)
    monkeypatch.delenv(KEY)
    assert _keys(None) == ()


def test_a_mark_of_byte_order_is_no_part_of_a_key(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("secret\n\nother \n", encoding="utf-8-sig")
    assert _keys(tmp_path / "keys") == ("secret", "other")


def test_a_key_that_no_header_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "schlüssel")
    with pytest.raises(UserError, match="ASCII"):
        _keys(None)
