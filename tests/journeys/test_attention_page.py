"""The stand-alone page in a real browser, opened from a disk."""

import json
import re
import subprocess
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from browsing import CHROMIUM, OPTIONS, needs_chromium

from regard.core.prediction import AttentionRecord, BeamNode, Prediction
from regard.core.words import Words
from regard.viewing import save

pytestmark = needs_chromium


def browse(page: Path, *options: str) -> str:
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        *OPTIONS,
        "--hide-scrollbars",
        f"--user-data-dir={page.parent / 'profile'}",
        *options,
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True, cwd=page.parent)
    return done.stdout.decode("utf-8")


def predict(source: tuple[str, ...], target: tuple[str, ...], weights: np.ndarray) -> Prediction:
    record = AttentionRecord(source, target, {"cross": weights.astype(np.float32)})
    return Prediction("".join(source), "".join(target[:-1]), target[:-1], -0.5, record)


class Dom(HTMLParser):
    """Every element with its attributes and the text it begins with."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str], list[str]]] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}, []))
        self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1][2].append(data)

    def texts(self, **wanted: str) -> list[str]:
        return [
            "".join(text)
            for _, attributes, text in self.found
            if all(value in attributes.get(name, "").split() for name, value in wanted.items())
        ]


def test_the_page_draws_its_cells_and_pickers_from_a_file(tmp_path: Path) -> None:
    weights = np.zeros((2, 2, 2, 3))
    weights[:, :, 0] = [0.25, 0.5, 0.25]
    weights[:, :, 1] = [0, 0, 1]
    weights[1, 1, 1] = [1, 0, 0]
    save(predict(("a", " ", "c"), ("x", "</s>"), weights), tmp_path / "map.html")
    dom = Dom(browse(tmp_path / "map.html", "--dump-dom"))
    assert dom.texts(role="gridcell") == ["0.250", "0.500", "0.250", "0.250", "0.000", "0.750"]
    assert dom.texts(role="option") == ["a", " ", "c", "x", "</s>"]
    assert [attributes["name"] for tag, attributes, _ in dom.found if attributes.get("type") == "radio"] == (
        ["layer"] * 3 + ["head"] * 3
    )
    assert "−0.500" in [text for tag, _, texts in dom.found if tag == "b" for text in texts]


def act(page: Path, script: str) -> Dom:
    """The page after a person did something: the policy is lifted so that the test's hand can reach in."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    page.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return Dom(browse(page, "--dump-dom"))


WEIGHTS = np.array([[[[0.1, 0.2, 0.7], [0.9, 0.06, 0.04]], [[0, 0, 1], [0, 0, 1]]]])  # one layer, two heads
DEEDS = """
  const said = [];
  const find = (selector) => document.querySelector(selector);
  const point = (selector) => find(selector).dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
  const press = (key) =>
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  const listen = () => said.push([...find("#readout").childNodes].map(
    (node) => node.nodeName === "Q" ? "‘" + node.textContent + "’" : node.textContent).join(""));
  point('#answer [data-at="0"]'); listen();
  point('#source [data-at="2"]'); listen();
  find('.cell[tabindex="0"]').focus(); press("ArrowDown"); press("End"); listen();
  document.querySelectorAll("input[name=head]")[1].click();  // the mean stands before head 0
  point('.cell[data-row="1"][data-column="0"]'); listen();
  document.body.dataset.said = JSON.stringify(said);
"""


def test_pointing_and_arrow_keys_say_where_it_looked(tmp_path: Path) -> None:
    page = save(predict(("a", "b", "c"), ("x", "</s>"), WEIGHTS), tmp_path / "map.html")
    (body,) = [attributes for tag, attributes, _ in act(page, DEEDS).found if tag == "body"]
    assert json.loads(body["data-said"]) == [
        "‘x’ looked at ‘c’ 0.850, ‘b’ 0.100, ‘a’ 0.050",
        "‘c’ was looked at by ‘x’ 0.850, ‘</s>’ 0.520",
        "‘</s>’ looked at ‘c’ with weight 0.520",
        "‘</s>’ looked at ‘a’ with weight 0.900",
    ]


