from pathlib import Path

import pytest

from regard.core.files import whole_folder


def test_a_folder_that_can_not_get_its_name_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "it"
    path.mkdir()
    (path / "old").touch()
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name.endswith(".writing"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output"), whole_folder(path) as writing:
        (writing / "new").touch()
    assert [one.name for one in path.iterdir()] == ["old"]
    assert [one.name for one in tmp_path.iterdir()] == ["it"]
