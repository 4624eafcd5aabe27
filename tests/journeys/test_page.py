"""The page of `regard serve` in a real browser: typing, pointing, links, and what goes wrong."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsing import link, needs_chromium, visited
from playwright.sync_api import Browser, Page, Route, expect
from serving import MANY, RECURRENT, TRANSFORMER, TRANSLATION, Gate, Here, here, until, untrained

pytestmark = needs_chromium

HOSTILE = "<img src=x onerror=window.taken=1><script>window.taken=1</script>"
SOURCE = "a cat and a dog"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    found = {
        "there": untrained(folder / "there", TRANSLATION, "data.train=a.tsv", *TRANSFORMER),
        "many": untrained(folder / "many", MANY, *RECURRENT, seed=1),
        "dates": untrained(folder / "dates", *RECURRENT, seed=2),
        "fixed": untrained(folder / "fixed", "model.attention.score=none", *RECURRENT),
    }
    kept = found["dates"] / "samples" / "step-000010"
    kept.mkdir(parents=True)
    lines = [
        json.dumps({"source": source, "text": "", "score": 0}) for source in ("3 May 1999", "1 de julio")
    ]
    (kept / "predictions.jsonl").write_text("\n".join(lines) + "\n")
    return found


@pytest.fixture(scope="module")
def server(runs: dict[str, Path]) -> Iterator[Here]:
    with here(*runs.values()) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with visited(browser) as found:
        yield found


def type_in(page: Page, text: str) -> None:
    page.get_by_role("textbox").first.fill(text)


def settled(page: Page) -> str:
    """The answer, when it is there."""
    expect(page.locator("#answer")).not_to_be_empty()  # a page that has just come has not asked yet
    expect(page.locator("#answer")).not_to_have_class(re.compile("busy"))
    return page.locator("#answer").inner_text()


def readout(page: Page) -> str:
    return page.locator(".readout").inner_text()


def test_what_is_typed_is_answered(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="there"))
    expect(page.locator(".counter")).to_have_text("0 of 60 pieces")
    type_in(page, SOURCE)
    (wanted,) = server.texts([SOURCE], model="there")
    expect(page.locator("#answer")).to_have_text(wanted)
    expect(page.locator(".counter")).to_have_text(f"{len(SOURCE)} of 60 pieces")
    assert page.title() == "there · Regard"
    type_in(page, "")
    expect(page.locator("#answer")).to_have_text("")


def test_the_answer_grows_and_what_is_no_longer_wanted_is_given_up(
    browser: Browser, runs: dict[str, Path]
) -> None:
    with here(runs["dates"]) as server, visited(browser) as page:
        gate = Gate(server.models, "dates")
        page.goto(link(server.port, input=SOURCE))
        gate.let_through(3)
        expect(page.locator("#answer")).to_have_class(re.compile("growing"))
        expect(page.locator("#answer")).to_have_text(re.compile("."))
        begun = page.locator("#answer").inner_text()
        type_in(page, "something else")
        until(lambda: server.count("cancelled_total") == 1)
        gate.open.set()
        (wanted,) = server.texts(["something else"])
        expect(page.locator("#answer")).to_have_text(wanted)
        assert server.texts([SOURCE])[0].startswith(begun[:1])


@pytest.mark.parametrize("words", [False, True])
def test_pointing_at_a_word_tells_where_it_came_from(page: Page, server: Here, words: bool) -> None:
    page.goto(link(server.port, model="there", input=SOURCE, words=int(words)))
    settled(page)
    record = server.models.get("there").predictor.predict(SOURCE).attention
    record = record.in_words() if words else record
    weights = record.cross()[0]
    best = int(np.argmax(weights))
    page.locator("#answer .unit").first.hover()
    label = record.source_pieces[best].replace(" ", "␣")
    assert f"looked at {label} {weights[best]:.3f}" in readout(page)
    lit = page.locator(".shadow mark").evaluate_all(
        "all => all.filter((one) => one.style.backgroundColor).length"
    )
    assert lit > 0
    page.mouse.move(0, 0)
    expect(page.locator(".readout")).to_have_text("Point at a word to see where it came from.")


def test_of_a_long_source_what_was_read_can_be_pointed_at(browser: Browser, tmp_path: Path) -> None:
    source = "the end of the end " * 5  # 95 letters, of which the model reads 60
    untrained(tmp_path / "last", TRANSLATION, "data.train=a.tsv", "data.long_source=last", *TRANSFORMER)
    with here(tmp_path / "last") as server, visited(browser) as page:
        page.goto(link(server.port, input=source, words=0))
        settled(page)
        marked = page.locator(".shadow mark").all_text_contents()
        assert "".join(marked) == source[-60:]
        before = page.locator(".shadow").first.evaluate("one => one.firstChild.textContent")
        assert before == source[:-60]


def test_the_caret_in_the_source_lights_up_the_answer(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="there", input=SOURCE, words=1))
    settled(page)
    page.locator("#input").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".readout")).to_contain_text("a was looked at by")
    assert page.locator("#answer .unit").evaluate_all("all => all.some((one) => one.style.backgroundColor)")


def test_words_of_the_answer_are_walked_by_arrow_keys(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="there", input=SOURCE, words=0))
    settled(page)
    page.locator("#answer .unit").first.focus()
    first = readout(page)
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.at") == "1"
    assert readout(page) != first
    expect(page.locator("#spoken")).to_have_text(readout(page))  # and those who listen hear it
    expect(page.locator('#answer [tabindex="0"]')).to_have_count(1)


def test_next_best_answers_have_scores_and_can_be_chosen(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="there", input=SOURCE, beam=4, best=4))
    settled(page)
    answers = server.post(
        "/v1/predict", {"model": "there", "inputs": [SOURCE], "beam": 4, "best": 4, "return": ["scores"]}
    ).json["predictions"][0]["answers"]
    rows = page.locator(".answers .row")
    assert rows.locator(".text").all_inner_texts() == [one["text"] for one in answers]
    assert f"{answers[2]['score']:.3f}".replace("-", "−") in rows.nth(2).inner_text()
    rows.nth(2).click()
    expect(page.locator("#answer")).to_have_text(answers[2]["text"])
    assert "answer=2" in page.url


def test_examples_can_be_clicked(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="dates"))
    page.get_by_role("button", name="1 de julio").click()
    expect(page.locator("#input")).to_have_value("1 de julio")
    assert settled(page) == server.texts(["1 de julio"], model="dates")[0]


def test_languages_are_chosen_and_swapped(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="many", input="ein Hund", to="fr"))
    french = settled(page)
    assert french == server.texts(["ein Hund"], model="many", to="fr")[0]
    page.get_by_label("Into").select_option("German")
    german = server.texts(["ein Hund"], model="many", to="de")[0]
    expect(page.locator("#answer")).to_have_text(german)
    page.get_by_role("button", name="Swap the languages").click()
    expect(page.locator("#input")).to_have_value(german)
    expect(page.locator("#answer")).to_have_text(server.texts([german], model="many", to="en")[0])
    page.goto(link(server.port, model="dates"))
    expect(page.get_by_label("Into")).to_be_hidden()


def test_a_link_holds_everything(page: Page, server: Here) -> None:
    state = {"model": "there", "input": SOURCE, "view": "attention", "kind": "encoder", "layer": 1, "head": 0}
    page.goto(link(server.port, **state, special=1, words=0, beam=2, prefix="ab", forbid=["x", "y"]))
    settled(page)
    assert page.locator(".chip").all_inner_texts() == [
        "begins with\nab\n×",
        "must not have\nx\n×",
        "must not have\ny\n×",
    ]
    checked = page.locator("input:checked").evaluate_all("all => all.map((one) => one.value)")
    assert checked == ["map", "encoder", "1", "0", "on"]
    told = page.url
    page.reload()
    settled(page)
    assert page.url == told
    page.get_by_role("tab", name="Beam").click()
    assert "view=beam" in page.url
    page.go_back()
    expect(page.get_by_role("tab", name="Attention")).to_have_attribute("aria-selected", "true")


def test_copying_tells_the_answer_and_the_link(browser: Browser, server: Here) -> None:
    with visited(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(link(server.port, model="dates", input=SOURCE))
        answer = settled(page)
        page.get_by_role("button", name="Copy", exact=True).click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == answer
        page.get_by_role("button", name="Copy link").click()
        expect(page.get_by_role("button", name="Copied").last).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_too_long_a_text_is_told_at_the_counter(browser: Browser, server: Here) -> None:
    with visited(browser, refusals=True) as page:
        page.goto(link(server.port, model="there"))
        type_in(page, SOURCE)
        expect(page.locator("#answer")).to_have_text(re.compile("."))
        type_in(page, "a" * 75)
        expect(page.locator(".counter")).to_have_text("75 of 60 pieces: too long. Make it shorter.")
        expect(page.locator("#answer")).to_have_text("")  # no answer to what was there before
        type_in(page, "a" * 5)
        expect(page.locator(".counter")).to_have_text("5 of 60 pieces")
        assert settled(page)


def test_too_many_phrases_are_not_told_as_too_long_a_text(browser: Browser, server: Here) -> None:
    with visited(browser, refusals=True) as page:
        page.goto(link(server.port, model="there", input=SOURCE, require=list("abcdefgh"), forbid="x"))
        expect(page.locator(".counter")).to_have_text("Input 0 has 9 phrases, but at most 8 are allowed.")


@pytest.mark.parametrize("view", ["answer", "attention"])
def test_a_server_that_sends_few_numbers_is_asked_for_fewer(
    browser: Browser, runs: dict[str, Path], view: str
) -> None:
    with here(runs["there"], limits={"numbers": 1}) as server, visited(browser) as page:
        page.goto(link(server.port, input=SOURCE, view=view))
        expect(page.locator("#answer")).to_have_text(server.texts([SOURCE])[0])
        expect(page.get_by_role("alert")).to_be_empty()


def test_a_server_that_stopped_is_told_and_asked_again(browser: Browser, runs: dict[str, Path]) -> None:
    with visited(browser, refusals=True) as page:
        with here(runs["dates"]) as server:
            page.goto(link(server.port))
            expect(page.locator(".counter")).to_be_visible()
        type_in(page, SOURCE)
        expect(page.get_by_role("alert")).to_contain_text(
            re.compile(r"The server does not answer. Trying again in \d+ s.")
        )
        page.route("**/v1/stream", answering({"text": "here again", "finished": True}))
        page.get_by_role("button", name="Try now").click()
        expect(page.locator("#answer")).to_have_text("here again")
        expect(page.get_by_role("alert")).to_be_empty()


def answering(answer: dict[str, object]) -> object:
    """A server's stream with one answer, in its words."""
    prediction = {"input": 0, "prediction": {"answers": [answer], "problem": None}}
    body = f"event: prediction\ndata: {json.dumps(prediction)}\n\n"
    return lambda route: route.fulfill(content_type="text/event-stream", body=body)


