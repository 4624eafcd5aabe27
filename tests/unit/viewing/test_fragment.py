import re
from html.parser import HTMLParser

import numpy as np

from regard.core.prediction import Prediction
from regard.viewing import TextView
from regard.viewing.colours import hexadecimal


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_cells_are_coloured_by_weight_and_say_it(two_by_three: Prediction) -> None:
    tags = Tags(TextView().html(two_by_three))
    fills = [attributes["fill"] for tag, attributes in tags.seen if tag == "rect"]
    assert fills == [hexadecimal(np.float32(w)) for w in (0.1, 0.2, 0.7, 0.9, 0.06, 0.04)]
    assert "x looked at c: 0.700" in tags.words
    assert "y looked at ␣: 0.060" in tags.words
    assert any("log-probability −0.250" in words for words in tags.words)


def test_cells_too_pale_to_see_are_left_out(predict) -> None:
    tags = Tags(TextView().html(predict(["a", "b"], ["x"], [[[[0.999, 0.001]]]])))
    assert sum(tag == "rect" for tag, _ in tags.seen) == 1


def test_hidden_special_pieces_are_not_in_the_drawing(many_heads: Prediction) -> None:
    assert "&lt;/s&gt;" in TextView().html(many_heads)
    assert "&lt;/s&gt;" not in TextView(hide_special=True).html(many_heads)


def test_hostile_pieces_stay_text_and_nothing_runs_or_loads(hostile: Prediction) -> None:
    fragment = TextView().html(hostile)
    fragment.encode("utf-8")
    tags = Tags(fragment)
    assert {tag for tag, _ in tags.seen} <= {"div", "strong", "span", "svg", "text", "rect", "title", "path"}
    assert not any(name.startswith("on") for _, attributes in tags.seen for name in attributes)
    assert not re.search(r"src=|href=|url\(", fragment)
