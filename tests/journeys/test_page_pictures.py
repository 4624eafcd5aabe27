"""Pictures on the page of `regard serve`: given, described, lit where a word looked, saved."""

import base64
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from browsing import grave_faults, link, needs_chromium, saved, visited
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from serving import Here, here, untrained_captions

from regard.core.prediction import Prediction
from regard.tasks.shapes import make_scenes
from regard.viewing.picture_looks import SHADE_DEPTH, looks_of, smooth

pytestmark = needs_chromium

VIEWS = ("answer", "attention", "whatif", "beam", "compare")
HOSTILE = "<img src=x onerror=window.taken=1>.png"
FINE = 6  # pixels of light for each cell


def encoded(image: Image.Image, format: str = "PNG") -> bytes:
    stream = io.BytesIO()
    image.save(stream, format=format)
    return stream.getvalue()


def url(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


SCENES = [encoded(Image.fromarray(scene.picture)) for scene in make_scenes(3, size=96, seed=5)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    folder = tmp_path_factory.mktemp("runs")
    runs = [
        untrained_captions(
            folder / "shapes",
            "model.attention.heads=2",
            "model.encoder.layers=1",
            "model.encoder.heads=2",
            seed=3,
        ),
        untrained_captions(folder / "others", seed=1),
    ]
    kept = runs[0] / "samples" / "step-000010"
    kept.mkdir(parents=True)
    for number, scene in enumerate(SCENES):
        (folder / f"{number}.png").write_bytes(scene)
    lines = [json.dumps({"source": str(folder / f"{number}.png")}) for number in range(len(SCENES))]
    (kept / "predictions.jsonl").write_text("\n".join(lines) + "\n")
    with here(*runs) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with visited(browser, reduced_motion="reduce") as found:
        yield found


def predicted(server: Here, scene: bytes = SCENES[0], **options: Any) -> Prediction:
    return server.models.get("shapes").predictor.predict(url(scene), attention="all", **options)


def given(page: Page, server: Here, scene: bytes = SCENES[0], name: str = "scene.png", **state: Any) -> None:
    page.goto(link(server.port, **{"model": "shapes", **state}))
    page.locator("#input").set_input_files({"name": name, "mimeType": "image/png", "buffer": scene})
    settled(page)


def settled(page: Page) -> None:
    expect(page.locator("#answer")).not_to_be_empty()
    expect(page.locator("#answer")).not_to_have_class(re.compile("busy"))


def light(page: Page) -> np.ndarray:
    """Of every pixel, from 0 to 1, as the canvas over the picture has it."""
    drawn = page.locator(".plate canvas").evaluate("one => one.toDataURL('image/png')")
    shade = np.asarray(Image.open(io.BytesIO(base64.b64decode(drawn.partition(",")[2]))))[..., 3]
    return 1 - shade / 255 / SHADE_DEPTH


def test_a_picture_that_is_chosen_dropped_or_pasted_is_described(page: Page, server: Here) -> None:
    given(page, server)
    expect(page.locator("#answer")).to_have_text(predicted(server).text)
    expect(page.locator(".counter")).to_have_text("scene.png · 96 × 96 pixels")
    hand = """([scene, kind]) => {
      const bytes = Uint8Array.from(atob(scene), (one) => one.charCodeAt(0)), all = new DataTransfer();
      all.items.add(new File([bytes], "hand.png", { type: "image/png" }));
      const options = { bubbles: true, cancelable: true };
      document.querySelector(".plate").dispatchEvent(kind === "drop"
        ? new DragEvent("drop", { ...options, dataTransfer: all })
        : new ClipboardEvent("paste", { ...options, clipboardData: all }));
    }"""
    for kind, scene in (("drop", SCENES[1]), ("paste", SCENES[2])):
        page.evaluate(hand, [base64.b64encode(scene).decode(), kind])
        expect(page.locator(".counter")).to_have_text("hand.png · 96 × 96 pixels")
        expect(page.locator("#answer")).to_have_text(predicted(server, scene).text)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#answer")).to_be_empty()
    expect(page.locator(".plate")).to_contain_text("Drop a picture here")


def test_the_light_on_the_picture_is_that_of_python(page: Page, server: Here) -> None:
    given(page, server)
    record = predicted(server).attention
    looks = looks_of(record, record.cross()).of_words()
    assert np.allclose(light(page), 1, atol=0.01)  # nothing is pointed at
    page.locator("#answer .unit").first.focus()
    for place in range(2):
        wanted = smooth(looks.maps((4, 4))[place], 4 * FINE, 4 * FINE)
        assert np.abs(light(page) - wanted).max() < 0.01
        strongest = f"{looks.weights[place].max():.3f}"
        expect(page.locator(".readout")).to_contain_text(f"{looks.names[place]} looked mostly at")
        expect(page.locator(".readout b").last).to_have_text(strongest)
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    box = page.locator(".plate").bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.1 * box["height"])
    expect(page.locator(".readout")).to_contain_text("1,3 was looked at by")
    assert page.locator("#answer .unit").evaluate_all("all => all.some((one) => one.style.backgroundColor)")


def test_words_are_played_one_after_the_other(page: Page, server: Here) -> None:
    given(page, server)
    page.get_by_role("button", name="Play").click()
    expect(page.locator("#answer .unit").nth(0)).to_have_class(re.compile("chosen"))
    expect(page.locator("#answer .unit").nth(1)).to_have_class(re.compile("chosen"))
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#answer .unit.chosen")).to_have_count(0)


def test_a_photograph_is_made_smaller_before_it_is_sent(page: Page, server: Here) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (1500, 2400, 3), dtype=np.uint8)
    photograph = encoded(Image.fromarray(noise), "JPEG")
    assert len(photograph) > 2_000_000
    page.goto(link(server.port, model="shapes"))
    with page.expect_request("**/v1/stream") as asked:
        page.locator("#input").set_input_files(
            {"name": "large.jpg", "mimeType": "image/jpeg", "buffer": photograph}
        )
    sent = asked.value.post_data_json["inputs"][0]
    assert len(sent) < 1_000_000
    small = Image.open(io.BytesIO(base64.b64decode(sent.partition(",")[2])))
    assert min(small.size) == 512
    settled(page)
    expect(page.locator(".counter")).to_have_text("large.jpg · 2400 × 1500 pixels")