def long_prediction() -> Prediction:
    """Seventy words of two pieces each; a title of one word in two pieces, which look at the third word."""
    source = tuple(piece for number in range(70) for piece in (f"▁w{number}", "x"))
    weights = np.zeros((1, 1, 3, len(source) + 1))
    weights[:, :, 0, 4], weights[:, :, 0, 9] = 0.75, 0.25
    weights[:, :, 1, 5] = weights[:, :, 2, 0] = 1
    texts = tuple(f"w{number}x" for number in range(70))
    record = AttentionRecord(
        (*source, "</s>"),
        ("▁Ti", "tle", "</s>"),
        {"cross": weights.astype(np.float32)},
        Words(texts, (*((number // 2,) for number in range(140)), None)),
        Words(("Title",), ((0,), (0,), None)),
    )
    return Prediction(" ".join(texts), "Title", ("▁Ti", "tle"), -0.5, record)


READING = """
  const said = [document.querySelector("#readout").textContent, document.querySelector("#source").textContent];
  const lit = [...document.querySelectorAll("#source .lit:not(.faint)")].map((one) => one.dataset.at).join(" ");
  const zoom = document.querySelector("#zoom"), grid = document.querySelector("#grid");
  const wide = () => document.querySelector(".cell").getBoundingClientRect().width;
  const before = wide(); zoom.value = 30; zoom.dispatchEvent(new Event("input"));
  const page = document.documentElement;
  document.body.dataset.said = JSON.stringify(
    [...said, lit, before < 12, wide(), page.scrollWidth <= page.clientWidth]);
"""


def test_a_long_source_is_read_as_a_text_by_words_and_its_map_zooms_in_its_own_box(tmp_path: Path) -> None:
    page = save(long_prediction(), tmp_path / "long.html")
    (body,) = [attributes for tag, attributes, _ in act(page, READING).found if tag == "body"]
    readout, text, lit, narrow, wide, within = json.loads(body["data-said"])
    assert readout == "Title looked at w2x 0.875, w4x 0.125"
    assert text.startswith("w0x w1x w2x w3x")
    assert lit == "4 5 8 9"
    assert (narrow, wide, within) == (True, 30, True)


def test_special_pieces_can_be_hidden_on_the_page(tmp_path: Path) -> None:
    page = save(predict(("a", "b", "c"), ("x", "</s>"), WEIGHTS), tmp_path / "map.html")
    dom = act(page, "document.querySelector('.switch input').click()")
    assert dom.texts(role="gridcell") == ["0.050", "0.100", "0.850"]
    assert dom.texts(role="option") == ["a", "b", "c", "x"]


def test_a_hostile_piece_does_not_run(tmp_path: Path) -> None:
    attack = "</script><script>document.title='taken'</script><img src=x onerror=document.title='taken'>"
    save(
        predict((attack, "<!--", "\u2028"), (attack, "</s>"), np.full((1, 1, 2, 3), 1 / 3)),
        tmp_path / "map.html",
    )
    text = browse(tmp_path / "map.html", "--dump-dom")
    dom = Dom(text)
    (title,) = [texts for tag, _, texts in dom.found if tag == "title"]
    assert "".join(title).startswith("</script><script>document.title=")
    assert not [tag for tag, _, _ in dom.found if tag == "img"]
    assert sum(tag == "script" for tag, _, _ in dom.found) == 2
    assert len(dom.texts(role="gridcell")) == 6  # and the page still drew its map
    assert not re.search(r"<title>taken", text)


def test_a_script_that_slips_in_is_stopped_by_the_policy(tmp_path: Path) -> None:
    page = save(predict(("a",), ("x", "</s>"), np.ones((1, 1, 2, 1))), tmp_path / "map.html")
    page.write_text(page.read_text().replace("</body>", "<script>document.title='taken'</script></body>"))
    assert "<title>taken" not in browse(page, "--dump-dom")


def test_a_model_without_attention_gets_a_sentence(tmp_path: Path) -> None:
    prediction = Prediction("ab", "x", ("x",), -0.5, AttentionRecord(("a", "b"), ("x", "</s>"), {}))
    dom = Dom(browse(save(prediction, tmp_path / "map.html"), "--dump-dom"))
    assert dom.texts(id="notice") == ["No attention to draw: none was recorded, or this model has none."]
    assert dom.texts(role="option") == ["a", "b", "x", "</s>"]


@pytest.mark.parametrize(("scheme", "bright"), [("1", True), ("0", False)])
def test_the_page_follows_the_light_or_dark_of_the_system(tmp_path: Path, scheme: str, bright: bool) -> None:
    page = save(predict(("a", "b"), ("x", "</s>"), np.eye(2)[None, None]), tmp_path / "map.html")
    picture = tmp_path / "page.png"
    browse(
        page,
        f"--screenshot={picture}",
        "--window-size=600,600",
        f"--blink-settings=preferredColorScheme={scheme}",
    )
    pixels = matplotlib.image.imread(picture)[:, :, :3]
    assert (np.median(pixels) > 0.5) == bright
    assert pixels.max() - pixels.min() > 0.6  # something is drawn on it


def with_a_beam(pieces: str = "xy", steps: int = 1) -> Prediction:
    """Two hypotheses that go on for so many steps, side by side; the second is the answer."""
    first, second = pieces
    nodes = []
    for step in range(1, steps + 1):
        parent = (2 * step - 4, 2 * step - 3) if step > 1 else (None, None)
        nodes += [
            BeamNode(parent[0], first, -0.25 * step, -0.25, "kept", step),
            BeamNode(parent[1], second, -0.5 * step, -0.5, "kept", step),
        ]
    nodes += [
        BeamNode(2 * steps - 2, "</s>", -9.0, -3.0, "pruned", steps + 1),
        BeamNode(2 * steps - 1, "</s>", -0.75, -0.375, "finished", steps + 1),
    ]
    target = (second,) * steps + ("</s>",)
    answer = predict(("a", "b"), target, np.full((1, 1, len(target), 2), 0.5))
    return replace(answer, score=-0.75, beam=tuple(nodes))


def said(page: Path, script: str) -> list[str]:
    (body,) = [attributes for tag, attributes, _ in act(page, script).found if tag == "body"]
    found: list[str] = json.loads(body["data-said"])
    return found


WALK = """
  const said = [];
  const find = (selector) => document.querySelector(selector);
  const press = (key) =>
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  const listen = () => {
    const on = [...document.querySelectorAll(".branches .on text")].map((text) => text.textContent).join("");
    said.push(on + ": " + find("#branch").textContent);
  };
  listen();
  find('.node[tabindex="0"]').focus(); listen();
  press("ArrowDown"); listen();
  press("ArrowRight"); listen();
  press("ArrowRight");                          // nothing goes on from here
  press("ArrowUp"); listen();
  press("Home"); press("End"); press("ArrowLeft"); listen();
  press("Escape"); listen();
  find(".branches .node.pruned").dispatchEvent(new PointerEvent("pointerover", {bubbles: true})); listen();
  find("h1").dispatchEvent(new PointerEvent("pointerover", {bubbles: true})); listen();
  said.push(document.querySelectorAll('.branches [tabindex="0"]').length);
  document.body.dataset.said = JSON.stringify(said);
"""


def test_the_tree_of_a_beam_is_walked_by_keys_and_says_its_titles(tmp_path: Path) -> None:
    summary = "4 hypotheses in 2 steps: 2 kept, 1 finished, 1 pruned."
    start = "y: “y”, step 1, in the answer: log-probability −0.500, rank −0.500; probability of this piece here 60.7 %"
    pruned = "x</s>: “</s>”, step 2, pruned: log-probability −9.000, rank −3.000; probability of this piece here 0.0 %"
    assert said(save(with_a_beam(), tmp_path / "map.html"), WALK) == [
        f": {summary}",
        start,
        "x: “x”, step 1, kept: log-probability −0.250, rank −0.250; probability of this piece here 77.9 %",
        pruned,
        "y</s>: “</s>”, step 2, the answer: log-probability −0.750, rank −0.375; "
        "probability of this piece here 77.9 %",
        start,
        f": {summary}",
        pruned,
        f": {summary}",
        1,
    ]


def test_the_nodes_of_the_tree_have_names_and_titles_for_everybody(tmp_path: Path) -> None:
    page = save(with_a_beam("<&"), tmp_path / "map.html")
    script = """document.body.dataset.said = JSON.stringify([...document.querySelectorAll(".branches .node")]
      .map((node) => [node.computedRole, node.computedName, node.querySelector("title").textContent]));"""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    page.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    dom = Dom(browse(page, "--dump-dom", "--enable-blink-features=ComputedAccessibilityInfo"))
    (body,) = [attributes for tag, attributes, _ in dom.found if tag == "body"]
    nodes = json.loads(body["data-said"])
    assert [title[:3] for _, _, title in nodes] == ["“&”", "“</", "“<”", "“</"]
    assert all(role == "treeitem" and name == title for role, name, title in nodes)


@pytest.mark.parametrize("width", [360, 1200])
def test_a_long_tree_scrolls_in_its_own_box_and_never_the_page(tmp_path: Path, width: int) -> None:
    inner = save(with_a_beam(steps=60), tmp_path / "map.html").read_text(encoding="utf-8")
    measure = """const page = frame.contentDocument.documentElement, box = page.querySelector(".branches");
      document.body.dataset.said = JSON.stringify(
        [page.clientWidth, page.scrollWidth, box.clientWidth < page.clientWidth, box.scrollWidth > 2000])"""
    outer = tmp_path / "outer.html"  # a window of the browser cannot be as narrow as a phone, a frame can
    outer.write_text(
        f'<!doctype html><body><iframe id="frame" width="{width}" height="800" frameborder="0" '
        f'srcdoc="{escape(inner)}"></iframe><script>frame.onload = () => {{ {measure} }}</script>',
        encoding="utf-8",
    )
    (body,) = [attributes for tag, attributes, _ in Dom(browse(outer, "--dump-dom")).found if tag == "body"]
    assert json.loads(body["data-said"]) == [width, width, True, True]


def test_kept_pruned_and_finished_look_different_without_colours(tmp_path: Path) -> None:
    script = """
      const look = (number) => {
        const node = document.querySelector(`.node[data-number="${number}"]`);
        const edge = document.querySelector(`.edge[data-number="${number}"]`);
        return [getComputedStyle(node.querySelector(".box")).stroke !== "none",
          getComputedStyle(edge).strokeDasharray !== "none", node.querySelectorAll("rect").length];
      };
      document.body.dataset.said = JSON.stringify([0, 2, 3].map(look));"""
    kept, pruned, finished = said(save(with_a_beam(), tmp_path / "map.html"), script)
    assert kept == [True, False, 1]  # an outline, no dashes, one outline
    assert pruned == [False, True, 1]
    assert finished == [True, False, 2]


def test_without_attention_the_tree_is_still_drawn(tmp_path: Path) -> None:
    plain = replace(with_a_beam(), attention=AttentionRecord(("a", "b"), ("y", "</s>"), {}))
    dom = Dom(browse(save(plain, tmp_path / "map.html"), "--dump-dom"))
    assert len(dom.texts(role="treeitem")) == 4
    assert dom.texts(id="notice") == ["No attention to draw: none was recorded, or this model has none."]
