"""Whatever is sent: a status, a sentence, and a server that goes on."""

import json
from typing import Any

import pytest
from serving import Here

GOOD: dict[str, Any] = {"model": "recurrent", "inputs": ["abc"]}


def body(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


# What is sent, and a part of what is said about it.
REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not JSON"),
    "no JSON": (b"abc", "line 1, column 1"),
    "half of it": (b'{"inputs": ["a"', "not JSON"),
    "two of them": (body() + body(), "not JSON"),
    "not UTF-8": (b'{"inputs": ["\xff\xfe"]}', "byte 14"),
    "UTF-16": ('{"inputs": ["a"]}'.encode("utf-16"), "UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf" + body(), "not JSON"),
    "no object": (b"[1]", "The body should be"),
    "null": (b"null", "The body should be"),
    "a text": (b'"abc"', "The body should be"),
    "NaN": (b'{"inputs": ["a"], "temperature": NaN}', "NaN"),
    "Infinity": (b'{"inputs": ["a"], "temperature": -Infinity}', "Infinity"),
    "a number beyond numbers": (b'{"inputs": ["a"], "temperature": 1e999}', "too large"),
    "a number of 5,000 digits": (b'{"inputs": ["a"], "beam": %b}' % (b"9" * 5000), "too many digits"),
    "a great number": (body(beam=10**30), "beam"),
    "a number below": (body(beam=-1), "beam should be greater"),
    "zero": (body(beam=0), "beam should be greater"),
    "a fraction": (body(beam=2.5), "beam should be"),
    "a number as a text": (body(beam="2"), "beam should be a valid integer"),
    "true as a number": (body(beam=True), "beam should be a valid integer"),
    "a number as true": (body(sample=1), "sample should be"),
    "a null where there is none": (body(inputs=None), "inputs should be"),
    "no inputs": (b'{"model": "recurrent"}', "inputs is missing"),
    "an empty list": (body(inputs=[]), "inputs"),
    "a text for a list": (body(inputs="abc"), "inputs should be"),
    "a number for an input": (body(inputs=["a", 5]), "inputs.1"),
    "a list for an input": (body(inputs=[["a"]]), "Input 0: the model reads texts"),
    "a series for a text": (body(inputs=[{"series": [[1, 2]]}]), "Input 0: the model reads texts"),
    "true for an input": (body(inputs=[True]), "inputs.0 should be a text, a list of points, or an object"),
    "a number for a source": (body(inputs=[{"source": 5}]), "inputs.0.source should be"),
    "an input without a source": (body(inputs=[{"to": "de"}]), "inputs.0.source is missing"),
    "an unknown wish": (body(inputs=[{"source": "a", "forbidden": ["b"]}]), "no field inputs.0.forbidden"),
    "many things that are wrong": (body(inputs=[1] * 100_000), "inputs.0"),
    "many phrases that are wrong": (body(require=[1] * 1000), "require.0"),
    "many fields": (body(**{f"a{number}": 1 for number in range(2000)}), "more than 1,000 fields"),
    "an empty phrase": (body(require=[""]), "require.0"),
    "a blank phrase": (body(forbid=[" "]), "forbid.0"),
    "an unknown field": (body(beem=2), "Did you mean 'beam'?"),
    "a field with an odd name": (body(**{"\x1b[31m" + "x" * 500: 1}), "no field \\x1b[31m"),
    "an unknown part": (body(**{"return": ["everything"]}), "return.0"),
    "an unknown penalty": (body(penalty="none"), "penalty"),
    "NUL": (body(inputs=["a\0b"]), "inputs.0 holds the character NUL"),
    "NUL in a wish": (body(require=["\0"]), "require.0 holds the character NUL"),
    "NUL in a name": (body(**{"a\0b": 1}), "NUL"),
    "half a character": (b'{"model": "recurrent", "inputs": ["\\ud800"]}', "inputs.0 holds half a character"),
    "half a character in a wish": (
        b'{"inputs": [{"source": "a", "prefix": "\\udfff"}]}',
        "prefix holds half",
    ),
    "half a character in a name": (b'{"inputs": ["a"], "\\ud800": 1}', "half a character"),
    "deep lists": (b"[" * 100_000, "brackets inside each other"),
    "deep lists that end": (b'{"inputs": %b%b}' % (b"[" * 500, b"]" * 500), "brackets inside each other"),
    "deep objects": (b'{"a":' * 5000 + b"1" + b"}" * 5000, "brackets inside each other"),
    "sampling without sampling": (body(temperature=0.5), "ask for sampling too"),
    "a beam of samples": (body(sample=True, **{"return": ["beam"]}), "Sampling has no beam"),
    "a temperature of nothing": (
        body(sample=True, temperature=0),
        "temperature should be greater than or equal",
    ),
    "a temperature of almost nothing": (
        body(sample=True, temperature=5e-324),
        "temperature should be greater than or equal",
    ),
    "an exponent beyond numbers": (
        body(length_penalty=805.5),
        "length_penalty should be less than or equal to 10",
    ),
    "a seed beyond": (body(sample=True, seed=2**63), "seed should be less"),
    "an unknown language": (body(to="de"), "one language"),
    "too wide a beam": (body(beam=17), "beam is 17, but at most 16 is allowed"),
    "too many groups": (body(groups=17), "groups is 17"),
    "too many answers": (body(best=17), "best is 17"),
    "too many alternatives": (body(alternatives=21, **{"return": ["alternatives"]}), "alternatives is 21"),
    "too many inputs": (body(inputs=["a"] * 65), "65 inputs, but at most 64"),
    "too long an input": (body(inputs=["a", "b" * 61]), "Input 1 has 61 pieces, but at most 60"),
    "an input of a million letters": (body(inputs=["b" * 900_000]), "900000 characters, but at most 2400"),
    "too many phrases": (body(require=["a"] * 5, forbid=["b"] * 4), "9 phrases, but at most 8"),
    "too long wishes": (body(prefix="a" * 201), "201 characters, but at most 200"),
    "too long an answer": (body(max_length=41), "max_length is 41, but at most 40"),
    "an answer that has to be long": (body(min_length=40), "min_length is 40"),
    "an answer that has to be longer": (body(min_ratio=1000), "pieces, but at most 39"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("path", ["/v1/predict", "/v1/stream"])
def test_what_makes_no_sense_is_refused_in_plain_words(server: Here, path: str, name: str) -> None:
    sent, said = REFUSED[name]
    reply = server.post(path, sent)
    assert reply.status == 422, reply.body
    assert reply.headers["content-type"] == "application/json"
    assert set(reply.json) <= {"error", "field", "found", "most"}
    assert said in reply.json["error"]
    assert len(reply.body) < 1000
    assert reply.body.isascii()


@pytest.mark.parametrize(
    ("name", "field", "found", "most"),
    [
        ("too wide a beam", "beam", 17, 16),
        ("too many alternatives", "alternatives", 21, 20),
        ("too many inputs", "inputs", 65, 64),
        ("too long an input", "inputs.1", 61, 60),
        ("an input of a million letters", "inputs.0", 900_000, 2400),
        ("too many phrases", "inputs.0", 9, 8),
        ("too long wishes", "inputs.0", 201, 200),
        ("too long an answer", "max_length", 41, 40),
    ],
)
def test_a_number_above_its_limit_is_told_beside_the_sentence(
    server: Here, name: str, field: str, found: int, most: int
) -> None:
    reply = server.post("/v1/predict", REFUSED[name][0]).json
    assert (reply["field"], reply["found"], reply["most"]) == (field, found, most)


# Odd, but nothing to refuse.
ANSWERED: dict[str, bytes] = {
    "an empty input": body(inputs=[""]),
    "blanks": body(inputs=[" \t\r\n\u2028"]),
    "control characters": body(inputs=["a\x01\x1b[31m\x7f\ufffe"]),
    "special pieces": body(inputs=["<s></s><pad><unk>"]),
    "markup": body(inputs=["<script>alert(1)</script>"]),
    "letters it never saw": body(inputs=["愛😀🏳️‍🌈"]),
    "marks alone": body(inputs=["\u0301" * 20]),
    "from right to left": body(inputs=["\u202eabc"]),
    "a newline": body(inputs=["a\nb"]),
    "a field twice": b'{"model": "x", "model": "recurrent", "inputs": ["a"]}',
    "many blanks": b" " * 100_000 + body(),
    "the longest input": body(inputs=["a" * 60]),
    "nulls for what is left out": body(beam=None, best=None, to=None),
    "a wish of its own": body(inputs=[{"source": "a", "require": None}], require=["b"]),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_what_is_merely_odd_is_answered(server: Here, name: str) -> None:
    reply = server.post("/v1/predict", ANSWERED[name])
    assert reply.status == 200, reply.body
    assert len(reply.json["predictions"]) == 1


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_a_body_that_says_it_is_something_else_is_refused(server: Here, kind: str) -> None:
    reply = server.ask("POST", "/v1/predict", body(), {"content-type": kind} if kind else {})
    assert reply.status == 415
    assert "application/json" in reply.json["error"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/predict", 405),
        ("DELETE", "/v1/models", 405),
        ("GET", "/nowhere", 404),
        ("POST", "/", 405),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/%2e%2e/%2e%2e/pyproject.toml", 404),
        ("GET", "/%00", 404),
        ("GET", "/" + "a" * 10_000, 404),
        ("BREW", "/v1/models", 400),
    ],
)
def test_other_addresses_and_methods_are_told_so(server: Here, method: str, path: str, status: int) -> None:
    reply = server.ask(method, path)
    assert reply.status == status
    assert reply.json["error"]


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000,
        b"GET /\0 HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_http_is_cut_off_and_the_server_goes_on(server: Here, raw: bytes) -> None:
    with server.socket() as line:
        line.sendall(raw)
        answer = line.recv(1000)
        assert not answer or answer.startswith(b"HTTP/1.1 4")
    assert server.get("/healthz").status == 200
