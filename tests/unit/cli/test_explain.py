from pathlib import Path

import numpy as np
import pytest

from regard.cli import app as application
from regard.core.prediction import AttentionRecord, Prediction, Request

HOSTILE = "\x1b[2J[/x] :smile:\nend"


class Predictor:
    """Answers with whatever it was asked."""

    def predict(self, request: Request, **_: object) -> Prediction:
        source = request.text
        pieces = (*source, "</s>")
        weights = {"cross": np.full((1, 1, len(pieces), len(pieces)), 1 / len(pieces), dtype=np.float32)}
        return Prediction(source, source, pieces[:-1], -0.5, AttentionRecord(pieces, pieces, weights))


def explain(source: str, *options: str | Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("regard.predictor.load", lambda *_, **__: Predictor())
    monkeypatch.setattr("sys.argv", ["regard", "explain", "runs/x", source, *map(str, options)])
    return application.run()


def test_no_control_character_of_an_answer_reaches_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(HOSTILE, "-o", tmp_path / "map.json", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out == "\\x1b[2J[/x] :smile:↵end\n"
    assert explain(HOSTILE, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "\\x1b[2J[/x] :smile:↵end" in shown
    assert "\x1b" not in shown


def test_a_page_begins_with_special_pieces_hidden_if_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, hidden = tmp_path / "shown.html", tmp_path / "hidden.html"
    explain("ab", "-o", shown, monkeypatch=monkeypatch)
    explain("ab", "-o", hidden, "--hide-special", monkeypatch=monkeypatch)
    assert '"hidden":false' in shown.read_text()
    assert hidden.read_text() == shown.read_text().replace('"hidden":false', '"hidden":true')


def test_a_document_holds_every_piece_and_refuses_to_hide_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain("ab", "-o", tmp_path / "map.JSON", "--hide-special", monkeypatch=monkeypatch) == 2
    assert "--hide-special" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
