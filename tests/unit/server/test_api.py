"""What is answered is what `predict` answers, however it is asked."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from serving import Here

import regard
from regard.core.prediction import Prediction, Request
from regard.records import load_records

TEXTS = [f"{day} May {1990 + day}" for day in range(1, 13)] + [
    "",
    "a",
    "Straße, Größe und noch viel mehr Wörter",
]
EVERYTHING = ["pieces", "scores", "alignments", "alternatives", "attention"]
CLOSE = 1e-4  # the weights of these models are large
SEARCHES: dict[str, dict[str, Any]] = {
    "as the run says": {},
    "beam": {"beam": 4, "best": 3, "length_penalty": 0.8},
    "groups": {"beam": 4, "best": 4, "groups": 2, "diversity": 0.3},
    "sampling": {"sample": True, "temperature": 0.9, "top_k": 20, "top_p": 0.9, "min_p": 0.01, "seed": 7},
    "lengths": {"min_length": 3, "max_length": 6, "no_repeat": 2, "beam": 2, "coverage": 0.1},
}


def library(runs: Path, model: str, inputs: list[str] | list[Request], **options: Any) -> list[Prediction]:
    return regard.load(runs / model).predict(inputs, **options)


def assert_same(found: dict[str, Any], expected: Prediction) -> None:
    """Texts and pieces exactly; sums of logarithms to the last digits, which a batch's shape may change."""
    answers = (expected, *expected.alternatives)
    assert [one["text"] for one in found["answers"]] == [one.text for one in answers]
    for one, other in zip(found["answers"], answers, strict=True):
        assert one["pieces"] == list(other.pieces)
        assert one["finished"] == other.finished
        assert one["score"] == pytest.approx(other.score, abs=CLOSE)
        assert one["rank"] == pytest.approx(other.rank, abs=CLOSE)
        assert one["piece_scores"] == pytest.approx(other.piece_scores, abs=CLOSE)


@pytest.mark.parametrize("model", ["recurrent", "transformer"])
@pytest.mark.parametrize("search", SEARCHES)
def test_answers_are_those_of_predict(server: Here, runs: Path, model: str, search: str) -> None:
    ask = {"model": model, "inputs": TEXTS, "return": ["pieces", "scores"], **SEARCHES[search]}
    found = server.post("/v1/predict", ask).json
    assert found["model"] == model
    for one, expected in zip(
        found["predictions"], library(runs, model, TEXTS, **SEARCHES[search]), strict=True
    ):
        assert_same(one, expected)


def test_answers_under_load_are_those_of_predict(server: Here, runs: Path) -> None:
    """Many clients at once, with different models and searches: whoever shares a batch changes nothing."""
    asked = [
        (model, search, [TEXTS[n % len(TEXTS)], TEXTS[(5 * n + 3) % len(TEXTS)]])
        for n in range(12)
        for model in ("recurrent", "transformer")
        for search in ("as the run says", "beam")
    ]
    found: dict[int, Any] = {}

    def ask(number: int) -> None:
        model, search, inputs = asked[number]
        content = {"model": model, "inputs": inputs, "return": ["pieces", "scores"], **SEARCHES[search]}
        found[number] = server.post("/v1/predict", content)

    batches, inputs = server.count("batches_total"), server.count("inputs_total")
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = server.count("batches_total") - batches
    assert made < (server.count("inputs_total") - inputs) / 2, "nobody shared a batch"
    expected = {
        (model, search): dict(zip(TEXTS, library(runs, model, TEXTS, **SEARCHES[search]), strict=True))
        for model, search, _ in asked[:4]
    }
    for number, (model, search, texts) in enumerate(asked):
        assert found[number].status == 200
        for text, one in zip(texts, found[number].json["predictions"], strict=True):
            assert_same(one, expected[model, search][text])


