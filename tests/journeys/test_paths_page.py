"""The page of a path in a real browser, opened from a disk."""

from pathlib import Path

import numpy as np
import pytest
from browsing import needs_chromium, visited
from playwright.sync_api import Browser, Page, expect
from walks import LOOKS, walked

from regard.core.prediction import Prediction
from regard.viewing import save

pytestmark = needs_chromium


def opened(page: Page, folder: Path, prediction: Prediction) -> Page:
    page.goto(save(prediction, folder / "path.html").as_uri())
    return page


def marks(page: Page) -> list[float]:
    """Shares of the largest mark's area."""
    radii = [float(one.get_attribute("r") or "nan") for one in page.locator(".mark").all()]
    return [(radius / max(radii)) ** 2 for radius in radii]


def expected(row: list[float]) -> object:
    return pytest.approx([weight / max(row) for weight in row], abs=0.01)


CONTEXT = {"cross": [[LOOKS]], "context": [[[[0, 1, 0], [0, 0, 1]]]]}


def test_pointing_at_a_predicted_step_shows_what_it_looked_at(browser: Browser, tmp_path: Path) -> None:
    with visited(browser) as page:
        opened(page, tmp_path, walked(context=[[1], [2], [3]], weights=CONTEXT))
        readout = page.locator("#readout")
        expect(readout).to_have_text(
            "All steps looked at observed step −3 0.500, 0 0.350, −2 0.100; context step 2 0.500, 3 0.500"
        )
        assert marks(page) == expected([0.5, 0.1, 0.05, 0.35])
        page.locator(".near").nth(0).hover()
        expect(readout).to_have_text(
            "Step 1 looked at observed step 0 0.700, −2 0.200, −3 0.100; context step 2 1.000"
        )
        assert marks(page) == expected(LOOKS[0])
        page.locator(".cell[data-step='1']").first.click()
        expect(readout).to_contain_text("Step 2 looked at observed step −3 0.900")
        page.locator("h1").hover()
        assert marks(page) == expected(LOOKS[1])  # held
        page.keyboard.press("Escape")
        expect(readout).to_contain_text("All steps")
        page.locator(".seen").nth(3).hover()
        expect(readout).to_have_text("Observed step 0 was looked at by step 1 0.700")


def test_arrow_keys_go_from_step_to_step(browser: Browser, tmp_path: Path) -> None:
    with visited(browser) as page:
        opened(page, tmp_path, walked())
        page.keyboard.press("Tab")
        slider = page.get_by_role("slider")
        expect(slider).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuenow", "1")
        assert "Step 1 looked at" in (slider.get_attribute("aria-valuetext") or "")
        page.keyboard.press("End")
        expect(slider).to_have_attribute("aria-valuenow", "2")
        assert marks(page) == expected(LOOKS[1])
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#readout")).to_contain_text("All steps")


def test_layers_and_heads_can_be_chosen(browser: Browser, tmp_path: Path) -> None:
    weights = np.zeros((2, 1, 2, 4))
    weights[0, ..., 0] = weights[1, ..., 3] = 1
    with visited(browser) as page:
        opened(page, tmp_path, walked(weights={"cross": weights}))
        expect(page.locator("#readout")).to_have_text("All steps looked at observed step −3 0.500, 0 0.500")
        page.get_by_label("1", exact=True).check()
        expect(page.locator("#readout")).to_have_text("All steps looked at observed step 0 1.000")
        assert marks(page) == [0, 0, 0, 1]


def test_without_attention_or_an_answer_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    with visited(browser) as page:
        opened(page, tmp_path, walked(weights={}))
        expect(page.locator("#readout")).to_contain_text("none was recorded")
        opened(page, tmp_path, walked(np.zeros((0, 2)), weights={"cross": np.zeros((1, 1, 0, 4))}))
        expect(page.locator("#readout")).to_have_text("No points were predicted.")


def test_a_phone_needs_no_scrolling_sideways(browser: Browser, tmp_path: Path) -> None:
    with visited(browser, viewport={"width": 375, "height": 700}) as page:
        opened(page, tmp_path, walked(context=[[1], [2], [3]], weights=CONTEXT))
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
