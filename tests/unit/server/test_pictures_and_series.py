"""Pictures and series over HTTP: asked, streamed, told of, and refused with a sentence."""

import base64
import io
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from serving import Here, here, untrained, untrained_captions, untrained_forecast

from regard import load
from regard.core.points import read_points
from regard.tasks.arms import Arms

PATHS = ("/v1/predict", "/v1/stream")
RETURNS = ["pieces", "scores", "attention", "beam", "alternatives"]


def picture(wide: int = 48, high: int = 40, seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (high, wide, 3), dtype=np.uint8))


def encoded(image: Image.Image, format: str = "PNG") -> bytes:
    stream = io.BytesIO()
    image.save(stream, format=format)
    return stream.getvalue()


def url(content: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def png_head(wide: int, high: int) -> bytes:
    """A PNG that says it is so large, with hardly a pixel in it."""

    def chunk(name: bytes, content: bytes) -> bytes:
        whole = name + content
        return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"\0" * 99))
        + chunk(b"IEND", b"")
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    untrained_captions(folder / "shapes")
    untrained_forecast(folder / "arms")
    untrained_forecast(folder / "paths", "task.made=lissajous", "task.measure=displacement", seed=1)
    untrained(folder / "dates", "model.embedding=8", "model.encoder.width=8", "model.decoder.width=16")
    encoded_picture = encoded(picture())
    (folder / "scene.png").write_bytes(encoded_picture)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Here]:
    with here(*(folder / name for name in ("shapes", "arms", "paths", "dates"))) as found:
        yield found


@pytest.fixture(scope="module")
def reach() -> dict[str, Any]:
    source = Arms().reach(np.random.default_rng(3))
    return {"series": source.series.tolist(), "context": source.context.tolist()}


def test_models_say_what_their_sources_and_answers_are(server: Here) -> None:
    models = {one["name"]: one for one in server.get("/v1/models").json["models"]}
    shapes, arms, paths, dates = (models[name] for name in ("shapes", "arms", "paths", "dates"))
    assert shapes["source"]["kind"] == "picture"
    assert (shapes["source"]["grid"], shapes["source"]["size"], shapes["source"]["fit"]) == (
        [4, 4],
        32,
        "crop",
    )
    assert shapes["answer"]["kind"] == dates["answer"]["kind"] == dates["source"]["kind"] == "text"
    assert (arms["source"]["kind"], arms["answer"]["kind"]) == ("series", "series")
    assert (arms["source"]["values"], arms["source"]["context"], arms["source"]["steps"]) == (2, 5, 8)
    assert (paths["source"]["context"], paths["source"]["steps"], arms["source"]["stride"]) == (
        None,
        16,
        None,
    )
    assert paths["source"]["stride"] > 0
    assert "alignments" in dates["returns"]
    assert shapes["returns"] == ["pieces", "scores", "beam", "alternatives", "attention"]
    assert arms["returns"] == ["pieces", "scores", "attention"]
    assert shapes["limits"]["body_bytes"] == 16_000_000


def test_a_context_that_is_too_long_is_refused_as_a_series_is(server: Here, reach: dict[str, Any]) -> None:
    long = {**reach, "context": reach["context"] * 200}
    refusal = server.post("/v1/predict", {"model": "arms", "inputs": [long]})
    assert refusal.status == 422
    assert f"{len(long['context'])} " in refusal.json["error"]


def test_a_picture_is_answered_as_its_file_is(server: Here, folder: Path) -> None:
    own = load(folder / "shapes").predict(str(folder / "scene.png"), beam=3, best=2)
    ask = {"model": "shapes", "inputs": [url((folder / "scene.png").read_bytes())], "beam": 3, "best": 2}
    (found,) = server.post("/v1/predict", {**ask, "return": RETURNS}).json["predictions"]
    assert found["answers"][0]["text"] == own.text
    assert found["answers"][0]["score"] == pytest.approx(own.score, abs=1e-4)
    assert found["source_pieces"] == 16
    assert found["beam"]
    record = found["answers"][0]["attention"]
    assert np.allclose(record["attention"]["cross"]["weights"], own.attention.weights["cross"], atol=1e-5)
    seen = Image.open(io.BytesIO(base64.b64decode(record["source"].partition(",")[2])))
    assert seen.size == (32, 32)  # what the model saw, and not what was sent
    (told,) = [data for name, data in server.events(ask) if name == "prediction"]
    assert told["prediction"]["answers"][0]["text"] == own.text


