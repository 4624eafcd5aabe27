"""Trajectories on the page of `regard serve`: drawn, typed, gone on with, and what was looked at."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from browsing import grave_faults, link, needs_chromium, saved, visited
from playwright.sync_api import Browser, Page, expect
from serving import RECURRENT, Here, here, untrained, untrained_forecast

from regard.core.points import read_points
from regard.core.prediction import Prediction
from regard.tasks.arms import Arms
from regard.viewing.path_data import Paths

pytestmark = needs_chromium

VIEWS = ("answer", "attention", "compare")
SOURCES = [pair.source for pair in Arms().pairs(train=2, validation=0, test=0, seed=3).train]
LINE = [[round(0.1 * step, 3), round(0.05 * step, 3)] for step in range(16)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    folder = tmp_path_factory.mktemp("runs")
    lissajous = ("task.made=lissajous", "task.measure=displacement")
    runs = [
        untrained_forecast(folder / "arms"),
        untrained_forecast(folder / "paths", *lissajous, "model.points.kind=squared", seed=1),
        untrained_forecast(folder / "strange", seed=2),
        untrained(folder / "dates", *RECURRENT),
    ]
    kept = runs[0] / "samples" / "step-000010"
    kept.mkdir(parents=True)
    (kept / "predictions.jsonl").write_text("".join(json.dumps({"source": one}) + "\n" for one in SOURCES))
    with here(*runs) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with visited(browser) as found:
        yield found


def predicted(server: Here, source: str = SOURCES[0], model: str = "arms", **options: Any) -> Prediction:
    return server.models.get(model).predictor.predict(source, attention="all", **options)


def opened(page: Page, server: Here, **state: Any) -> None:
    page.goto(link(server.port, **{"model": "arms", "input": SOURCES[0], **state}))
    settled(page)


def settled(page: Page) -> None:
    expect(page.locator("#answer .unit").first).to_be_visible()
    expect(page.locator("#answer")).not_to_have_class(re.compile("busy"))


def radii(page: Page, kind: str) -> list[float]:
    return page.locator(f".pad {kind}").evaluate_all("all => all.map((one) => Number(one.getAttribute('r')))")


def stroke(page: Page, *places: tuple[float, float]) -> None:
    """A path over the pad, by shares of its sides."""
    box = page.locator(".pad svg").bounding_box()
    assert box
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in places]
    page.mouse.move(*at[0])
    page.mouse.down()
    for place in at[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()


def test_a_drawn_path_is_gone_on_with_in_the_context_of_an_example(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="arms"))
    expect(page.locator(".pad")).to_contain_text("Draw a path here")
    stroke(page, (0.4, 0.5), (0.5, 0.4), (0.6, 0.5))
    settled(page)
    given = page.locator("#input").input_value()
    source = json.loads(given)
    assert source["context"] == json.loads(SOURCES[0])["context"]
    points = np.array(source["series"])
    assert points.shape == (8, 2)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert steps.max() < 1.5 * steps.min() + 1e-6  # even, but for the corner
    assert points[-1, 0] > points[0, 0]
    answer = predicted(server, given)
    expect(page.locator("#answer .unit")).to_have_count(12)
    first = read_points(answer.text)[0]
    expect(page.locator("#answer .unit small").first).to_have_text(
        re.compile(re.escape(f"({first[0]:.3g}".replace("-", "−")))
    )
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#answer")).to_be_empty()


def test_a_path_that_is_too_long_for_the_model_is_cut_to_a_plausible_pace(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="paths"))
    expect(page.locator(".pad")).to_contain_text("Draw a path here")
    stroke(page, (0.1, 0.2), (0.95, 0.2), (0.1, 0.3), (0.95, 0.4), (0.1, 0.5), (0.95, 0.6))
    settled(page)
    points = read_points(page.locator("#input").input_value())
    stride = server.get("/v1/models").json["models"][1]["source"]["stride"]
    assert len(points) == 16
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).max() <= 2.5 * stride * 1.001


def test_circles_are_as_large_as_the_weights(page: Page, server: Here) -> None:
    opened(page, server)
    paths = Paths.of(predicted(server))

    def wanted(step: int | None) -> list[float]:
        marks = paths.marks_of(step)
        assert marks is not None
        return list(15 * np.sqrt(paths.areas(marks)))

    assert radii(page, ".mark") == pytest.approx(wanted(None), abs=0.02)
    page.locator("#answer .unit").nth(3).focus()
    expect(page.locator(".readout")).to_contain_text("Step +4 looked at")
    expect(page.locator(".readout")).to_contain_text("in the context at")
    assert radii(page, ".mark") == pytest.approx(wanted(3), abs=0.02)
    page.keyboard.press("ArrowRight")
    assert radii(page, ".mark") == pytest.approx(wanted(4), abs=0.02)
    page.keyboard.press("Escape")
    box = page.locator(".pad .said").nth(11).bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    step = page.locator("#answer .unit.chosen").evaluate_all(
        "all => all.map((one) => Number(one.dataset.at))"
    )
    assert radii(page, ".mark") == pytest.approx(
        wanted(step[0]), abs=0.02
    )  # the nearest, where points lie close


def test_several_futures_are_listed_and_one_is_chosen(page: Page, server: Here) -> None:
    opened(page, server, best=4)
    answers = server.post(
        "/v1/predict", {"model": "arms", "inputs": [SOURCES[0]], "best": 4, "return": ["scores"]}
    ).json["predictions"][0]["answers"]
    expect(page.locator(".answers .row")).to_have_count(4)
    expect(page.locator(".pad path.future")).to_have_count(3)
    assert f"{answers[2]['score']:.3f}".replace("-", "−") in page.locator(".answers .row").nth(2).inner_text()
    page.locator(".answers .row").nth(2).click()
    x = read_points(answers[2]["text"])[-1][0]
    expect(page.locator("#answer .unit small").last).to_contain_text(f"({x:.3g}".replace("-", "−"))
    opened(page, server, model="paths", input=json.dumps(LINE))
    expect(page.locator(".answers")).to_be_hidden()  # a model that is sure draws no others
    expect(page.locator(".pad path.future")).to_have_count(0)
    refused = server.post("/v1/predict", {"model": "paths", "inputs": [json.dumps(LINE)], "best": 2})
    assert refused.status == 422
    assert "best is 2, but at most 1" in refused.json["error"]


def test_points_are_typed_and_what_is_wrong_is_told(browser: Browser, server: Here) -> None:
    with visited(browser, refusals=True) as page:
        page.goto(link(server.port, model="paths"))
        page.locator("#input").fill(json.dumps(LINE))
        settled(page)
        expect(page.locator(".counter")).to_have_text(re.compile(r"16 of \d+ points"))
        for text, said in (
            ("[[1, 2], [3]]", "Point 2 of the text has 1 values"),
            ("<script>window.taken=1</script>", "This is no series in JSON"),
            ("[[1, 2, 3]]", "3 values here, but 2"),
        ):
            page.locator("#input").fill(text)
            expect(page.locator(".counter")).to_contain_text(said)
        page.locator("#input").fill(json.dumps({"series": LINE, "target": [[1.7, 0.8]]}))
        settled(page)
        expect(page.locator(".pad path.true")).to_have_count(1)
        page.goto(link(server.port, model="strange"))  # which has no examples to take a context from
        expect(page.locator(".pad svg")).to_be_visible()
        stroke(page, (0.4, 0.5), (0.6, 0.5))
        expect(page.locator(".counter")).to_contain_text("needs a context beside the points")
        assert page.evaluate("window.taken") is None


def test_looks_at_series_and_context_are_drawn_as_maps(page: Page, server: Here) -> None:
    opened(page, server, view="attention")
    record = predicted(server).attention
    assert page.get_by_role("tab").all_inner_texts() == ["Forecast", "Attention", "Compare"]
    for name, kind in (("Answer at source", "cross"), ("Answer at context", "context")):
        page.get_by_role("group", name="Looks").get_by_role("radio", name=name).check()
        page.locator(".looks .frame").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".readout b")).to_have_text(f"{record.matrix(kind)[1, 1]:.3f}")
    page.get_by_role("slider", name="Step").fill("2")
    expect(page.locator(".player")).to_contain_text("Step 2 of 12: log-likelihood")


def test_models_of_other_kinds_have_other_composers(page: Page, server: Here) -> None:
    opened(page, server)
    page.locator("#model").select_option("dates")
    expect(page.locator("#input")).to_have_value("")
    page.locator("#input").fill("abc")
    expect(page.locator("#answer .unit").first).to_be_visible()
    expect(page.get_by_role("tab", name="Beam")).to_be_visible()
    page.locator("#model").select_option("arms")
    expect(page.locator("#input")).to_have_value(SOURCES[0])
    settled(page)
    expect(page.get_by_role("tab", name="Beam")).to_be_hidden()
    page.locator("#model").select_option("dates")
    expect(page.locator("#input")).to_have_value("abc")
    page.locator("#tab-compare").click()
    names = page.locator(".two select").nth(2).locator("option").all_inner_texts()
    assert names == ["dates"]  # nothing else can be compared with it


def test_two_models_are_compared_by_how_far_their_points_are_apart(page: Page, server: Here) -> None:
    opened(page, server, view="compare", other_model="strange")
    ours, theirs = (read_points(predicted(server, model=name).text) for name in ("arms", "strange"))
    away = np.linalg.norm(ours - theirs, axis=1)
    expect(page.locator(".two .paths")).to_have_count(2)
    said = page.locator("#view .readout")
    expect(said).to_contain_text("apart in the mean")
    mean, last = (float(number) for number in re.findall(r"\d+\.\d+", said.inner_text()))
    assert (mean, last) == pytest.approx((away.mean(), away[-1]), rel=0.01)


def test_every_view_of_a_path_is_saved(browser: Browser, server: Here, tmp_path: Path) -> None:
    with visited(browser, accept_downloads=True) as page:
        opened(page, server)
        for view in VIEWS:
            page.locator(f"#tab-{view}").click()
            expect(page.locator("#view.old")).to_have_count(0)
            expect(page.locator(".two .paths")).to_have_count(2) if view == "compare" else None
            drawn = ElementTree.fromstring(saved(page, "svg"))
            assert len(list(drawn.iter())) > 20, view
            assert not [one for one in drawn.iter() if "class" in one.attrib]
            assert saved(page, "png").startswith(b"\x89PNG")
            data = json.loads(saved(page, "json"))
            said = read_points(data["prediction"]["answers"][0]["text"])
            assert np.allclose(said, read_points(predicted(server).text), atol=1e-5)
            (tmp_path / f"{view}.html").write_bytes(saved(page, "html"))
    with visited(browser) as page:
        for view in VIEWS:
            page.goto((tmp_path / f"{view}.html").as_uri())
            _, source, answer = page.locator("dd").all_inner_texts()
            assert source == SOURCES[0]
            assert len(read_points(answer)) == 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_of_a_path_has_a_serious_fault(browser: Browser, server: Here, scheme: str) -> None:
    with visited(browser, color_scheme=scheme, reduced_motion="reduce") as page:
        page.goto(link(server.port, model="arms"))
        assert grave_faults(page, scheme) == []
        opened(page, server)
        for view in VIEWS:
            page.locator(f"#tab-{view}").click()
            expect(page.locator("#view.old")).to_have_count(0)
            assert grave_faults(page, scheme) == [], view


def test_a_finger_draws_on_a_phone_that_never_scrolls_sideways(browser: Browser, server: Here) -> None:
    with visited(browser, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as page:
        page.goto(link(server.port, model="arms"))
        expect(page.locator(".pad")).to_contain_text("Draw a path here")
        finger = page.context.new_cdp_session(page)
        box = page.locator(".pad svg").bounding_box()
        assert box
        for kind, share in (("Start", 0.3), ("Move", 0.4), ("Move", 0.5), ("Move", 0.6)):
            point = {"x": box["x"] + share * box["width"], "y": box["y"] + 0.5 * box["height"]}
            finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [point]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        settled(page)
        for view in VIEWS:
            page.locator(f"#tab-{view}").click()
            settled(page)
            assert page.evaluate("document.documentElement.scrollWidth") == 390, view