def test_a_full_queue_is_waited_for(browser: Browser, server: Here) -> None:
    def full(route: Route) -> None:
        route.fulfill(
            status=429,
            headers={"retry-after": "1"},
            json={"error": "Too many inputs wait already. Try again later."},
        )

    with visited(browser, refusals=True) as page:
        page.route("**/v1/stream", full, times=1)
        page.goto(link(server.port, model="dates", input=SOURCE))
        expect(page.get_by_role("alert")).to_contain_text("Too many inputs wait already.")
        expect(page.locator("#answer")).to_have_text(server.texts([SOURCE], model="dates")[0])


WATCHED = """() => {
  const heard = ({ target }) => !(target.closest ? target : target.parentNode).closest("[aria-hidden=true]");
  window.heard = 0;
  new MutationObserver((changes) => { window.heard += changes.filter(heard).length; })
    .observe(document.querySelector("#problem"), { subtree: true, childList: true, characterData: true });
}"""


@pytest.mark.parametrize("address", ["**/v1/stream", "**/v1/models"])
def test_a_wait_is_told_once_and_its_button_stays_while_the_number_runs(
    browser: Browser, server: Here, address: str
) -> None:
    def full(route: Route) -> None:
        route.fulfill(status=503, headers={"retry-after": "2"}, json={"error": "Too busy."})

    with visited(browser, refusals=True) as page:
        page.route(address, full)
        page.goto(link(server.port, model="dates", input=SOURCE))
        alert, button = page.get_by_role("alert"), page.get_by_role("button", name="Try now")
        expect(alert).to_contain_text(re.compile(r"Too busy. Trying again in \d s."))
        page.evaluate(WATCHED)
        button.focus()
        expect(alert).not_to_have_text(alert.inner_text())  # the number runs
        with page.expect_response(address):  # by itself
            pass
        expect(alert).to_contain_text(re.compile(r"Trying again in \d s."))
        with page.expect_response(address):
            button.press("Enter")
        expect(alert).to_contain_text(re.compile(r"Trying again in \d s."))
        expect(button).to_be_focused()
        assert page.evaluate("window.heard") == 0
        page.unroute(address)
        button.press("Enter")
        expect(page.locator("#answer")).to_have_text(server.texts([SOURCE], model="dates")[0])
        expect(alert).to_be_empty()
        assert page.evaluate("document.activeElement.id") == "view"


