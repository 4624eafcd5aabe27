import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from regard.core.prediction import BeamNode, Prediction
from regard.viewing import page
from regard.viewing.tree_page import MOST, tree_page


class Drawing(HTMLParser):
    """The nodes of the tree: attributes, then those of their box, the words of title and text."""

    def __init__(self, section: str) -> None:
        super().__init__()
        self.nodes: list[dict[str, str]] = []
        self.tags: list[str] = []
        self._open = ""
        self.feed(section)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self._open = tag
        if attributes.get("role") == "treeitem":
            self.nodes.append({**attributes, "title": "", "text": ""})
        elif attributes.get("class") == "box" and self.nodes:
            self.nodes[-1] |= {name: attributes[name] for name in ("x", "y", "width", "height")}

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self.nodes and self._open in ("title", "text"):
            self.nodes[-1][self._open] += data

    def place(self, node: dict[str, str]) -> tuple[float, float, float, float]:
        left, top = float(node["x"]), float(node["y"])
        return left, top, left + float(node["width"]), top + float(node["height"])


def test_every_node_is_drawn_once_with_its_numbers(small_beam: Prediction) -> None:
    nodes = {int(node["data-number"]): node for node in Drawing(tree_page(small_beam)).nodes}
    assert sorted(nodes) == list(range(8))
    assert [nodes[number]["text"] for number in range(8)] == ["a", "b", "c", "x", "y", "</s>", "</s>", "</s>"]
    assert nodes[4]["data-parent"] == "0"
    assert nodes[4]["title"] == (  # exp(-1 + 0.125)
        "“y”, step 2, kept: log-probability −1.000, rank −0.750; probability of this piece here 41.7 %"
    )
    assert "step 3, the answer: " in nodes[6]["title"]
    assert "step 1, in the answer: " in nodes[1]["title"]
    assert "step 1, pruned: " in nodes[2]["title"]


def test_what_became_of_a_node_is_in_its_kind_and_finished_has_two_outlines(small_beam: Prediction) -> None:
    section = tree_page(small_beam)
    kinds = [node["class"] for node in sorted(Drawing(section).nodes, key=lambda node: node["data-number"])]
    assert kinds == [
        *("node kept", "node kept answer", "node pruned", "node kept answer", "node kept"),
        *("node finished", "node finished answer", "node pruned"),
    ]
    assert section.count('class="inner"') == 3  # two answers and the legend


@pytest.mark.parametrize("seed", range(5))
def test_boxes_do_not_touch_and_parents_are_left_of_children(random_beam, seed: int) -> None:
    prediction = random_beam(seed, width=6, steps=9)
    drawing = Drawing(tree_page(prediction))
    assert len(drawing.nodes) == len(prediction.beam)
    places = {node["data-number"]: drawing.place(node) for node in drawing.nodes}
    for node in drawing.nodes:
        left, top, right, bottom = places[node["data-number"]]
        assert left > 0
        if "data-parent" in node:
            assert places[node["data-parent"]][2] + 20 < left
        for number, other in places.items():
            if number != node["data-number"]:
                assert other[2] <= left or other[0] >= right or other[3] <= top or other[1] >= bottom


def test_every_edge_goes_from_the_parent_to_the_child(small_beam: Prediction) -> None:
    section = tree_page(small_beam)
    drawing = Drawing(section)
    places = {node["data-number"]: drawing.place(node) for node in drawing.nodes}
    parents = {node["data-number"]: node.get("data-parent") for node in drawing.nodes}
    edges = re.findall(r'data-number="(\d+)" d="M([\d.]+) ([\d.]+)H.*?([\d.]+) ([\d.]+)"', section)
    assert len(edges) == 8
    for number, *ends in edges:
        x, y, goal_x, goal_y = map(float, ends)
        left, top, _, bottom = places[number]
        assert (goal_x, goal_y) == (left, (top + bottom) / 2)
        if (parent := parents[number]) is not None:
            _, top, right, bottom = places[parent]
            assert (x, y) == pytest.approx((right, (top + bottom) / 2), abs=0.01)


def test_nodes_are_read_depth_first_and_one_can_be_reached_by_tab(small_beam: Prediction) -> None:
    nodes = Drawing(tree_page(small_beam)).nodes
    assert [int(node["data-number"]) for node in nodes] == [1, 3, 6, 0, 4, 7, 5, 2]
    assert [node["tabindex"] for node in nodes] == ["0"] + ["-1"] * 7
    assert [node["aria-level"] for node in nodes] == ["1", "2", "3", "1", "2", "3", "2", "1"]


def test_a_large_beam_is_bounded_and_says_so(random_beam) -> None:
    prediction = random_beam(1, width=60, steps=30)
    section = tree_page(prediction)
    assert len(Drawing(section).nodes) == MOST
    assert f"The {len(prediction.beam) - MOST:,} least likely are not drawn." in section


def test_hostile_pieces_stay_text(small_beam: Prediction) -> None:
    attacks = (
        "</title><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "&lt;b&gt;",
        "{{data}}",
        "\ud800\0",
    )
    nodes = tuple(
        replace(node, piece=attacks[number % len(attacks)]) for number, node in enumerate(small_beam.beam)
    )
    hostile = replace(small_beam, beam=nodes)
    section = tree_page(hostile)
    drawing = Drawing(section)
    assert drawing.tags == Drawing(tree_page(small_beam)).tags or not {"script", "img", "b"} & set(
        drawing.tags
    )
    shown = {int(node["data-number"]): node["text"] for node in drawing.nodes}
    assert shown[2] == "&lt;b&gt;"
    assert shown[3] == "{{data}}"
    assert shown[4] == "\\ud800\\x00"
    whole = page(hostile)
    assert whole.count("<script") == 2
    assert "{{data}}</text>" in whole
    whole.encode("utf-8")


def test_a_hostile_fate_stays_an_attribute(small_beam: Prediction) -> None:
    nodes = (BeamNode(None, "a", -1.0, -1.0, '"><script>', 1),)
    assert "<script" not in tree_page(replace(small_beam, beam=nodes))


def test_the_page_draws_the_tree_where_one_was_recorded(small_beam: Prediction) -> None:
    with_tree, without = page(small_beam), page(replace(small_beam, beam=None))
    assert tree_page(small_beam) in with_tree
    for part in ('class="beam"', ".branches", "treeitem"):
        assert part in with_tree
        assert part not in without
    assert '"beam":' not in with_tree  # it is not there a second time as data


def test_no_style_stands_in_an_attribute_where_the_policy_would_stop_it(small_beam: Prediction) -> None:
    assert not re.search(r"\sstyle=|\son\w+=", tree_page(small_beam))