def test_everything_that_can_be_returned_is_what_the_library_knows(
    server: Here, runs: Path, tmp_path: Path
) -> None:
    ask = {
        "model": "transformer",
        "inputs": TEXTS[:2],
        "beam": 3,
        "best": 2,
        "return": [*EVERYTHING, "beam"],
        "attention": "all",
        "alternatives": 4,
    }
    found = server.post("/v1/predict", ask).json["predictions"]
    expected = library(
        runs, "transformer", TEXTS[:2], beam=3, best=2, attention="all", record=True, likeliest=4
    )
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other)
        assert one["problem"] is None
        assert other.beam is not None
        assert [(node["piece"], node["fate"], node["step"], node["parent"]) for node in one["beam"]] == [
            (node.piece, node.fate, node.step, node.parent) for node in other.beam
        ]
        for answer, known in zip(one["answers"], (other, *other.alternatives), strict=True):
            assert answer["alignment"] == regard.answers.Linking()(known)
            told = [[step["piece"] for step in steps] for steps in answer["alternatives"]]
            assert told == [[piece for piece, _ in steps] for steps in known.likeliest]
            assert {len(steps) for steps in answer["alternatives"]} == {4}
            assert 0 < answer["alternatives"][0][0]["probability"] <= 1
            assert answer["attention"].pop("labels")["target"][-1]
            (tmp_path / "map.json").write_text(json.dumps(answer["attention"]))
            (record,) = load_records(tmp_path / "map.json")
            assert set(record.attention.weights) == {"encoder", "decoder", "cross"}
            for kind, weights in known.attention.weights.items():
                assert record.attention.weights[kind] == pytest.approx(weights, abs=CLOSE)


def test_nothing_is_returned_that_was_not_asked_for(server: Here) -> None:
    found = server.post("/v1/predict", {"model": "recurrent", "inputs": ["abc"], "beam": 2}).json
    assert set(found["predictions"][0]) == {"answers", "problem"}
    assert set(found["predictions"][0]["answers"][0]) == {"text", "finished"}


def test_wishes_are_kept_for_all_inputs_and_for_one(server: Here, runs: Path) -> None:
    inputs: list[Any] = ["abc", {"source": "abc", "prefix": "Qu", "forbid": [], "require": ["77"]}]
    ask = {"model": "recurrent", "inputs": inputs, "prefix": "Zo", "forbid": ["e", "a"], "beam": 2}
    first, second = server.texts(**ask)
    assert first.startswith("Zo")
    assert not set(first) & {"e", "a"}
    assert second.startswith("Qu")
    assert "77" in second
    wishes = [
        Request("abc", prefix="Zo", forbid=["e", "a"]),
        Request("abc", prefix="Qu", require=["77"]),
    ]
    assert [first, second] == [one.text for one in library(runs, "recurrent", wishes, beam=2)]


def test_a_wish_that_can_not_be_kept_is_told_for_its_input_alone(server: Here) -> None:
    ask = {"model": "recurrent", "inputs": ["abc", {"source": "abc", "require": ["☃"]}]}
    free, bound = server.post("/v1/predict", ask).json["predictions"]
    assert free["problem"] is None
    assert bound == {
        "answers": [{"text": "", "finished": True}],
        "problem": "the model has no pieces for '☃'",
    }


def test_the_language_of_the_answer_is_asked_for_where_there_are_several(server: Here, runs: Path) -> None:
    for to in ("de", "fr"):
        (text,) = server.texts(["abc"], model="many", to=to)
        assert text == library(runs, "many", [Request("abc", to=to)])[0].text
    for wrong in ({}, {"to": "xx"}):
        reply = server.post("/v1/predict", {"model": "many", "inputs": ["abc"], **wrong})
        assert reply.status == 422
        assert reply.json["field"] == "to"
        assert "de, en, fr" in reply.json["error"]