BLOCKED = """for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });
}"""


def test_where_storage_is_blocked_the_page_keeps_what_is_chosen_while_it_is_open(
    browser: Browser, runs: dict[str, Path]
) -> None:
    with here(runs["dates"], keys=("secret",)) as server, visited(browser, refusals=True) as page:
        page.add_init_script(BLOCKED)
        page.goto(link(server.port, input=SOURCE))
        page.get_by_label("Key").fill("secret")
        page.get_by_role("button", name="Use it").click()
        assert settled(page)
        page.get_by_role("button", name="Dark colours").click()
        expect(page.get_by_role("button", name="Light colours")).to_be_visible()
        assert page.evaluate("document.documentElement.style.colorScheme") == "dark"


def test_the_link_to_the_api_works_where_there_are_keys(browser: Browser, runs: dict[str, Path]) -> None:
    with here(runs["dates"], keys=("secret",)) as server, visited(browser, refusals=True) as page:
        page.goto(link(server.port))
        page.get_by_role("link", name="API").click()
        expect(page.get_by_role("heading", name="Regard: API")).to_be_visible()
        page.wait_for_function("document.styleSheets[0]?.cssRules.length > 0")  # its style came, too


def test_a_server_with_a_key_asks_for_it(browser: Browser, runs: dict[str, Path]) -> None:
    with here(runs["dates"], keys=("secret",)) as server, visited(browser, refusals=True) as page:
        page.goto(link(server.port, input=SOURCE))
        expect(page.get_by_role("alert")).to_contain_text("This server asks for a key.")
        page.get_by_label("Key").fill("wrong")
        page.get_by_role("button", name="Use it").click()
        expect(page.get_by_role("alert")).to_contain_text("The server refuses this key.")
        page.get_by_label("Key").fill("secret")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#answer")).to_have_text(re.compile("."))


