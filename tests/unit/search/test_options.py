"""Options that come from Python have the kinds that they say."""

import re

import pytest

from regard.core.errors import UserError
from regard.search import Options, Rollout, SearchPlan, parse
from regard.search.options import CHECKS, checked

WRONG: list[tuple[dict[str, object], str]] = [
    ({"beam": "5"}, "beam is '5', but must be a whole number from 1 to 1000."),
    ({"beam": 2.5}, "beam is 2.5, but must be a whole number from 1 to 1000."),
    ({"beam": True}, "beam is True, but must be a whole number from 1 to 1000."),
    ({"beam": 0}, "beam is 0, but must be from 1 to 1000."),
    ({"penalty": ["x"]}, "penalty is ['x'], but must be gnmt or average."),
    ({"no_repeat": 2.5}, "no_repeat is 2.5, but must be a whole number from 0 to a million."),
    ({"length_penalty": "0.6"}, "length_penalty is '0.6', but must be a number from 0 to 10."),
    ({"length_penalty": False}, "length_penalty is False, but must be a number from 0 to 10."),
    ({"coverage": float("nan")}, "coverage is nan, but must be from 0 to 1000."),
    ({"sample": "false"}, "sample is 'false', but must be True or False."),
    ({"record": 1}, "record is 1, but must be True or False."),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_a_value_of_another_kind_is_refused_and_told_what_it_should_be(
    options: dict[str, object], said: str
) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        SearchPlan().changed(options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"best": "3"}, "best is '3', but must be a whole number from 1 to 1000."),
        ({"best": True}, "best is True, but must be a whole number from 1 to 1000."),
        ({"max_length": 2.5}, "max_length is 2.5, but must be a whole number from 1 to 100000."),
        ({"max_length": 100_001}, "max_length is 100001, but must be from 1 to 100000."),
        ({"sample": "false"}, "sample is 'false', but must be True or False."),
        (
            {"sample": True, "temperature": "warm"},
            "temperature is 'warm', but must be a number from 1e-6 to 1000.",
        ),
    ],
)
def test_a_rollout_refuses_values_of_another_kind_too(options: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        Rollout().changed(options)


def test_a_whole_number_is_a_number_and_what_is_left_out_is_not_checked() -> None:
    assert SearchPlan().changed({"length_penalty": 1, "beam": None}).length_penalty == 1
    assert checked({"sample": False, "penalty": "average"}) == {"sample": False, "penalty": "average"}


def test_every_option_is_checked() -> None:
    assert set(CHECKS) == set(Options.__annotations__)


def test_words_of_a_command_line_are_read_as_what_they_should_be() -> None:
    read = parse(["beam=5", "length_penalty=1", "sample=true", "penalty=average"])
    assert read == {"beam": 5, "length_penalty": 1.0, "sample": True, "penalty": "average"}
    assert checked(read) == read
    with pytest.raises(UserError, match=re.escape("beam can't be '2.5'.")):
        parse(["beam=2.5"])
