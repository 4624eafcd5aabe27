"""A server with another engine than Regard's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from serving import TRANSFORMER, Here, here, untrained

import regard
from regard.core.pieces import BEGIN, PAD
from regard.engines import export

pytest.importorskip("ctranslate2")

TEXTS = ["3 May 1993", "", "a", "Größe"]


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Here, Path]]:
    run = untrained(tmp_path_factory.mktemp("runs") / "fast", *TRANSFORMER)
    path = run / "model/model.safetensors"
    weights = load_file(path)
    weights["decoder.head.bias"][[PAD, BEGIN]] -= 20  # as if it had learned never to say them
    save_file(weights, path)
    with here(run, engine="ctranslate2") as server:
        yield server, run


def test_it_answers_and_streams_what_predict_answers(fast: tuple[Here, Path]) -> None:
    server, run = fast
    expected = [one.text for one in regard.load(run).predict(TEXTS, attention="none", beam=3)]
    assert server.texts(TEXTS, beam=3) == expected
    told = dict.fromkeys(range(len(TEXTS)), "")
    for name, data in server.events({"inputs": TEXTS, "beam": 3}):
        if name == "prediction":
            told[data["input"]] = data["prediction"]["answers"][0]["text"]
    assert list(told.values()) == expected


def test_what_it_can_not_tell_is_said_and_refused(fast: tuple[Here, Path]) -> None:
    server, run = fast
    (model,) = server.get("/v1/models").json["models"]
    assert (model["engine"], model["returns"], model["attention"]) == (
        "ctranslate2",
        ["pieces", "scores"],
        {},
    )
    assert model["parameters"] == regard.load(run).parameters
    for wishes in ({"return": ["attention"]}, {"return": ["beam"]}, {"sample": True}):
        reply = server.post("/v1/predict", {"inputs": ["a"], **wishes})
        assert reply.status == 422
        assert "ctranslate2 engine" in reply.json["error"]
    bound = server.post("/v1/predict", {"inputs": ["a"], "require": ["b"]}).json["predictions"][0]
    assert "keeps no rules" in bound["problem"]


def test_what_was_exported_is_served_like_a_run(fast: tuple[Here, Path], tmp_path: Path) -> None:
    server, run = fast
    export(run, to="ctranslate2", output=tmp_path / "exported")
    with here(tmp_path / "exported") as other:
        assert other.texts(TEXTS) == server.texts(TEXTS)
        assert other.get("/v1/models").json["models"][0]["name"] == "exported"