def test_no_key_can_be_typed_into_a_form_that_is_about_to_go(browser: Browser, runs: dict[str, Path]) -> None:
    held: list[Route] = []

    def holding(route: Route) -> None:
        if route.request.headers.get("authorization") == "Bearer wrong":
            held.append(route)
        else:
            route.continue_()

    with here(runs["dates"], keys=("secret",)) as server, visited(browser, refusals=True) as page:
        page.route("**/v1/models", holding)
        page.goto(link(server.port, input=SOURCE))
        page.get_by_label("Key").fill("wrong")
        page.get_by_role("button", name="Use it").click()
        expect(
            page.get_by_label("Key")
        ).to_be_disabled()  # its refusal brings another field, with nothing in it
        until(lambda: page.wait_for_timeout(10) or held)  # the browser's events come while it waits
        held[0].continue_()
        expect(page.get_by_role("alert")).to_contain_text("The server refuses this key.")
        page.get_by_label("Key").fill("secret")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#answer")).to_have_text(re.compile("."))


def hostile_prediction() -> dict[str, object]:
    pieces, words = [HOSTILE, "</s>"], {"texts": [HOSTILE], "of": [[0], None]}
    record = {
        "source": HOSTILE,
        "source_pieces": pieces,
        "source_words": words,
        "text": HOSTILE,
        "target_pieces": pieces,
        "target_words": words,
        "labels": {"source": pieces, "target": pieces},
        "attention": {"cross": {"shape": [1, 1, 2, 2], "weights": [[[[0.5, 0.5], [1, 0]]]]}},
    }
    answer = {
        "text": HOSTILE,
        "finished": True,
        "pieces": [HOSTILE],
        "attention": record,
        "score": -1.0,
        "rank": -1.0,
        "piece_scores": [-1.0, 0.0],
        "alternatives": [[{"piece": HOSTILE, "probability": 0.4}], [{"piece": "</s>", "probability": 1.0}]],
    }
    node = {"parent": None, "piece": HOSTILE, "score": -1.0, "rank": -1.0, "fate": "kept", "step": 1}
    return {"answers": [answer, answer], "problem": None, "beam": [node]}