def test_models_tell_what_they_can(server: Here) -> None:
    found = {model["name"]: model for model in server.get("/v1/models").json["models"]}
    assert set(found) == {"recurrent", "transformer", "fixed", "en-de", "many"}
    assert found["transformer"]["attention"] == {
        kind: {"layers": 2, "heads": 2} for kind in ("encoder", "decoder", "cross")
    }
    assert "attention" in found["recurrent"]["returns"]
    assert "attention" not in found["fixed"]["returns"]
    assert found["en-de"]["directions"] == [["en", "de"]]
    assert found["many"]["to"] == ["de", "en", "fr"]
    assert found["recurrent"]["limits"]["pieces"] == 60
    assert found["recurrent"]["limits"]["beam"] == 16


def test_a_model_without_attention_says_so(server: Here) -> None:
    for part in ("attention", "alignments"):
        reply = server.post("/v1/predict", {"model": "fixed", "inputs": ["a"], "return": [part]})
        assert (reply.status, reply.json["field"]) == (422, "return")
    assert server.texts(["a"], model="fixed", **{"return": ["pieces", "scores", "beam", "alternatives"]})


def test_of_several_models_one_has_to_be_named_and_known(server: Here, one: Here) -> None:
    reply = server.post("/v1/predict", {"inputs": ["a"]})
    assert reply.status == 422
    assert "recurrent" in reply.json["error"]
    reply = server.post("/v1/predict", {"inputs": ["a"], "model": "recurent"})
    assert reply.status == 404
    assert "Did you mean 'recurrent'?" in reply.json["error"]
    assert one.texts(["abc"]) == server.texts(["abc"], model="recurrent")


@pytest.mark.parametrize("model", ["recurrent", "transformer"])
@pytest.mark.parametrize("search", ["as the run says", "beam", "sampling", "lengths"])
def test_a_stream_ends_with_the_answer_of_predict(server: Here, model: str, search: str) -> None:
    ask = {"model": model, "inputs": [*TEXTS[:3], ""], "return": ["pieces", "scores"], **SEARCHES[search]}
    events = server.events(ask)
    assert events[0] == ("start", {"model": model, "inputs": 4})
    assert events[-1] == ("end", {})
    expected = server.post("/v1/predict", ask).json["predictions"]
    streamed = {data["input"]: data["prediction"] for name, data in events if name == "prediction"}
    for number, other in enumerate(expected):
        assert [one["pieces"] for one in streamed[number]["answers"]] == [
            one["pieces"] for one in other["answers"]
        ]
        assert streamed[number]["answers"][0]["score"] == pytest.approx(
            other["answers"][0]["score"], abs=CLOSE
        )


@pytest.mark.parametrize("search", ["as the run says", "sampling"])
def test_the_pieces_of_a_stream_put_together_are_the_answer(server: Here, search: str) -> None:
    ask = {"model": "recurrent", "inputs": TEXTS[:3], "return": ["pieces"], **SEARCHES[search]}
    said: dict[int, list[str]] = {number: [] for number in range(3)}
    texts: dict[int, str] = {}
    for name, data in server.events(ask):
        if name == "pieces":
            assert data["at"] == len(said[data["input"]])  # nothing is taken back where nothing competes
            said[data["input"]] += data["pieces"]
            texts[data["input"]] = data["text"]
        if name == "prediction":
            (answer,) = data["prediction"]["answers"]
            assert said[data["input"]] == answer["pieces"]
            assert texts[data["input"]] == answer["text"]
    assert len(texts) == 3


def test_a_stream_of_several_samples_is_refused(server: Here) -> None:
    ask = {"model": "recurrent", "inputs": ["a"], "sample": True, "best": 2}
    assert server.post("/v1/stream", ask).status == 422
    assert server.post("/v1/predict", ask).status == 200


def test_what_goes_wrong_with_a_stream_before_it_begins_is_a_plain_refusal(server: Here) -> None:
    reply = server.post("/v1/stream", {"model": "recurrent", "inputs": ["a"], "beam": 99})
    assert (reply.status, reply.json["field"]) == (422, "beam")
