"""LibreTranslate's clients can be used as they are."""

import urllib.error
from pathlib import Path
from typing import Any

import pytest
from libretranslatepy import LibreTranslateAPI
from serving import Here, here

import regard
from regard.core.prediction import Request
from regard.server import libretranslate

ASK = {"q": "abc", "source": "en", "target": "de"}


@pytest.fixture
def client(server: Here) -> LibreTranslateAPI:
    return LibreTranslateAPI(f"http://127.0.0.1:{server.port}/")


def test_its_python_client_lists_languages_and_translates(client: LibreTranslateAPI, runs: Path) -> None:
    assert client.languages() == [
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": ["de", "fr"]},
        {"code": "fr", "name": "French", "targets": ["en"]},
    ]
    assert (
        client.translate("Größe & so", "en", "de") == regard.load(runs / "en-de").predict("Größe & so").text
    )
    asked = Request("abc", to="fr")
    assert client.translate("abc", "en", "fr") == regard.load(runs / "many").predict(asked).text


def test_what_can_not_be_detected_is_not_offered(client: LibreTranslateAPI) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        client.detect("abc")


def test_lines_are_translated_one_by_one_and_stay_lines(server: Here) -> None:
    one, other = (server.post("/translate", {**ASK, "q": q}).json["translatedText"] for q in ("abc", "xyz"))
    whole = server.post("/translate", {**ASK, "q": "abc\n\nxyz"}).json["translatedText"]
    assert whole == f"{one}\n\n{other}"
    assert server.post("/translate", {**ASK, "q": "abc\r\n\r\nxyz"}).json["translatedText"] == whole


def test_several_texts_and_other_translations(server: Here, runs: Path) -> None:
    reply = server.post("/translate", {**ASK, "q": ["abc", "xyz"], "alternatives": 2}).json
    expected = regard.load(runs / "en-de").predict(["abc", "xyz"], best=3)
    assert reply["translatedText"] == [one.text for one in expected]
    assert reply["alternatives"] == [[other.text for other in one.alternatives] for one in expected]
    single = server.post("/translate", {**ASK, "alternatives": 2}).json
    assert single["alternatives"] == reply["alternatives"][0]
    assert set(server.post("/translate", ASK).json) == {"translatedText"}


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"target": "xx"}, 400, "Nothing here translates from 'en' to 'xx'"),
        ({"source": "auto"}, 400, "not detected here"),
        ({"format": "html"}, 400, "plain text"),
        ({"format": "pdf"}, 422, "format"),
        ({"q": None}, 422, "q should be"),
        ({"q": ["a", 5]}, 422, "q.1"),
        ({"q": "a\0"}, 422, "NUL"),
        ({"q": ["a"] * 65}, 422, "65 inputs"),
        ({"q": "a\n" * 65}, 422, "66 inputs"),
        ({"q": "a" * 100}, 422, "100 pieces"),
        ({"alternatives": 16}, 422, "best is 17"),
        ({"alternatives": "many"}, 422, "alternatives"),
    ],
)
def test_what_is_not_served_is_told_in_its_words(
    server: Here, changes: dict[str, Any], status: int, said: str
) -> None:
    reply = server.post("/translate", {**ASK, **changes})
    assert reply.status == status, reply.body
    assert said in reply.json["error"]


@pytest.mark.parametrize("q", ["a\n" * 10_000, ["\n" * 40, "\n" * 40]])
def test_lines_are_counted_before_anything_is_made_of_them(
    server: Here, monkeypatch: pytest.MonkeyPatch, q: str | list[str]
) -> None:
    made: list[str] = []
    monkeypatch.setattr(libretranslate, "Asked", lambda line, **_: made.append(line))
    reply = server.post("/translate", {**ASK, "q": q})
    lines = 10_001 if isinstance(q, str) else 82
    assert (reply.status, reply.json["field"]) == (422, "inputs")
    assert (reply.json["found"], reply.json["most"]) == (lines, 64)
    assert not made


def test_where_one_model_alone_answers_in_a_language_nobody_has_to_know_the_source(runs: Path) -> None:
    with here(runs / "en-de") as server:
        expected = server.post("/translate", ASK).json
        assert server.post("/translate", {**ASK, "source": "auto"}).json == expected


def test_a_server_without_translations_says_so(one: Here) -> None:
    assert one.get("/languages").json == []
    assert one.post("/translate", ASK).status == 400
    assert one.get("/health").json == {"status": "ok"}


@pytest.mark.parametrize(("changes", "status"), [({"q": []}, 200), ({"alternatives": 1000}, 422)])
def test_nothing_to_translate_is_nothing_and_too_many_alternatives_are_refused(
    server: Here, changes: dict[str, object], status: int
) -> None:
    reply = server.post("/translate", {**ASK, **changes})
    assert reply.status == status
    if status == 200:
        assert reply.json == {"translatedText": []}
