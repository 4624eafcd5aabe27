import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from regard.config import parse_config
from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord, Prediction, Request
from regard.evaluation import Against, Direction, Evaluation
from regard.metrics import Bucket, Comparison, Interval, Score
from regard.report import report, save_report
from regard.report.sentences import around_the_middle, differences
from regard.search import SearchPlan
from regard.text.rarity import Seen

HOSTILE = "</style></title><script>alert(1)</script><img src=x onerror=alert(2)>{{name}}&\"'\u2028\ud800\0"


def predicted(source: str, text: str, *, looks: bool = True) -> Prediction:
    pieces, answer = tuple(source.split()), (*text.split(), "</s>")
    weights = (
        {"cross": np.full((3, 2, len(answer), len(pieces)), 1 / len(pieces), np.float32)} if looks else {}
    )
    return Prediction(source, text, answer[:-1], -1.0, AttentionRecord(pieces, answer, weights))


TEXTS = {  # source -> answer, reference
    "one two": ("eins zwei", "eins zwei"),
    "a red cat": ("eine rote Katze", "eine blaue Katze"),
    "the very worst": ("xyz", "das Allerletzte"),
    "good enough": ("gut genug da", "gut genug"),
}


def score(name: str, value: float) -> Score:
    return Score(name, value, f"nrefs:1|version:{name}-9", name != "ter", Interval(value - 2, value + 1))


