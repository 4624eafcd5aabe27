import regard
from regard.metrics import ExactMatch


def test_three_of_four_right_answers_are_75_per_cent() -> None:
    score = ExactMatch()(["a", "b", "c", "x"], [["a"], ["b"], ["z", "c"], ["d"]])
    assert score.value == 75.0


def test_case_and_white_space_must_match() -> None:
    assert ExactMatch()(["A", "a ", "a"], [["a"], ["a"], ["a"]]).value == 100 / 3


def test_the_signature_names_the_version_of_regard() -> None:
    signature = ExactMatch()(["a"], [["a"]]).signature
    assert signature == f"nrefs:1|case:mixed|space:yes|version:regard-{regard.__version__}"
