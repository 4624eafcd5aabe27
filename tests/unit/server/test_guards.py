"""Keys, names, headers, logs."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Here, here

from regard.server.desk import Desk
from regard.server.guards import Bodies, Keys, own_hosts

ASK = {"inputs": ["a secret"]}
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def guarded(runs: Path) -> Iterator[Here]:
    with here(
        runs / "en-de", keys=("first key", "second"), origins=("https://example.org",), hosts=("regard.test",)
    ) as found:
        yield found


@pytest.mark.parametrize("path", ["/v1/models", "/metrics"])
def test_without_a_key_nothing_is_told(guarded: Here, path: str) -> None:
    for headers in ({}, {"authorization": "Bearer first"}, {"x-api-key": "first keys"}, {"x-api-key": "é"}):
        reply = guarded.get(path, **headers)
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert guarded.get(path, authorization="Bearer first key").status == 200
    assert guarded.get(path, **{"x-api-key": "second"}).status == 200


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/stream"])
def test_without_a_key_nothing_is_answered(guarded: Here, path: str) -> None:
    assert guarded.post(path, ASK).status == 401
    assert guarded.post(path, ASK, authorization="bearer second").status == 200


def test_the_key_of_libretranslate_stands_in_the_body(guarded: Here) -> None:
    ask = {"q": "abc", "source": "en", "target": "de"}
    assert guarded.post("/translate", ask).status == 403
    assert guarded.post("/translate", {**ask, "api_key": "third"}).status == 403
    assert guarded.post("/translate", {**ask, "api_key": "second"}).status == 200
    assert guarded.post("/translate", ask, authorization="Bearer second").status == 200
    assert guarded.ask("POST", "/translate", b"q=a&source=en&target=de&api_key=first+key", FORM).status == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/health", "/languages", "/"])
def test_health_and_the_page_need_no_key(guarded: Here, path: str) -> None:
    assert guarded.get(path).status == 200


@pytest.mark.parametrize("path", ["/docs", "/docs/style.css", "/openapi.json"])
def test_what_the_api_is_needs_no_key_for_a_link_can_not_send_one(guarded: Here, path: str) -> None:
    assert guarded.get(path).status == 200


def test_a_key_is_compared_as_a_whole() -> None:
    keys = Keys(["abc"])
    assert keys.fit("abc")
    assert not any(map(keys.fit, ["", "ab", "abcd", "ABC", "äbc", "\ud800"]))
    assert Keys([]).fit("anything")


def test_only_a_site_that_was_named_may_call_from_its_pages(guarded: Here, server: Here) -> None:
    def allowed(asked: Here, origin: str) -> str | None:
        return asked.get("/healthz", origin=origin).headers.get("access-control-allow-origin")

    assert allowed(guarded, "https://example.org") == "https://example.org"
    assert allowed(guarded, "https://evil.example") is None
    assert allowed(server, "https://example.org") is None


def test_no_page_from_elsewhere_makes_a_server_work(guarded: Here, server: Here) -> None:
    """A form goes to another site without asking first."""
    form = {"content-type": "application/x-www-form-urlencoded"}

    def status(asked: Here, **headers: str) -> int:
        return asked.ask(
            "POST", "/translate", b"q=abc&source=en&target=de", headers={**form, **headers}
        ).status

    here = f"127.0.0.1:{server.port}"
    assert status(server, host=here) == 200  # a program
    assert status(server, host=here, origin=f"http://{here}") == 200
    assert status(server, host=here, origin="http://localhost:3000") == 200
    assert status(server, host=here, origin="https://evil.example") == 403
    assert status(server, host=here, origin="null") == 403
    assert (
        status(server, host=here, origin="https://proxy.example", **{"sec-fetch-site": "same-origin"}) == 200
    )
    assert guarded.post("/v1/predict", ASK, origin="https://evil.example").status == 403


def test_a_browser_may_ask_without_a_key_whether_a_site_may_call(guarded: Here) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    reply = guarded.ask("OPTIONS", "/v1/predict", headers={"origin": "https://example.org", **asked})
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, "https://example.org")
    reply = guarded.ask("OPTIONS", "/v1/predict", headers={"origin": "https://evil.example", **asked})
    assert "access-control-allow-origin" not in reply.headers
    assert guarded.post("/v1/predict", ASK, origin="https://example.org").status == 401


def test_on_the_loopback_only_names_that_are_known_are_answered(guarded: Here) -> None:
    assert guarded.get("/healthz", host="regard.test:80").status == 200
    assert guarded.get("/healthz", host="localhost").status == 200
    assert guarded.get("/healthz", host="evil.example").status == 421


@pytest.mark.parametrize(
    ("address", "others", "expected"),
    [
        ("127.0.0.1", [], {"localhost", "127.0.0.1", "[::1]"}),
        ("::1", ["a"], {"localhost", "127.0.0.1", "[::1]", "::1", "a"}),
        ("0.0.0.0", [], set()),
        ("10.0.0.7", ["a.example"], {"a.example"}),
        ("my.host", [], set()),
    ],
)
def test_where_others_can_reach_it_any_name_will_do(
    address: str, others: list[str], expected: set[str]
) -> None:
    assert set(own_hosts(address, others)) == expected


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/models", "/nowhere", "/healthz"])
def test_every_response_bears_the_headers_of_security(server: Here, path: str) -> None:
    headers = server.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers


@pytest.mark.parametrize(("log", "told"), [("nothing", 0), ("requests", 1), ("texts", 1)])
def test_logs_hold_no_text_of_anybody_unless_that_is_asked_for(
    runs: Path, caplog: pytest.LogCaptureFixture, log: str, told: int
) -> None:
    with caplog.at_level(logging.DEBUG), here(runs / "recurrent", log=log) as server:
        server.post("/v1/predict", ASK)
        server.post("/v1/predict", {"inputs": ["a secret" * 100]})
        server.post("/v1/predict", {"a secret": 1})
        server.get("/a-secret?q=a+secret")
    lines = [one.getMessage() for one in caplog.records if one.name == "regard.server"]
    assert len(lines) == 4 * told
    assert ("secret" in caplog.text) == (log == "texts")
    if told:
        assert lines[0].startswith("POST /v1/predict 200 ")
        assert "recurrent, 1 input" in lines[0]


@pytest.mark.parametrize("broken", [(Desk, "admitted"), (Bodies, "_read")])
def test_a_mistake_of_ours_is_a_refusal_like_others_and_only_its_place_is_logged(
    one: Here,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    broken: tuple[type, str],
) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(*broken, failing)
    reply = one.post("/v1/predict", ASK)
    assert (reply.status, reply.headers["content-type"]) == (500, "application/json")
    assert reply.json == {"error": "The server failed. It goes on."}
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    monkeypatch.undo()
    assert 'regard_requests_total{path="/v1/predict",status="500"} 1' in one.get("/metrics").body.decode()
    assert "failed with RuntimeError at" in caplog.text
    assert "secret" not in caplog.text
    assert one.texts(["abc"])
