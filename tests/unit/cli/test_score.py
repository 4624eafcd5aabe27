"""What is said of given answers."""

import io
import json
import math
import sys
from collections.abc import Iterator

import pytest
import torch
from small import VOCABULARY, recurrent

from regard.cli import app as application
from regard.data import Limits
from regard.forcing import force
from regard.predictor import Predictor
from regard.search import SearchPlan
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS
from regard.viewing import TextView

PAIRS = "ab\tba\nab\tabc abcd\n\ta\nab\tabc ab\n"  # the second target has two pieces too many


@pytest.fixture
def predictor(monkeypatch: pytest.MonkeyPatch) -> Predictor:
    tokenizer = TOKENIZERS["characters"](["abc de "], vocabulary=VOCABULARY)
    codec = TextCodec(tokenizer, tokenizer, Limits(source=20, target=6), TextView())
    told = Predictor([recurrent()], codec, search=SearchPlan(), batch_tokens=60, device=torch.device("cpu"))
    monkeypatch.setattr("regard.predictor.load", lambda *_, **__: told)
    return told


def score(monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setattr("sys.argv", ["regard", "score", "runs/x", *options])
    assert application.run() == 0


def test_a_target_that_was_cut_gets_no_number_that_looks_like_the_others(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole, part = force(predictor, ["ab", "ab"], ["ba", "abc abcd"])
    assert part.score > -math.inf
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PAIRS.encode())))
    score(monkeypatch)
    numbers = [float(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert numbers[0] == pytest.approx(whole.score, abs=1e-5)
    assert numbers[1] == numbers[2] == -math.inf
    assert -math.inf < numbers[3] < 0


def test_json_tells_how_many_pieces_were_cut(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PAIRS.encode())))
    score(monkeypatch, "--output", "json")
    objects = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert [one.get("cut") for one in objects] == [None, 2, None, None]
    assert [one["score"] is None for one in objects] == [False, True, True, False]
    assert objects[1]["pieces"] == ["a", "b", "c", "▁", "a", "b"]


@pytest.mark.parametrize(("terminal", "options", "ahead"), [(True, (), 1), (False, ("--window", "2"), 2)])
def test_what_was_asked_is_answered_before_more_is_read(
    predictor: Predictor,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    options: tuple[str, ...],
    ahead: int,
) -> None:
    written, seen = io.BytesIO(), []

    def typed() -> Iterator[str]:
        for _ in range(4):
            seen.append(written.getvalue().count(b"\n"))
            yield "ab\tba"

    out = io.TextIOWrapper(io.BufferedWriter(Raw(written)))
    monkeypatch.setattr("regard.cli.score.lines", typed)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stdout", out)
    score(monkeypatch, *options)
    assert seen == [number // ahead * ahead for number in range(4)]


class Raw(io.RawIOBase):
    """Where bytes come to as soon as they are flushed."""

    def __init__(self, to: io.BytesIO) -> None:
        self.to = to

    def writable(self) -> bool:
        return True

    def write(self, some: bytes) -> int:  # type: ignore[override]
        return self.to.write(some)
