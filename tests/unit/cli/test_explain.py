from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regard.cli import app as application
from regard.core.prediction import AttentionRecord, Prediction, Request

HOSTILE = "\x1b[2J[/x] :smile:\nend"


class Predictor:
    """Answers with whatever it was asked, and remembers that."""

    def __init__(self) -> None:
        self.asked: tuple[Request, dict[str, object]] | None = None

    def predict(self, request: Request, **options: object) -> Prediction:
        self.asked = request, options
        source = request.text
        pieces = (*source, "</s>")
        weights = {"cross": np.full((1, 1, len(pieces), len(pieces)), 1 / len(pieces), dtype=np.float32)}
        return Prediction(source, source, pieces[:-1], -0.5, AttentionRecord(pieces, pieces, weights))


def explain(
    source: str,
    *options: str | Path,
    monkeypatch: pytest.MonkeyPatch,
    load: Callable[..., Predictor] = lambda *_, **__: Predictor(),
) -> int:
    monkeypatch.setattr("regard.predictor.load", load)
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


def test_what_predict_can_be_asked_is_explained_too(monkeypatch: pytest.MonkeyPatch) -> None:
    predictor, loaded = Predictor(), []

    def load(*runs: Path, **_: object) -> Predictor:
        loaded.extend(map(str, runs))
        return predictor

    wishes = ["--prefix", "a", "--require", "b", "--require", "c", "--forbid", "d", "--to", "fr"]
    search = ["--beam", "4", "--search", "length_penalty=0.5", "--with", "runs/y"]
    assert explain("ab", *wishes, *search, monkeypatch=monkeypatch, load=load) == 0
    assert loaded == ["runs/x", "runs/y"]
    assert predictor.asked is not None
    request, options = predictor.asked
    assert request == Request("ab", "a", ["b", "c"], ["d"], "fr")
    assert options == {"beam": 4, "length_penalty": 0.5, "record": True, "attention": "all"}


@pytest.mark.parametrize("options", [(), ("--beam", "1"), ("--beam", "3", "--search", "sample=true")])
def test_no_tree_is_recorded_where_there_is_no_beam(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    predictor = Predictor()
    explain("ab", *options, monkeypatch=monkeypatch, load=lambda *_, **__: predictor)
    assert predictor.asked is not None
    assert "record" not in predictor.asked[1]
