"""The views of the page in a real browser: attention, what if, beam, compare, and what is saved of them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from browsing import grave_faults, link, needs_chromium, saved, visited
from playwright.sync_api import Browser, Page, Route, expect
from serving import RECURRENT, TRANSFORMER, Here, here, untrained
from tokenizers import pre_tokenizers

from regard.core.pieces import SPECIAL_PIECES
from regard.core.prediction import Prediction
from regard.text.bytelevel import readable
from regard.viewing.tree import beam_tree

pytestmark = needs_chromium

SOURCE = "a cat and a dog"
VIEWS = ("answer", "attention", "whatif", "beam", "compare")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    folder = tmp_path_factory.mktemp("runs")
    untrained(folder / "first", *TRANSFORMER, "search.beam=2")
    untrained(folder / "second", *RECURRENT, seed=1)
    with here(folder / "first", folder / "second") as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with visited(browser) as found:
        yield found


def opened(page: Page, server: Here, **state: Any) -> None:
    page.goto(link(server.port, **{"model": "first", "input": SOURCE, "words": 0, **state}))
    settled(page)


def settled(page: Page) -> None:
    expect(page.locator("#answer")).to_have_text(re.compile("."))
    expect(page.locator("#answer")).not_to_have_class(re.compile("busy"))


def predicted(server: Here, name: str = "first", **options: Any) -> Prediction:
    return server.models.get(name).predictor.predict(SOURCE, attention="all", **options)


def pick(page: Page, group: str, choice: str) -> None:
    page.get_by_role("group", name=group).get_by_role("radio", name=choice, exact=True).check()


def weight(page: Page) -> float:
    return float(page.locator(".readout b").inner_text())


def test_every_kind_layer_and_head_is_drawn_as_it_was_recorded(page: Page, server: Here) -> None:
    opened(page, server, view="attention", special=1)
    record = predicted(server).attention
    for kind, name in (
        ("cross", "Answer at source"),
        ("encoder", "Source at itself"),
        ("decoder", "Answer at itself"),
    ):
        pick(page, "Looks", name)
        row = column = 0  # where the cursor is; another layer or head leaves it there
        for layer, head in ((None, None), (1, None), (0, 1)):
            pick(page, "Layer", "Mean" if layer is None else str(layer))
            pick(page, "Head", "Mean" if head is None else str(head))
            page.locator(".frame[role=application]").focus()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowRight")
            weights = record.matrix(kind, layer, head)
            row, column = min(row + 2, len(weights) - 1), min(column + 1, weights.shape[1] - 1)
            expect(page.locator(".readout")).to_contain_text("with weight")
            assert weight(page) == pytest.approx(weights[row, column], abs=6e-4), (kind, layer, head)


@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_words_are_merged_as_in_python(page: Page, server: Here, kind: str) -> None:
    opened(page, server, view="attention", special=1, words=1, kind=kind)
    record = predicted(server).attention.in_words()
    matrix = record.matrix(kind)
    names = page.locator(".map .name").all_inner_texts()
    assert len(names) == sum(matrix.shape)
    page.locator(".frame").focus()
    page.keyboard.press("ArrowRight")
    assert weight(page) == pytest.approx(matrix[0, min(1, matrix.shape[1] - 1)], abs=6e-4)


def test_pointing_at_a_cell_and_holding_it(page: Page, server: Here) -> None:
    opened(page, server, view="attention")
    record = predicted(server).attention
    box = page.locator(".map").bounding_box()
    last = page.locator(".map .rule").bounding_box()
    assert box
    assert last
    cell = last["width"] / len(SOURCE)
    page.mouse.move(last["x"] + 2.5 * cell, last["y"] + 1.5 * cell)
    assert weight(page) == pytest.approx(record.cross()[1, 2], abs=6e-4)
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(1, 1)
    assert weight(page) == pytest.approx(record.cross()[1, 2], abs=6e-4)
    page.keyboard.press("Escape")
    expect(page.locator(".readout b")).to_have_count(0)


def test_enter_holds_a_cell_as_a_click_does(page: Page, server: Here) -> None:
    opened(page, server, view="attention")
    record = predicted(server).attention
    page.locator(".frame[role=application]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#answer .unit").nth(3).hover()
    page.mouse.move(1, 1)
    assert weight(page) == pytest.approx(record.cross()[1, 0], abs=6e-4)
    page.keyboard.press("Escape")
    expect(page.locator(".readout b")).to_have_count(0)


def test_the_colours_of_cells_are_those_of_the_house(page: Page, server: Here) -> None:
    from regard.viewing.colours import hexadecimal

    opened(page, server, view="attention", special=1)
    drawn = set(
        page.locator(".map path[fill]").evaluate_all("all => all.map((one) => one.getAttribute('fill'))")
    )
    weights = predicted(server).attention.cross()
    steps = np.round(np.clip(weights, 0, 1) * 64) / 64
    wanted = {hexadecimal(float(step)) for step in np.unique(steps) if step > 0}
    channels = lambda colour: [int(colour[at : at + 2], 16) for at in (1, 3, 5)]  # noqa: E731
    assert len(drawn) == len(wanted)
    for ours, theirs in zip(sorted(map(channels, drawn)), sorted(map(channels, wanted)), strict=True):
        assert np.abs(np.subtract(ours, theirs)).max() <= 1


def test_lines_above_the_threshold_are_drawn(page: Page, server: Here) -> None:
    opened(page, server, view="attention", drawing="lines", special=1, threshold=0.1)
    weights = predicted(server).attention.cross()
    expect(page.locator(".lines .line")).to_have_count(int((weights >= 0.1).sum()))
    page.locator("#answer .unit").nth(1).hover()
    expect(page.locator(".lines .line.on")).to_have_count(int((weights[1] >= 0.1).sum()))
    page.get_by_label("Hide below").fill("0.3")
    expect(page.locator(".lines .line")).to_have_count(int((weights >= 0.3).sum()))


def test_all_heads_are_shown_and_one_is_picked(page: Page, server: Here) -> None:
    opened(page, server, view="attention", drawing="heads")
    expect(page.locator(".head")).to_have_count(4)
    page.get_by_role("button", name="Layer 1, head 0").press("Enter")
    expect(page.locator(".map")).to_be_visible()
    expect(page.locator(".frame[role=application]")).to_be_focused()
    expect(page.locator(".readout")).to_contain_text("Layer 1, head 0")
    assert "layer=1&head=0" in page.url


def test_steps_are_played_with_their_probabilities(page: Page, server: Here) -> None:
    opened(page, server, view="attention")
    answer = predicted(server)
    count = len(answer.attention.target_pieces)
    expect(page.locator(".player")).to_contain_text(f"Step {count} of {count}")
    page.get_by_role("slider", name="Step").fill("2")
    share = 100 * np.exp(answer.piece_scores[1])
    said = page.locator(".player .quiet").inner_text()
    found = re.search(r"Step 2 of \d+: ([\d.]+) %", said)
    assert found, said
    assert float(found[1]) == pytest.approx(share, abs=0.51)
    assert page.locator(".so-far").inner_text() == answer.text[:2]
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".player")).to_contain_text("Step 3 of")
    page.get_by_role("button", name="Pause").click()


def test_another_piece_at_a_step_is_decoded_further(page: Page, server: Here) -> None:
    opened(page, server, view="whatif")
    answer = predicted(server, likeliest=6)
    other = next(piece for piece, _ in answer.likeliest[1] if piece not in (answer.pieces[1], "</s>"))
    assert len(other) == 1
    page.locator(".steps > li").nth(1).get_by_role("button", name=f"{other},").click()
    wanted = server.texts([SOURCE], model="first", prefix=answer.pieces[0] + other)[0]
    expect(page.locator("#answer")).to_have_text(wanted)
    expect(page.get_by_label("Begin with")).to_have_value(answer.pieces[0] + other)
    expect(page.locator(".step.fixed")).to_have_count(2)
    page.get_by_role("button", name=re.compile("Take back")).click()
    expect(page.locator("#answer")).to_have_text(answer.text)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.dataset.key ?? document.activeElement.id"))


def test_whoever_chooses_by_keyboard_stays_where_they_are(page: Page, server: Here) -> None:
    opened(page, server, beam=4, best=4)
    page.locator(".answers .row").nth(2).press("Enter")
    expect(page.locator(".answers .row").nth(2)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".answers .row").nth(2)).to_be_focused()
    opened(page, server, view="whatif")
    answer = predicted(server, likeliest=6)
    other = next(piece for piece, _ in answer.likeliest[1] if piece not in (answer.pieces[1], "</s>"))
    choice = page.locator(".steps > li").nth(1).get_by_role("button", name=f"{other},")
    choice.press("Enter")
    expect(choice).to_have_attribute("aria-pressed", "true")
    expect(choice).to_be_focused()


def test_who_takes_a_wish_back_is_at_the_next_one_and_after_the_last_in_the_view(
    page: Page, server: Here
) -> None:
    opened(page, server, forbid=["x", "y", "z"])
    page.locator(".chip button").nth(1).focus()
    for left, there in ((2, "must not have z"), (1, "must not have x"), (0, "view")):
        page.keyboard.press("Enter")
        expect(page.locator(".chip")).to_have_count(left)
        assert focused(page) == there


def named(text: str) -> list[str]:
    """Its bytes, as the names of pieces that are parts of a character."""
    ((written, _),) = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    return [readable(one) for one in written]


def in_parts() -> dict[str, Any]:
    """A prediction of “a 愛!” whose third character is two pieces."""
    first, *rest = named("愛")
    pieces = ["▁a", f"▁{first}", "".join(rest), "!"]
    taken = [*pieces, "</s>"]
    others = [["b"], ["▁b", "▁" + named("姝")[0]], ["".join(named("愜")[1:]), named("愜")[1]], ["?"], []]
    steps = [[one, *beside] for one, beside in zip(taken, others, strict=True)]
    words = {"texts": ["a", "愛!"], "of": [[0], [1], [1], [1], None]}
    record = {
        "source": SOURCE,
        "source_pieces": [SOURCE],
        "source_words": {"texts": [SOURCE], "of": [[0]]},
        "text": "a 愛!",
        "target_pieces": taken,
        "target_words": words,
        "labels": {"source": [SOURCE], "target": taken},
        "attention": {"cross": {"shape": [1, 1, 5, 1], "weights": [[[[1.0]] * 5]]}},
    }
    answer = {
        "text": "a 愛!",
        "finished": True,
        "pieces": pieces,
        "attention": record,
        "score": -1.0,
        "rank": -1.0,
        "piece_scores": [-0.2] * 5,
        "alternatives": [[{"piece": piece, "probability": 0.3} for piece in step] for step in steps],
    }
    beam = [
        {
            "parent": at - 1 if at else None,
            "piece": piece,
            "score": -0.2 * (at + 1),
            "rank": -1.0,
            "fate": "kept" if piece != "</s>" else "finished",
            "step": at + 1,
        }
        for at, piece in enumerate(taken)
    ]
    return {"answers": [answer], "problem": None, "beam": beam}


def answered(page: Page, prediction: dict[str, Any]) -> list[Any]:
    """The page gets this prediction for whatever it asks; gives what it asked."""
    asked: list[Any] = []

    def stream(route: Route) -> None:
        asked.append(route.request.post_data_json)
        content = json.dumps({"input": 0, "prediction": prediction})
        route.fulfill(content_type="text/event-stream", body=f"event: prediction\ndata: {content}\n\n")

    page.route("**/v1/stream", stream)
    return asked


def test_pieces_that_are_parts_of_characters_are_put_together(page: Page, server: Here) -> None:
    asked = answered(page, in_parts())
    opened(page, server, view="beam")
    texts = []
    page.locator(".node").first.focus()
    for _ in range(5):
        texts.append(page.locator(".hypothesis").inner_text().removesuffix("…").strip())
        page.keyboard.press("ArrowRight")
    assert texts == ["a", "a", "a 愛", "a 愛!", "a 愛!"]

    page.get_by_role("tab", name="Attention").click()
    said = []
    for step in range(1, 6):
        page.get_by_role("slider", name="Step").fill(str(step))
        expect(page.locator(".player")).to_contain_text(f"Step {step} of 5")
        said.append(page.locator(".so-far").inner_text().strip())
    assert said == ["a", "a", "a 愛", "a 愛!", "a 愛! ∎"]

    page.get_by_role("tab", name="What if").click()
    choices = page.locator(".steps > li").nth(1).get_by_role("button")
    expect(choices).to_have_count(3)
    assert [one.is_disabled() for one in choices.all()] == [True, False, True]
    choices = page.locator(".steps > li").nth(2).get_by_role("button")
    expect(choices).to_have_count(3)
    assert [one.is_disabled() for one in choices.all()] == [False, False, True]
    choices.nth(1).click()
    expect(page.get_by_label("Begin with")).to_have_value("a 愜")
    expect(page.locator(".step.fixed")).to_have_count(3)
    assert asked[-1]["prefix"] == "a 愜"


def test_special_pieces_are_no_choice_nor_is_what_follows_an_unknown_one(page: Page, server: Here) -> None:
    pieces = ["a", "b", "<unk>", "c"]
    steps = [["a", *SPECIAL_PIECES, "x"], ["b", "x"], ["<unk>", "x"], ["c", "x"], ["</s>", "x"]]
    answer = {
        **in_parts()["answers"][0],
        "text": "ab<unk>c",
        "pieces": pieces,
        "alternatives": [[{"piece": piece, "probability": 0.3} for piece in step] for step in steps],
    }
    asked = answered(page, {"answers": [answer], "problem": None})
    opened(page, server, view="whatif")
    columns = page.locator(".steps > li")
    expect(columns).to_have_count(5)
    offered = [
        [
            piece
            for piece, one in zip(step, column.get_by_role("button").all(), strict=True)
            if one.is_enabled()
        ]
        for step, column in zip(steps, columns.all(), strict=True)
    ]
    assert offered == [["a", "x"], ["b", "x"], ["x"], [], []]
    columns.nth(2).get_by_role("button", name="x,").click()
    expect(page.get_by_label("Begin with")).to_have_value("abx")
    assert asked[-1]["prefix"] == "abx"


def test_words_are_required_and_forbidden(page: Page, server: Here) -> None:
    opened(page, server, view="whatif")
    before = predicted(server).text
    page.get_by_label("Must not have").fill(before[0])
    page.get_by_label("Must not have").press("Enter")
    without = server.texts([SOURCE], model="first", forbid=[before[0]])[0]
    expect(page.locator("#answer")).to_have_text(without)
    page.get_by_label("Must have").fill("dog")
    page.locator("form.wish").first.get_by_role("button").click()
    both = server.texts([SOURCE], model="first", forbid=[before[0]], require=["dog"])[0]
    expect(page.locator("#answer")).to_have_text(both)
    assert "dog" in both
    page.get_by_label("Begin with").fill("\ue000")
    expect(page.get_by_role("alert")).to_contain_text("No answer: the model has no pieces for")


def test_the_tree_of_a_beam_is_that_of_python_and_is_walked(page: Page, server: Here) -> None:
    opened(page, server, view="beam", beam=3)
    answer = predicted(server, beam=3, record=True)
    tree = beam_tree(answer, 1000)
    assert tree
    nodes = page.locator(".node")
    expect(nodes).to_have_count(len(tree.nodes))
    drawn = nodes.evaluate_all(
        "all => all.map((one) => [Number(one.dataset.number), one.querySelector('.box').y.baseVal.value])"
    )
    assert {number: round((y - 34 + 14.5 - 18) / 29 + 0.12) for number, y in drawn} == tree.rows
    expect(page.locator(".node.answer")).to_have_count(len(tree.answer))
    expect(page.locator(".card .readout")).to_have_text(tree.summary)
    nodes.first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".hypothesis")).to_have_text(re.compile("^" + re.escape(answer.text[:2].strip())))
    expect(page.locator(".card .readout")).to_contain_text("step 2, in the answer: log-probability")
    pruned = page.locator(".node.pruned").first
    pruned.hover()
    expect(page.locator(".card .readout")).to_contain_text("pruned")
    assert "aria-label" in (pruned.evaluate("one => one.getAttributeNames()"))


def test_two_models_and_two_searches_are_compared(page: Page, server: Here) -> None:
    opened(page, server, view="compare")
    texts = page.locator(".two .reply")
    greedy = server.texts([SOURCE], model="first", beam=1)[0]
    expect(texts).to_have_text([predicted(server).text, greedy])  # something to compare with from the start
    page.locator(".two select").nth(2).select_option("second")
    expect(texts.nth(1)).to_have_text(server.texts([SOURCE], model="second", beam=1)[0])
    page.locator(".two section").nth(1).get_by_label("Beam").fill("3")
    page.keyboard.press("Enter")
    expect(texts.nth(1)).to_have_text(server.texts([SOURCE], model="second", beam=3)[0])
    expect(page.locator(".two .map")).to_have_count(2)
    assert page.locator(".two mark").count() > 0
    assert "other_model=second&other_beam=3" in page.url


def test_every_view_is_saved_as_picture_data_and_page(browser: Browser, server: Here, tmp_path: Path) -> None:
    with visited(browser, accept_downloads=True) as page:
        opened(page, server)
        for view in VIEWS:
            page.locator(f"#tab-{view}").click()
            expect(page.locator("#view.old")).to_have_count(0)
            drawn = ElementTree.fromstring(saved(page, "svg"))
            assert len(list(drawn.iter())) > 20, view
            assert not [one for one in drawn.iter() if "class" in one.attrib or "style" in one.attrib]
            assert saved(page, "png").startswith(b"\x89PNG")
            data = json.loads(saved(page, "json"))
            assert data["prediction"]["answers"][0]["text"] == predicted(server).text
            assert data["asked"]["inputs"] == [SOURCE]
            (tmp_path / f"{view}.html").write_bytes(saved(page, "html"))
    with visited(browser) as page:
        for view in VIEWS:
            page.goto((tmp_path / f"{view}.html").as_uri())
            assert page.locator("svg").count() >= 1
            assert predicted(server).text in page.locator("dd").all_inner_texts()
            kept = json.loads(page.locator("#data").text_content() or "")
            assert kept["prediction"]["answers"][0]["text"] == predicted(server).text


def test_a_saved_comparison_holds_both_sides(browser: Browser, server: Here) -> None:
    with visited(browser, accept_downloads=True) as page:
        opened(page, server, view="compare", other_model="second", other_beam=2)
        (theirs,) = server.texts([SOURCE], model="second", beam=2)
        expect(page.locator(".two .reply").nth(1)).to_have_text(theirs)
        data = json.loads(saved(page, "json"))
        assert data["asked"]["model"] == "first"
        assert data["prediction"]["answers"][0]["text"] == predicted(server).text
        assert (data["other"]["asked"]["model"], data["other"]["asked"]["beam"]) == ("second", 2)
        assert data["other"]["prediction"]["answers"][0]["text"] == theirs


def test_there_is_nothing_to_save_before_an_answer(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="first"))
    page.get_by_role("button", name="Save").click()
    page.locator("[data-format=svg]").click()
    expect(page.get_by_role("alert")).to_contain_text("There is nothing to save in this view yet.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_serious_fault_of_accessibility(browser: Browser, server: Here, scheme: str) -> None:
    with visited(browser, color_scheme=scheme, reduced_motion="reduce") as page:
        page.goto(link(server.port, model="first", input=SOURCE, beam=2, prefix="a"))
        settled(page)
        for tab in page.get_by_role("tab").all():
            tab.click()
            expect(page.locator("#view.old")).to_have_count(0)
            assert grave_faults(page, scheme) == [], tab.inner_text()


def test_tabs_are_walked_by_arrow_keys(page: Page, server: Here) -> None:
    opened(page, server)
    page.get_by_role("tab", selected=True).focus()
    for view in (*VIEWS[1:], VIEWS[0]):
        page.keyboard.press("ArrowRight")
        expect(page.locator(f"#tab-{view}")).to_be_focused()
        expect(page.locator(f"#tab-{view}")).to_have_attribute("aria-selected", "true")
