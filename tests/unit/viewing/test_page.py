import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from regard.core.prediction import AttentionRecord, Prediction
from regard.viewing import as_document, page


class Page(HTMLParser):
    """Elements in order, and what stands inside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, str]] = []
        self.title = ""
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag
        if tag in ("script", "style"):
            self.inside.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open in ("script", "style"):
            tag, before = self.inside[-1]
            self.inside[-1] = (tag, before + data)
        elif self._open == "title":
            self.title += data

    @property
    def data(self) -> dict[str, Any]:
        (text,) = [text for tag, text in self.inside if text.startswith("{")]
        return json.loads(text)


def test_the_page_carries_the_whole_document(many_heads: Prediction) -> None:
    data = Page(page(many_heads)).data
    assert data["prediction"] == as_document(many_heads)
    assert data["labels"] == {"source": ["a", "b"], "target": ["x", "</s>"]}


def test_the_page_leaves_out_attention_that_it_does_not_draw(two_by_three: Prediction) -> None:
    record = two_by_three.attention
    weights = {**record.weights, "self": np.ones((1, 1, 1, 1), np.float32)}
    both = replace(
        two_by_three, attention=AttentionRecord(record.source_pieces, record.target_pieces, weights)
    )
    assert list(Page(page(both)).data["prediction"]["attention"]) == ["cross"]


def test_hostile_pieces_do_not_end_the_script_block(hostile: Prediction) -> None:
    text = page(replace(hostile, text="</title><script>alert(2)</script>{{data}}"))
    read = Page(text)
    assert [tag for tag, _ in read.inside] == ["style", "script", "script"]
    assert read.data["prediction"]["source_pieces"] == as_document(hostile)["source_pieces"]
    assert read.title == "</title><script>alert(2)</script>{{data}} · Regard"
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert block
    assert not re.search(r"[<>&\u2028\u2029]", block[1])
    text.encode("utf-8")


def test_the_policy_allows_the_two_blocks_of_the_page_and_nothing_else(two_by_three: Prediction) -> None:
    read = Page(page(two_by_three))
    (policy,) = [
        attributes["content"]
        for tag, attributes in read.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    digests = {
        tag: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for tag, text in read.inside
        if not text.startswith("{")
    }
    assert policy is not None
    assert dict(part.split(" ", 1) for part in policy.split("; ")) == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digests['style']}'",
        "script-src": f"'sha256-{digests['script']}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_the_policy_stands_before_anything_that_it_governs(two_by_three: Prediction) -> None:
    tags = [tag for tag, _ in Page(page(two_by_three)).elements]
    assert tags[:4] == ["html", "head", "meta", "meta"]
    assert tags.index("style") > 3


@pytest.mark.parametrize(
    "pattern", [r"https?:", r"\bsrc=", r"\bhref=", r"url\(", r"@import", r"innerHTML", r"\beval\b"]
)
def test_nothing_is_fetched_and_no_text_becomes_markup(two_by_three: Prediction, pattern: str) -> None:
    assert not re.search(pattern, page(two_by_three))


def test_without_scripts_the_texts_can_still_be_read(hostile: Prediction) -> None:
    text = page(replace(hostile, source="a <b>", text="answer & more"))
    assert "<dd>a &lt;b&gt;</dd>" in text
    assert "<dd>answer &amp; more</dd>" in text


def test_the_page_says_what_of_a_long_source_was_not_read(two_by_three: Prediction) -> None:
    assert "were not read" not in page(two_by_three)
    assert "1,097 of its pieces were not read" in page(replace(two_by_three, unread=1097))


def test_of_an_ensemble_the_page_has_the_mean_of_the_looks(two_by_three: Prediction) -> None:
    one = two_by_three.attention.weights["cross"]
    record = replace(two_by_three.attention, weights={"cross.1": one, "cross.2": one[..., ::-1].copy()})
    shown = Page(page(replace(two_by_three, attention=record))).data["prediction"]["attention"]
    assert list(shown) == ["cross"]
    assert shown["cross"]["shape"] == [1, 1, 2, 3]
    assert shown["cross"]["weights"][0][0][0] == pytest.approx([0.4, 0.2, 0.4])