def test_what_is_no_picture_is_told_and_runs_nothing(browser: Browser, server: Here) -> None:
    with visited(browser, refusals=True) as page:
        page.goto(link(server.port, model="shapes"))
        page.locator("#input").set_input_files(
            {"name": HOSTILE, "mimeType": "text/html", "buffer": b"<script>window.taken=1</script>"}
        )
        expect(page.locator(".counter")).to_have_text(f"“{HOSTILE}” is no picture.")
        page.locator("#input").set_input_files(
            {"name": HOSTILE, "mimeType": "image/png", "buffer": SCENES[0][:200]}
        )
        expect(page.locator(".counter")).to_contain_text("damaged or cut off")
        page.locator("#input").set_input_files(
            {"name": HOSTILE, "mimeType": "image/png", "buffer": b"<svg onload=window.taken=1>"}
        )
        expect(page.locator(".counter")).to_contain_text("no picture of a known format")
        expect(page.locator(".plate")).to_contain_text("This browser can't show it")
        given(page, server, name=HOSTILE)
        expect(page.locator(".counter")).to_contain_text(HOSTILE)
        page.goto(link(server.port, model="shapes", input="/etc/passwd"))
        expect(page.locator(".counter")).to_contain_text("given as a data URL here")
        expect(page.locator(".plate img")).to_be_hidden()
        assert page.evaluate("window.taken") is None


