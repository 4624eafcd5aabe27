import pytest

from regard.comparing.varying import (
    Variation,
    budget_changes,
    called,
    combinations,
    parse_variation,
    parse_variations,
    split_values,
)
from regard.config import load_config
from regard.core.errors import UserError


def test_a_variation_is_a_key_and_its_values() -> None:
    found = parse_variation("model.attention.score=none, dot,additive")
    assert found == Variation("model.attention.score", ("none", "dot", "additive"))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,3", ["1", "2", "3"]),
        ("[0.9,0.98],[0.9,0.999]", ["[0.9,0.98]", "[0.9,0.999]"]),
        ("'a,b',c", ["'a,b'", "c"]),
        ('{a="x]",b=1},2', ['{a="x]",b=1}', "2"]),
        ("", [""]),
    ],
)
def test_commas_inside_of_brackets_and_quotes_do_not_separate(text: str, values: list[str]) -> None:
    assert split_values(text) == values


@pytest.mark.parametrize("text", ["training.seed", "training.seed=", "=1,2", "training.seed=1,,2"])
def test_a_variation_without_key_or_values_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="expected key=value,value"):
        parse_variation(text)


def test_the_same_value_or_key_twice_is_refused() -> None:
    with pytest.raises(UserError, match="the value 2 comes twice"):
        parse_variation("training.seed=1,2,2")
    with pytest.raises(UserError, match=r"--vary training.seed is given twice"):
        parse_variations(["training.seed=1", "training.seed=2"])


def test_every_value_meets_every_other() -> None:
    found = combinations([Variation("a", ("1", "2")), Variation("b", ("x", "y"))])
    assert found == [
        {"a": "1", "b": "x"},
        {"a": "1", "b": "y"},
        {"a": "2", "b": "x"},
        {"a": "2", "b": "y"},
    ]
    assert combinations([]) == [{}]


@pytest.mark.parametrize(
    ("combination", "name"),
    [
        ({"model.attention.score": "dot", "training.seed": "3"}, "score=dot"),
        ({"model.encoder.width": "64", "model.decoder.width": "32"}, "encoder.width=64, decoder.width=32"),
        ({"training.metric": "'bleu'"}, "metric=bleu"),
        ({"training.seed": "1"}, ""),
    ],
)
def test_a_name_says_what_differs_and_no_more(combination: dict[str, str], name: str) -> None:
    assert called(combination) == name


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ("steps=20", (20, None, None)),
        ("tokens=2e6", (10**12, 2_000_000, None)),
        ("minutes=0.5", (10**12, None, 0.5)),
    ],
)
def test_a_budget_is_a_setting_of_the_training(
    budget: str, expected: tuple[int, int | None, float | None]
) -> None:
    training = load_config("dates", budget_changes(budget)).training
    assert (training.steps, training.tokens, training.minutes) == expected


@pytest.mark.parametrize(
    "budget", ["20", "epochs=3", "steps=2.5", "minutes=-1", "tokens=many", "steps=inf", "steps=nan"]
)
def test_another_budget_is_refused(budget: str) -> None:
    with pytest.raises(UserError, match="expected steps=2000, tokens=2e6 or minutes=20"):
        budget_changes(budget)
