"""What every metric promises, tomorrow's too."""

import random

import pytest

from regard.core.errors import UserError
from regard.metrics import METRICS, Metric, compare, interval

PREDICTIONS = [
    "The cat sat on the mat today.",
    "A quite different sentence stands here, does it not?",
    "Words in the wrong order are these.",
    "",
    "  Saturday the 9th of May 2018 ",
]
REFERENCES = [
    ["The cat sat on the mat."],
    ["Quite another sentence stands here.", "A different sentence was standing here, was it not?"],
    ["These are words in the wrong order."],
    ["Nothing was said about it."],
    ["Saturday the 9th of May 2018", ""],
]


@pytest.fixture(params=METRICS)
def metric(request: pytest.FixtureRequest) -> Metric:
    return METRICS[request.param]()


@pytest.fixture(params=[name for name in METRICS if METRICS[name]().alone])
def lone_metric(request: pytest.FixtureRequest) -> Metric:
    """One whose value for an answer depends on nothing but its own right answers."""
    return METRICS[request.param]()


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_and_its_score_carry_the_name_it_is_registered_under(name: str) -> None:
    metric = METRICS[name]()
    score = metric(PREDICTIONS, REFERENCES)
    assert metric.name == score.name == name
    assert score.higher_is_better is metric.higher_is_better


def test_right_answers_get_the_best_value(lone_metric: Metric) -> None:
    answers = [references[-1] for references in REFERENCES if references[-1]]
    best = 100 if lone_metric.higher_is_better else 0
    score = lone_metric(answers, [["something else altogether", answer] for answer in answers])
    assert score.value == pytest.approx(best, abs=1e-9)


def test_wrong_answers_get_a_worse_value_than_right_ones(metric: Metric) -> None:
    references = [["the cat sat on the mat"], ["something else was said here"]]
    right = metric(["the cat sat on the mat", "something else was said here"], references).value
    wrong = metric(["a dog ran off into woods", "something else was said here"], references).value
    assert (right > wrong) is metric.higher_is_better
    assert right != wrong


def test_the_order_of_the_examples_changes_nothing(metric: Metric) -> None:
    numbers = list(range(len(PREDICTIONS)))
    random.Random(1).shuffle(numbers)
    assert numbers != sorted(numbers)
    shuffled = metric([PREDICTIONS[number] for number in numbers], [REFERENCES[number] for number in numbers])
    straight = metric(PREDICTIONS, REFERENCES)
    assert shuffled.value == pytest.approx(straight.value, abs=1e-9)
    assert shuffled.signature == straight.signature


def test_the_order_of_the_right_answers_changes_nothing(metric: Metric) -> None:
    turned = [answers[::-1] for answers in REFERENCES]
    assert metric(PREDICTIONS, turned).value == pytest.approx(metric(PREDICTIONS, REFERENCES).value, abs=1e-9)


def test_the_signature_tells_settings_the_number_of_references_and_a_version(metric: Metric) -> None:
    one = dict(part.split(":") for part in metric(["a b"], [["a b"]]).signature.split("|"))
    two = dict(part.split(":") for part in metric(["a b"], [["a b", "b a"]]).signature.split("|"))
    differing = dict(part.split(":") for part in metric(PREDICTIONS, REFERENCES).signature.split("|"))
    assert (one["nrefs"], two["nrefs"], differing["nrefs"]) == ("1", "2", "var")
    assert list(one)[-1] == "version"
    assert any(character.isdigit() for character in one["version"])


def test_the_counts_of_some_examples_give_what_the_metric_gives_for_them(lone_metric: Metric) -> None:
    tally = lone_metric.tally(PREDICTIONS, REFERENCES)
    assert tally.score() == lone_metric(PREDICTIONS, REFERENCES)
    some = [4, 0, 2]
    alone = lone_metric([PREDICTIONS[number] for number in some], [REFERENCES[number] for number in some])
    assert tally.over(some).score().value == pytest.approx(alone.value, abs=1e-9)
    for value, prediction, answers in zip(tally.each(), PREDICTIONS, REFERENCES, strict=True):
        assert value == pytest.approx(lone_metric([prediction], [answers]).value, abs=1e-9)


def test_every_metric_has_an_interval_around_its_value(metric: Metric) -> None:
    tally = metric.tally(PREDICTIONS, REFERENCES)
    found = interval(tally, resamples=50)
    assert found.low <= tally.score().value <= found.high
    assert found.half == (found.high - found.low) / 2


def test_a_run_is_no_better_than_itself(metric: Metric) -> None:
    tally = metric.tally(PREDICTIONS, REFERENCES)
    assert compare(tally, tally, trials=20).p == 1


@pytest.mark.parametrize(
    ("prediction", "reference"), [("", ""), ("", "a"), ("a", ""), (" ", " "), ("\n", "x"), ("e\u0301", "é")]
)
def test_empty_and_odd_strings_get_a_finite_value(metric: Metric, prediction: str, reference: str) -> None:
    assert metric([prediction], [[reference]]).value >= 0
    assert metric([prediction, "something"], [[reference], ["something"]]).value < float("inf")


def test_what_was_given_is_left_as_it_was(metric: Metric) -> None:
    predictions, references = list(PREDICTIONS), [list(answers) for answers in REFERENCES]
    metric(predictions, references)
    assert (predictions, references) == (PREDICTIONS, REFERENCES)


def test_as_many_references_as_predictions_are_needed(metric: Metric) -> None:
    with pytest.raises(ValueError, match="2 predictions but references for 1"):
        metric(["a", "b"], [["a"]])


def test_an_example_without_a_right_answer_is_refused(metric: Metric) -> None:
    with pytest.raises(ValueError, match=r"references\[1\] is empty"):
        metric(["a", "b"], [["a"], []])


def test_a_string_instead_of_a_list_of_right_answers_is_refused(metric: Metric) -> None:
    with pytest.raises(ValueError, match=r"references\[0\] is one string"):
        metric(["a"], ["a"])


def test_an_empty_corpus_is_the_persons_mistake(metric: Metric) -> None:
    with pytest.raises(UserError, match="nothing to score"):
        metric([], [])


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("language", [None, "de", "pt-BR", "zh", "xx"])
def test_any_language_may_be_named_and_only_the_signature_may_tell(name: str, language: str | None) -> None:
    score = METRICS[name](language=language)(["the cat sat on the mat"], [["the cat sat on the mat"]])
    assert score.value in (0, pytest.approx(100))
    assert all(len(part.split(":")) == 2 for part in score.signature.split("|"))