@pytest.mark.parametrize("format", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM"])
def test_every_common_format_is_read(server: Here, format: str) -> None:
    assert server.texts([url(encoded(picture(), format), "x-any")], model="shapes")


REFUSED: dict[str, tuple[Any, str]] = {
    "a path": ("/etc/passwd", "given as a data URL"),
    "a path of this folder": ("scene.png", "given as a data URL"),
    "a name of the cache": ("$REGARD_CACHE/shapes/images/0.png", "given as a data URL"),
    "a file address": ("file:///etc/passwd", "given as a data URL"),
    "an address": ("http://127.0.0.1:9/x.png", "given as a data URL"),
    "an object with a path": ({"source": "scene.png"}, "given as a data URL"),
    "points": ([[1, 2]], "given as a text"),
    "another data URL": ("data:text/html;base64,aGFsbG8=", "not a data URL of the kind"),
    "no base64": ("data:image/png;base64,???", "not valid base64"),
    "nothing in it": ("data:image/png;base64,", "is empty"),
    "a text in it": (url(b"hello there"), "no picture of a known format"),
    "an SVG": (url(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "svg+xml"), "no picture of a known format"),
    "half of it": (url(encoded(picture())[:900]), "damaged or cut off"),
    "a bomb": (url(png_head(30_000, 30_000)), "may have 50 million pixels"),
    "a larger bomb": (url(png_head(2**31 - 1, 2**31 - 1)), "pixels"),
    "a tiny one": (url(encoded(picture(3, 3))), "3 × 3 pixels, but the model looks at 4 × 4 places"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_picture_is_refused_with_a_sentence(
    server: Here, folder: Path, monkeypatch: pytest.MonkeyPatch, path: str, name: str
) -> None:
    monkeypatch.chdir(folder)  # where scene.png is
    given, said = REFUSED[name]
    reply = server.post(path, {"model": "shapes", "inputs": [url(encoded(picture())), given]})
    assert reply.status == 422, reply.body
    error = json.loads(reply.body.decode())["error"]
    assert said.replace("×", "") in error.replace("\\xd7", "").replace("×", ""), error
    assert error.startswith("Input 1: ")
    assert reply.json["field"] == "inputs.1"


def test_no_file_is_opened_for_whatever_is_asked(
    server: Here, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regard.data import pictures

    opened: list[str] = []
    monkeypatch.setattr(pictures, "_opened", lambda source: opened.append(source))
    for given in (
        "/etc/passwd",
        str(folder / "scene.png"),
        "scene.png",
        "file:scene.png",
        " data:image/png;base64,",
    ):
        for path in PATHS:
            assert server.post(path, {"model": "shapes", "inputs": [given]}).status == 422
    assert opened == []


def test_a_photograph_fits_into_a_request_and_what_is_larger_does_not(server: Here, folder: Path) -> None:
    photograph = encoded(picture(2000, 1400), "JPEG")
    assert len(photograph) > 1_000_000
    assert server.texts([url(photograph, "jpeg")], model="shapes")
    assert server.post("/v1/predict", {"model": "shapes", "inputs": ["x" * 16_000_000]}).status == 413
    with here(folder / "dates") as texts:
        assert texts.get("/v1/models").json["models"][0]["limits"]["body_bytes"] == 1_000_000
        assert texts.post("/v1/predict", {"inputs": ["x" * 1_000_000]}).status == 413
    with here(folder / "shapes", limits={"body_bytes": 2000}) as narrow:
        assert narrow.post("/v1/predict", {"inputs": [url(photograph)]}).status == 413


def test_inputs_that_take_too_long_to_be_read_are_given_up(folder: Path) -> None:
    with here(folder / "shapes", limits={"deadline_seconds": 0.01}) as server:
        reply = server.post("/v1/predict", {"inputs": [url(encoded(Image.new("RGB", (2000, 2000))))] * 20})
        assert reply.status == 503
        assert "retry-after" in reply.headers


def test_a_series_is_answered_as_a_text_as_points_and_as_an_object(server: Here, reach: Any) -> None:
    forms = [json.dumps(reach), reach, {"source": reach}, {"source": json.dumps(reach)}]
    texts = server.texts(forms, model="arms")
    assert len(set(texts)) == 1
    assert read_points(texts[0]).shape == (12, 2)
    own = server.models.get("arms").predictor.predict(json.dumps(reach))
    assert texts[0] == own.text
    path = np.cumsum(np.ones((16, 2)), axis=0).tolist()
    assert len(set(server.texts([path, {"series": path}, json.dumps(path)], model="paths"))) == 1


def test_a_stream_tells_points_as_they_come(server: Here, reach: Any) -> None:
    events = server.events({"model": "arms", "inputs": [reach], "best": 3, "return": ["pieces", "attention"]})
    growing = [data for name, data in events if name == "pieces"]
    (told,) = [data["prediction"] for name, data in events if name == "prediction"]
    whole = read_points(told["answers"][0]["text"])
    assert growing
    for one in growing:
        points = read_points(one["text"])
        assert np.allclose(points, whole[: len(points)], atol=1e-5)
        assert one["pieces"] == [f"+{step}" for step in range(one["at"] + 1, len(points) + 1)]
    assert len(growing[-1]["text"]) <= len(told["answers"][0]["text"]) + 5
    assert len(told["answers"]) == 3
    assert len({answer["text"] for answer in told["answers"]}) == 3
    assert set(told["answers"][0]["attention"]["attention"]) == {"cross", "context"}


LINE = [[float(step), 0.0] for step in range(8)]
NO_SERIES: dict[str, tuple[Any, str]] = {
    "a text": ("hello", "no series in JSON"),
    "a number": ("5", "A series is a list of points"),
    "no points": ([], "no points"),
    "numbers for points": ([1, 2], "not a list of numbers"),
    "a ragged one": ([[1, 2], [3]], "Point 2 of the text has 1 values but the first has 2"),
    "texts for numbers": ([["a", "b"]], "where a number belongs"),
    "truths for numbers": ([[True, 1]], "where a number belongs"),
    "NaN in a text": ("[[NaN, 1]]", "NaN is no number"),
    "a number beyond": ([[1e30, 1]], "beyond 1e+15"),
    "nulls alone": ([[None, None]], "no known value"),
    "too wide": ([[1, 2, 3]] * 8, "3 values here, but 2"),
    "too narrow": ([[1]] * 8, "1 values here, but 2"),
    "no context": (LINE, "trained with one"),
    "too wide a context": ({"series": LINE, "context": [[1, 2]]}, "The context has 2 values here, but 5"),
    "an unknown part": ({"series": LINE, "contxt": [[1]]}, "no part 'contxt'"),
    "deep lists": ([[[[1]]]], "where a number belongs"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", NO_SERIES)
def test_what_is_no_series_is_refused_with_a_sentence(server: Here, path: str, name: str) -> None:
    given, said = NO_SERIES[name]
    reply = server.post(path, {"model": "arms", "inputs": [given]})
    assert reply.status == 422, reply.body
    assert said in reply.json["error"]
    assert reply.json["field"] == "inputs.0"


def test_numbers_that_json_has_not_and_series_that_are_too_long_are_refused(server: Here, reach: Any) -> None:
    for name in ("NaN", "Infinity", "1e999"):
        body = b'{"model": "paths", "inputs": [[[%b, 1]]]}' % name.encode()
        assert server.post("/v1/predict", body).status == 422
    longest = server.models.get("paths").longest_source
    reply = server.post("/v1/predict", {"model": "paths", "inputs": [[[1, 2]] * (longest + 1)]})
    assert reply.status == 422
    assert f"has {longest + 1} points, but at most" in reply.json["error"]
    assert server.post("/v1/predict", {"model": "paths", "inputs": [[[1, 2]] * longest]}).status == 200


@pytest.mark.parametrize(
    ("model", "wish", "said"),
    [
        ("arms", {"prefix": "a"}, "nothing can be asked of it by prefix"),
        ("arms", {"to": "de"}, "nothing can be asked of it by to"),
        ("arms", {"beam": 3}, "no option 'beam'"),
        ("arms", {"return": ["beam"]}, "can't return beam"),
        ("arms", {"return": ["alternatives"]}, "can't return alternatives"),
        ("arms", {"return": ["alignments"]}, "can't return alignments"),
        ("shapes", {"return": ["alignments"]}, "can't return alignments"),
        ("shapes", {"to": "de"}, "one language"),
    ],
)
def test_what_makes_no_sense_for_a_kind_is_refused(
    server: Here, reach: Any, model: str, wish: dict[str, Any], said: str
) -> None:
    given = reach if model == "arms" else url(encoded(picture()))
    reply = server.post("/v1/predict", {"model": model, "inputs": [given], **wish})
    assert reply.status == 422
    assert said in reply.json["error"]


def test_captions_can_be_wished_for(server: Here) -> None:
    source = url(encoded(picture()))
    (text,) = server.texts([source], model="shapes", prefix="two red")
    assert text.startswith("two red")
    (other,) = server.texts([source], model="shapes", forbid=[text.split()[-1]])
    assert text.split()[-1] not in other.split()


def test_examples_are_sources_that_can_be_sent_back(folder: Path, tmp_path: Path) -> None:
    run = untrained_captions(tmp_path / "shapes")
    kept = run / "samples" / "step-000001"
    kept.mkdir(parents=True)
    sources = [str(folder / "scene.png"), str(tmp_path / "gone.png")]
    (kept / "predictions.jsonl").write_text("".join(json.dumps({"source": one}) + "\n" for one in sources))
    with here(run) as server:
        (example,) = server.get("/v1/models").json["models"][0]["examples"]
        assert example.startswith("data:image/png;base64,")
        assert server.texts([example]) == server.texts([url((folder / "scene.png").read_bytes())])
