"""What becomes of answers on their way to stdout."""

import io
import json
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from regard.cli import app as application
from regard.core.prediction import AttentionRecord, Prediction, Request
from regard.core.words import Words

HOSTILE = "\x1b[2J"


class Predictor:
    """Answers every word with itself; a source with `long` in it was not read whole, and some have no answer."""

    engine = None
    codec = type("Codec", (), {"check": lambda *_: None})()

    def __init__(self) -> None:
        self.windows: list[int] = []

    def stream(self, requests: Iterable[Request], *, window: int, **_: object) -> Iterator[Prediction]:
        self.windows.append(window)
        yield from map(self._answer, requests)

    def _answer(self, request: Request) -> Prediction:
        pieces = tuple(request.text.split())
        words = Words(pieces, tuple((number,) for number in range(len(pieces))))
        one = np.eye(len(pieces), dtype=np.float32)
        looks = {"cross": np.stack([np.stack([one, one[::-1]]), np.stack([one[::-1], one])])}
        return Prediction(
            source=request.text,
            text=request.text,
            pieces=pieces,
            score=-0.5,
            attention=AttentionRecord(pieces, pieces, looks, words, words),
            unread=7 if "long" in request.text else 0,
            problem=f"the model has no pieces for '{HOSTILE}'" if "bad" in request.text else None,
        )


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def predict(
    lines: str,
    *options: str,
    monkeypatch: pytest.MonkeyPatch,
    stdin: type[io.TextIOWrapper] = io.TextIOWrapper,
) -> Predictor:
    predictor = Predictor()
    monkeypatch.setattr("regard.predictor.load", lambda *_, **__: predictor)
    monkeypatch.setattr("sys.stdin", stdin(io.BytesIO(lines.encode())))
    monkeypatch.setattr("sys.argv", ["regard", "predict", "runs/x", *options])
    assert application.run() == 0
    return predictor


def test_json_tells_of_sources_that_were_not_read_whole(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    predict("short\na long one\n", "--output", "json", monkeypatch=monkeypatch)
    short, long = map(json.loads, capsysbinary.readouterr().out.splitlines())
    assert "unread" not in short
    assert long["unread"] == 7


def test_no_control_character_of_a_problem_reaches_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    predict("bad\n", monkeypatch=monkeypatch)
    predict(json.dumps({"source": "a", HOSTILE: 1}), "--input", "json", monkeypatch=monkeypatch)
    warnings = capsys.readouterr().err
    assert warnings.count("\\x1b[2J") == 2
    assert "\x1b" not in warnings


@pytest.mark.parametrize(
    ("options", "links"),
    [
        ((), "0-0 0-1"),  # the heads of a layer look crosswise: of equals the first is taken
        (("--head", "0"), "0-0 1-1"),
        (("--layer", "1", "--head", "0"), "0-1 1-0"),
        (("--align-by", "threshold"), "0-0 0-1 1-0 1-1"),
        (("--align-by", "threshold", "--threshold", "0.6"), ""),
    ],
)
def test_words_are_linked_in_the_way_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    options: tuple[str, ...],
    links: str,
) -> None:
    predict("a b\n", "--alignments", *options, monkeypatch=monkeypatch)
    assert capsysbinary.readouterr().out.decode() == f"a b\t{links}\n"
    predict("a b\n", "--alignments", "--output", "json", *options, monkeypatch=monkeypatch)
    assert json.loads(capsysbinary.readouterr().out)["alignment"] == links


def test_fewer_lines_are_read_ahead_where_all_looks_are_held_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert predict("a\n", monkeypatch=monkeypatch).windows == [512]
    assert predict("a\n", "--alignments", monkeypatch=monkeypatch).windows == [64]
    assert predict("a\n", "--alignments", "--window", "9", monkeypatch=monkeypatch).windows == [9]
    assert predict("a\n", monkeypatch=monkeypatch, stdin=Terminal).windows == [1]