def test_hostile_texts_are_texts_everywhere(page: Page, server: Here) -> None:
    def models(route: Route) -> None:
        (first, *_) = route.fetch().json()["models"]
        languages = {"source": [HOSTILE], "target": [HOSTILE]}
        hostile = {
            "name": HOSTILE,
            "examples": [HOSTILE],
            "languages": languages,
            "directions": [[HOSTILE, HOSTILE]],
        }
        route.fulfill(json={"models": [{**first, **hostile}]})

    body = f"event: prediction\ndata: {json.dumps({'input': 0, 'prediction': hostile_prediction()})}\n\n"
    page.route("**/v1/models", models)
    page.route("**/v1/stream", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    page.goto(link(server.port, input=HOSTILE, prefix=HOSTILE, require=HOSTILE, special=1))
    expect(page.locator("#about")).to_contain_text(HOSTILE)
    expect(page.locator(".chip")).to_have_count(2)
    for tab in page.get_by_role("tab").all():
        tab.click()
        expect(page.locator("#view")).to_contain_text("onerror=")
    assert page.evaluate("window.taken") is None
    expect(page.locator("img, main script")).to_have_count(0)


def test_no_script_but_the_pages_own_may_run(page: Page, server: Here) -> None:
    answer = server.get("/")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    text = answer.body.decode()
    assert re.findall("<script[^>]*>", text) == ['<script type="module" src="main.js">']
    assert not re.search(r"style=|onclick|https?:", text)


def test_a_model_without_attention_says_so(page: Page, server: Here) -> None:
    page.goto(link(server.port, model="fixed", input=SOURCE))
    assert settled(page)
    assert "it answers from one fixed vector" in readout(page)
    expect(page.locator(".counter")).to_have_text(f"{len(SOURCE)} of 60 pieces")
    page.get_by_role("tab", name="Attention").click()
    expect(page.locator("#view")).to_have_text(
        "This model has no attention to draw: it answers from one fixed vector."
    )


def test_a_phone_never_scrolls_sideways(browser: Browser, server: Here) -> None:
    with visited(browser, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as page:
        page.goto(link(server.port, model="there", input="abcdefgh " * 5, beam=4, words=0))
        for tab in page.get_by_role("tab").all():
            tab.click()
            settled(page)
            assert page.evaluate("document.documentElement.scrollWidth") == 390, tab.inner_text()


def test_light_and_dark_follow_the_system_until_somebody_chooses(browser: Browser, server: Here) -> None:
    def brightness(page: Page) -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)))

    with visited(browser, color_scheme="dark") as page:
        page.goto(link(server.port, model="there", input=SOURCE, view="attention"))
        settled(page)
        dark = page.locator(".map path").first.get_attribute("fill")
        assert brightness(page) < 100
        page.get_by_role("button", name="Light colours").click()
        assert brightness(page) > 600
        expect(page.locator(".map path").first).not_to_have_attribute("fill", dark or "")
        page.reload()
        settled(page)
        assert brightness(page) > 600
