"""The page in a real browser: Debian's Chromium, driven by playwright, with nothing but this machine in reach."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)"
)
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
PATIENCE = 30_000  # milliseconds: a machine under tests is busy
expect.set_options(timeout=PATIENCE)


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visited(browser: Browser, *, refusals: bool = False, **options: Any) -> Iterator[Page]:
    """A page in a fresh profile. In the end nothing outside was asked for and nothing stands in its console.

    With `refusals` the console may tell of requests that failed, as the browser does of each.
    """
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
    outside: list[str] = []
    said: list[str] = []

    def guard(route: Route) -> None:
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context.route(re.compile("^(https?|wss?):"), guard)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on(
        "console", lambda message: said.append(message.text) if message.type in ("error", "warning") else 0
    )
    page.on("pageerror", lambda error: said.append(str(error)))
    try:
        yield page
    finally:
        context.close()
    wrong = [text for text in said if not (refusals and text.startswith("Failed to load resource"))]
    assert not outside and not wrong, (outside, wrong)  # noqa: PT018


def link(port: int, **state: Any) -> str:
    return f"http://127.0.0.1:{port}/?{urlencode(state, doseq=True)}"


def saved(page: Page, format: str) -> bytes:
    """What the page of a server saves of its view."""
    page.get_by_role("button", name="Save").click()
    with page.expect_download() as download:
        page.locator(f"[data-format={format}]").click()
    assert download.value.suggested_filename.endswith(f".{format}")
    return Path(download.value.path()).read_bytes()


def grave_faults(page: Page, scheme: str) -> list[tuple[str, list[str]]]:
    """Serious and critical ones of accessibility; in the dark of colours alone, for the rest is the same."""
    page.evaluate("() => new Promise(requestAnimationFrame)")  # what was clicked is drawn
    expect(page.locator(".reply.busy, #view.old")).to_have_count(0)  # what is waited for is pale
    page.evaluate(AXE)
    only = ", runOnly: ['color-contrast']" if scheme == "dark" else ""
    faults = page.evaluate(f"axe.run({{resultTypes: ['violations']{only}}})")["violations"]
    return [
        (fault["id"], [node["html"][:120] for node in fault["nodes"][:3]])
        for fault in faults
        if fault["impact"] in ("serious", "critical")
    ]