def test_examples_links_and_the_way_back(browser: Browser, server: Here) -> None:
    with visited(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(link(server.port, model="shapes"))
        page.get_by_role("button", name="Example 2").click()
        expect(page.locator("#answer")).to_have_text(predicted(server, SCENES[1]).text)
        noise = np.random.default_rng(2).integers(0, 255, (90, 90, 3), dtype=np.uint8)
        given(page, server, encoded(Image.fromarray(noise)))  # too many bytes for a link
        answer = page.locator("#answer").inner_text()
        page.get_by_role("button", name="Copy link").click()
        expect(page.get_by_role("alert")).to_contain_text("A picture does not fit into a link")
        assert page.evaluate("navigator.clipboard.readText()") == page.url
        page.get_by_role("tab", name="Attention").click()
        expect(page.locator(".looks .strip .panel-of").first).to_be_visible()
        page.go_back()
        expect(page.locator("#answer")).to_have_text(answer)
        page.reload()
        expect(page.locator("#answer")).to_have_text(answer)


def test_every_view_works_for_pictures(page: Page, server: Here) -> None:
    given(page, server, beam=3)
    answer = predicted(server, beam=3, best=3, record=True, likeliest=6)
    assert page.locator(".answers .row .text").all_inner_texts() == [
        one.text for one in (answer, *answer.alternatives)
    ]
    page.locator("#tab-attention").click()
    words = looks_of(answer.attention, answer.attention.cross()).of_words().names
    expect(page.locator(".looks .strip .name")).to_have_text(list(words))
    assert server.models.get("shapes").looks["encoder"] == (
        1,
        2,
    )  # what cells make of each other is not shown
    expect(page.get_by_role("radio", name="Source at itself")).to_have_count(0)
    page.get_by_role("group", name="Show").get_by_role("radio", name="All heads").check()
    expect(page.locator(".head")).to_have_count(2)
    page.get_by_role("button", name="Layer 0, head 1").press("Enter")
    page.locator(".looks .frame").focus()
    page.keyboard.press("ArrowRight")
    one = looks_of(answer.attention, answer.attention.cross(0, 1)).of_words().weights
    expect(page.locator(".readout b").last).to_have_text(f"{one[1].max():.3f}")
    page.locator("#tab-whatif").click()
    other = next(piece for piece, _ in answer.likeliest[0] if piece not in (answer.pieces[0], "</s>"))
    page.locator(".steps > li").first.get_by_role("button", name=f"{other},").click()
    wanted = predicted(server, beam=3, record=True)
    prefix = other.replace("▁", " ").strip()
    (text,) = server.texts([url(SCENES[0])], model="shapes", beam=3, prefix=prefix)
    expect(page.locator("#answer")).to_have_text(text)
    page.get_by_role("button", name=re.compile("Take back")).click()
    page.locator("#tab-beam").click()
    assert wanted.beam
    expect(page.locator(".node")).to_have_count(len(wanted.beam))
    page.locator("#tab-compare").click()
    page.locator(".two select").nth(2).select_option("others")
    (theirs,) = server.texts([url(SCENES[0])], model="others", beam=1)
    expect(page.locator(".two .reply")).to_have_text([wanted.text, theirs])
    expect(page.locator(".two .strip")).to_have_count(2)


def test_every_view_of_a_picture_is_saved(browser: Browser, server: Here, tmp_path: Path) -> None:
    with visited(browser, accept_downloads=True) as page:
        given(page, server)
        for view in VIEWS:
            page.locator(f"#tab-{view}").click()
            expect(page.locator("#view.old")).to_have_count(0)
            expect(page.locator(".two .reply").last).not_to_be_empty() if view == "compare" else None
            drawn = ElementTree.fromstring(saved(page, "svg"))
            assert len(list(drawn.iter())) > 8, view
            assert saved(page, "png").startswith(b"\x89PNG")
            data = json.loads(saved(page, "json"))
            assert data["prediction"]["answers"][0]["text"] == predicted(server).text
            assert ("other" in data) == (view == "compare")
            (tmp_path / f"{view}.html").write_bytes(saved(page, "html"))
        picture = Image.open(io.BytesIO(saved(page, "png"))).convert("RGB")
        assert len(picture.getcolors(10**7) or []) > 100  # pictures are in it, and not their frames alone
    with visited(browser) as page:
        for view in VIEWS:
            page.goto((tmp_path / f"{view}.html").as_uri())
            assert "a picture" in page.locator("dd").all_inner_texts()
            if view in ("answer", "attention", "compare"):
                assert page.locator("svg image").count() >= 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_of_a_picture_has_a_serious_fault(browser: Browser, server: Here, scheme: str) -> None:
    with visited(browser, color_scheme=scheme, reduced_motion="reduce") as page:
        page.goto(link(server.port, model="shapes"))
        assert grave_faults(page, scheme) == []
        given(page, server, beam=2)
        for tab in page.get_by_role("tab").all():
            tab.click()
            expect(page.locator("#view.old")).to_have_count(0)
            assert grave_faults(page, scheme) == [], tab.inner_text()


def test_pictures_on_a_phone_never_scroll_sideways(browser: Browser, server: Here) -> None:
    with visited(browser, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as page:
        given(page, server, beam=3)
        for tab in page.get_by_role("tab").all():
            tab.click()
            settled(page)
            assert page.evaluate("document.documentElement.scrollWidth") == 390, tab.inner_text()
