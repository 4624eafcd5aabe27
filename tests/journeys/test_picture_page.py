"""The stand-alone page of a caption in a real browser, opened from a disk."""

from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import numpy as np
import pytest
from browsing import needs_chromium, visited
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect

from regard.core.prediction import AttentionRecord, Prediction
from regard.core.words import Words
from regard.viewing import PictureView, save

pytestmark = needs_chromium
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
GRID = (3, 3)


def read(source: str) -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (3, 48, 48), dtype=np.uint8)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two heads: in head 0 the words look at cells 0, 4 and 8, in head 1 all at cell 2."""
    weights = np.zeros((1, 2, 4, 9), np.float32)
    weights[0, 0, range(4), [0, 4, 8, 1]] = 1
    weights[0, 1, :, 2] = 1
    record = AttentionRecord(
        tuple(map(str, range(9))),
        ("one", "<i>two", "three", "</s>"),
        {"cross": weights},
        None,
        Words(("one", "<i>two", "three"), ((0,), (1,), (2,), None)),
    )
    prediction = Prediction("a.png", "one <i>two three", ("one", "<i>two", "three"), -0.5, record)
    return save(
        prediction,
        tmp_path_factory.mktemp("page") / "a.html",
        view=PictureView(read, GRID, hide_special=True),
    )


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    with visited(browser, reduced_motion="reduce") as page:
        page.clock.install()
        page.goto(file.as_uri())
        yield page


def dark(page: Page) -> list[bool]:
    """Of each cell, whether its middle is dark."""
    return page.evaluate("""() => {
        const copy = document.createElement("canvas"), light = document.querySelector("#light");
        copy.width = light.width, copy.height = light.height;
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(light, 0, 0);
        const middle = (place, side) => Math.floor((place + 0.5) * side / 3);
        return [...Array(9).keys()].map((cell) => context.getImageData(
            middle(cell % 3, copy.width), middle(Math.floor(cell / 3), copy.height), 1, 1).data[3] > 100);
    }""")


def bright(page: Page) -> list[int]:
    return [cell for cell, is_dark in enumerate(dark(page)) if not is_dark]


def word(page: Page, name: str) -> None:
    return page.get_by_role("button", name=name, exact=True)


def test_a_word_lights_the_picture_where_it_looked(page: Page) -> None:
    assert bright(page) == list(range(9))
    expect(page.locator("#readout")).to_have_text(
        "Mean of 2 heads: the brighter, the more a word looked there."
    )
    word(page, "<i>two").hover()
    assert bright(page) == [2, 4]
    page.get_by_label("0", exact=True).check(force=True)
    word(page, "three").hover()
    assert bright(page) == [8]
    expect(page.locator("#readout")).to_have_text(
        "three looked mostly at the lower right: half of its look lies in 1 of 9 cells, the strongest has 1.000."
    )
    page.mouse.move(0, 0)
    assert bright(page) == list(range(9))
    expect(page.locator("#strip figure")).to_have_count(3)


def test_a_word_is_held_by_a_click_and_let_go_by_escape(page: Page) -> None:
    word(page, "one").click()
    page.mouse.move(0, 0)
    assert bright(page) == [0, 2]
    expect(word(page, "one")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    assert bright(page) == list(range(9))
    expect(word(page, "one")).to_have_attribute("aria-pressed", "false")


def test_arrow_keys_go_from_word_to_word_and_say_where_each_looked(page: Page) -> None:
    word(page, "one").focus()
    page.keyboard.press("ArrowRight")
    expect(word(page, "<i>two")).to_be_focused()
    assert bright(page) == [2, 4]
    expect(page.locator("#readout")).to_have_attribute("aria-live", "polite")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    expect(word(page, "three")).to_be_focused()


def test_playing_goes_through_all_words_and_ends_with_the_whole_picture(page: Page) -> None:
    page.get_by_role("button", name="Play").click()
    page.mouse.move(0, 0)
    seen = [bright(page)]
    for _ in range(3):
        page.clock.run_for(1100)
        seen.append(bright(page))
    assert seen == [[0, 2], [2, 4], [2, 8], list(range(9))]
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(5000)
    assert bright(page) == [0, 2]


def test_special_pieces_and_one_scale_can_be_chosen(page: Page) -> None:
    page.get_by_label("Special pieces").check()
    expect(page.locator(".word")).to_have_text(["one", "<i>two", "three", "</s>"])
    page.get_by_label("One scale for all words").check()
    word(page, "</s>").hover()
    assert bright(page) == [1, 2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_no_serious_fault_of_accessibility(browser: Browser, file: Path, scheme: str) -> None:
    with visited(browser, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True) as page:
        page.goto(file.as_uri())
        word(page, "one").click()
        page.evaluate(AXE)
        faults = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        grave = [
            (fault["id"], [node["html"][:120] for node in fault["nodes"][:3]])
            for fault in faults
            if fault["impact"] in ("serious", "critical")
        ]
        assert grave == []


def test_it_fits_a_small_screen(browser: Browser, file: Path) -> None:
    with visited(browser, viewport={"width": 360, "height": 700}) as page:
        page.goto(file.as_uri())
        expect(page.locator("#strip figure")).to_have_count(3)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