def bucket(least: int, most: int | None, *values: float) -> Bucket:
    names = ("bleu", "ter")
    return Bucket(
        least, most, 2, tuple(score(name, value) for name, value in zip(names, values, strict=True))
    )


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    model = tmp_path / "my-run/model"
    model.mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (model / name).write_text("{}")
    lines = [
        {"kind": "train", "step": 1, "loss": 3.5},
        {"kind": "validation", "step": 1, "loss": 2.5, "bleu": 7.25},
    ]
    (tmp_path / "my-run/metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    task = {"name": "translation", "source_language": "en", "target_language": "de"}
    return Evaluation(
        path=tmp_path / "my-run",
        name="my-run",
        config=parse_config({"task": task, "data": {"train": "x.tsv"}}, origin="a test"),
        search=SearchPlan(beam=5),
        split="test",
        scores={"bleu": score("bleu", 41.25), "ter": score("ter", 33.5)},
        by_length=[bucket(1, 4, 50, 25), bucket(5, 9, 25, 50)],
        by_frequency=[bucket(0, 0, 10, 20), bucket(1, 9, 20, 10), bucket(1000, None, 40, 5)],
        by_direction=[],
        requests=[Request(source) for source in TEXTS],
        references=[[right] for _, right in TEXTS.values()],
        predictions=[predicted(source, answer, looks=False) for source, (answer, _) in TEXTS.items()],
        rarest=[Seen("two", 12), Seen("red", 1), Seen("worst", 0), None],
        look=lambda some: [predicted(one.text, TEXTS[one.text][0]) for one in some],
        against=Against(
            "their-run",
            {
                "bleu": Comparison("bleu", 41.25, 40.0, 0.0123, True),
                "ter": Comparison("ter", 33.5, 30.25, 0.0001, False),
            },
        ),
    )


class Read(HTMLParser):
    """The elements, and all words that a person sees."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open and "svg" not in self.open:
            self.words += data + " "


def test_the_page_has_everything_that_was_found_out(evaluation: Evaluation) -> None:
    words = " ".join(Read(report(evaluation)).words.split())
    for part in (
        "my-run",
        "Translation from en to de · 4 test pairs · beam 5",
        "encoder",
        "bleu ↑ 41.25 ±1.50 39.25 to 42.25",
        "ter ↓ 33.50 ±1.50",
        "nrefs:1| version:bleu-9",
        "Beside another run",
        "metric my-run their-run difference p",
        "bleu 41.25 40.00 +1.25 0.0123 better",
        "ter 33.50 30.25 +3.25 0.0001 worse",
        "1 to 4 source pieces 2 50.00 25.00",
        "rarest word unseen 2 10.00 20.00",
        "rarest word seen 1 to 9 times",
        "rarest word seen 1,000 times or more",
        "loss training 3.5 validation 2.5",
        "bleu validation 7.25",
        "The worst answers 3 of 4 answers",
        "rarest word worst , unseen in training",
        "rarest word red , seen once",
        "source the very worst answer xyz reference das Allerletzte",
        "Typical answers",
        "layer 1, mean of 2 heads",
    ):
        assert part in words


def test_the_worst_come_first_and_right_answers_are_never_among_them(evaluation: Evaluation) -> None:
    page = report(evaluation)
    worst, typical = page[page.index("The worst answers") :].split("Typical answers")
    sources = [re.findall(r"<dt>source</dt><dd>(.*?)</dd>", part) for part in (worst, typical)]
    assert sources == [["the very worst", "a red cat", "good enough"], ["one two"]]
    assert worst.count('class="look"') == 3


def test_marks_stand_around_what_only_one_side_has() -> None:
    assert differences("eine <rote> Katze", "eine blaue Katze da") == (
        "eine <mark>&lt;rote&gt;</mark> Katze",
        "eine <mark>blaue</mark> Katze <mark>da</mark>",
    )
    assert differences("", "") == ("", "")


def test_typical_is_the_middle() -> None:
    assert around_the_middle(range(9), 3) == range(3, 6)
    assert around_the_middle(range(2), 6) == range(2)


def test_nothing_is_fetched_and_nothing_runs(evaluation: Evaluation) -> None:
    page = report(evaluation)
    read = Read(page)
    assert not re.search(r"https?://", page.replace('xmlns="http://www.w3.org/2000/svg"', ""))
    assert not {tag for tag, _ in read.elements} & {"script", "link", "img", "iframe", "object", "base", "a"}
    assert not re.search(r"url\(|@import|\bsrc=|\bhref=", page)
    for _, attributes in read.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
    (policy,) = [attributes["content"] for _, attributes in read.elements if attributes.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy


def test_hostile_texts_stay_text_wherever_they_stand(evaluation: Evaluation) -> None:
    def look(some: Sequence[Request]) -> list[Prediction]:
        return [predicted(one.text, HOSTILE) for one in some]

    evil = replace(
        evaluation,
        name=HOSTILE,
        scores={HOSTILE: score(HOSTILE, 1.0)},
        by_direction=[Direction(HOSTILE, False, 4, [score(HOSTILE, 1.0)])],
        requests=[Request(HOSTILE)] * 4,
        references=[["x" + HOSTILE, HOSTILE + "y"]] * 4,
        predictions=[predicted(HOSTILE, HOSTILE, looks=False)] * 4,
        rarest=[Seen(HOSTILE, 3)] * 4,
        look=look,
        against=Against(HOSTILE, {HOSTILE: Comparison(HOSTILE, 1, 2, 0.5, True)}),
    )
    page = report(evil)
    page.encode("utf-8")
    safe = Read(page)
    assert {tag for tag, _ in safe.elements} == {tag for tag, _ in Read(report(evaluation)).elements}
    assert "\0" not in page
    assert safe.words.count("<script>alert(1)</script>") > 15
    assert "{{name}}" in safe.words


def test_an_answer_that_comes_out_differently_has_no_picture(evaluation: Evaluation) -> None:
    other = replace(evaluation, look=lambda some: [predicted(one.text, "anders") for one in some])
    page = report(other)
    assert 'class="look"' not in page
    assert page.count("asked again, the model answers differently") == 4


def test_a_model_without_attention_says_so(evaluation: Evaluation) -> None:
    fixed = replace(
        evaluation, look=lambda some: [predicted(one.text, TEXTS[one.text][0], looks=False) for one in some]
    )
    assert report(fixed).count("none was recorded, or this model has none") == 4


def test_what_was_not_asked_for_is_left_out(evaluation: Evaluation) -> None:
    (evaluation.path / "metrics.jsonl").unlink()
    words = Read(report(replace(evaluation, against=None, by_frequency=[], rarest=[]))).words
    for part in ("another run", "By frequency", "Learning", "Alignment", "rarest"):
        assert part not in words
    assert "Typical answers" in words


def test_a_page_that_cannot_be_written_is_told_to_the_person(evaluation: Evaluation, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write here"):
        save_report(evaluation, tmp_path / "file/report.html")
    path = save_report(evaluation, tmp_path / "new/report.html")
    assert path.read_text(encoding="utf-8") == report(evaluation)


def test_boxes_that_scroll_can_be_reached_and_have_a_name(evaluation: Evaluation) -> None:
    frames = [one for _, one in Read(report(evaluation)).elements if one.get("class") == "frame"]
    names = [one["aria-label"] for one in frames if one["tabindex"] == "0" and one["role"] == "group"]
    assert len(names) == len(frames)
    assert names[:3] == [
        "Scores beside their-run",
        "Scores by source length",
        "Scores by frequency of source words",
    ]
    assert names[3:] == ["What the model looked at"] * 4


def test_a_small_difference_has_as_many_decimals_as_it_needs(evaluation: Evaluation) -> None:
    against = Against("their-run", {"mse": Comparison("mse", 0.0101, 0.0123, 0.0003, False)})
    words = " ".join(Read(report(replace(evaluation, against=against))).words.split())
    assert "mse 0.0101 0.0123 −0.0022 0.0003 better" in words
