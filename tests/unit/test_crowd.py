from pathlib import Path

import pytest
from untrained import sources, transformer_changes, write_model

import regard
from regard.core.errors import UserError
from regard.core.prediction import Request
from regard.crowd import Crowd


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("crowd") / "model", transformer_changes())


def test_it_answers_as_one_process_does_and_in_order(model: Path) -> None:
    asked = [*sources(20), "", "abc"]
    alone = regard.load(model, device="cpu").predict(asked, attention="cross", beam=3)
    with Crowd(model, workers=2, device="cpu") as crowd:
        together = list(crowd.stream(iter(asked), sources=3, attention="cross", beam=3))
    assert [one.text for one in together] == [one.text for one in alone]
    assert [one.score for one in together] == pytest.approx([one.score for one in alone], abs=1e-4)
    assert together[0].attention.cross().shape == alone[0].attention.cross().shape


def test_what_a_worker_can_not_do_is_said_here(model: Path) -> None:
    with (
        Crowd(model, workers=1, device="cpu") as crowd,
        pytest.raises(UserError, match="beam is 0"),
    ):
        list(crowd.stream([Request("abc")], attention="none", beam=0))


@pytest.mark.parametrize("kind", ["transformer", "recurrent"])
def test_int8_answers_nearly_as_float32_does(tmp_path: Path, kind: str) -> None:
    sizes = ["both.width=64", "both.feed_forward=128"] if kind == "transformer" else []
    changes = transformer_changes(*sizes) if kind == "transformer" else ["search.max_length=16"]
    path = write_model(tmp_path / "model", changes)
    asked = sources(30)
    exact, rounded = (
        regard.load(path, device="cpu", compute_type=one).predict(asked, attention="none")
        for one in ("float32", "int8")
    )
    assert [one.score for one in rounded] != [one.score for one in exact]
    assert sum(a.text == b.text for a, b in zip(exact, rounded, strict=True)) >= 15
    alone = regard.load(path, device="cpu", compute_type="int8")
    assert [alone.predict(one, attention="none").text for one in asked[:6]] == [
        one.text for one in rounded[:6]
    ]
