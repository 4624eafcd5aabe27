from pathlib import Path

import pytest
import typer

from regard.cli import train


def test_scoring_can_be_left_for_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(folder: Path, *, device: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.evaluation.evaluate", interrupted)
    with pytest.raises(typer.Exit) as end:
        train._score(Path("runs/mine"), "cpu")
    assert end.value.exit_code == 130
    assert "regard evaluate runs/mine" in capsys.readouterr().err
