import numpy as np
import pytest

from regard.core.errors import UserError
from regard.core.points import read_points, read_series_source
from regard.metrics import METRICS
from regard.tasks.arms import Arms, Lissajous, SeriesSplits

ARMS = Arms()
SPLITS = ARMS.pairs(train=400, validation=20, test=100, seed=1)

makers = pytest.mark.parametrize("make", [Arms(), Lissajous()], ids=["arms", "lissajous"])


def ade(answers: list[np.ndarray], targets: list[np.ndarray]) -> float:
    return float(
        np.mean([np.linalg.norm(a - t, axis=1).mean() for a, t in zip(answers, targets, strict=True)])
    )


def linear(inputs: list[np.ndarray], targets: list[np.ndarray], asked: list[np.ndarray]) -> list[np.ndarray]:
    """The best linear answer, by least squares."""
    rows, wanted, questions = (np.stack([one.ravel() for one in some]) for some in (inputs, targets, asked))
    rows, questions = (np.column_stack([some, np.ones(len(some))]) for some in (rows, questions))
    return list((questions @ np.linalg.lstsq(rows, wanted, rcond=None)[0]).reshape(-1, *targets[0].shape))


@makers
def test_a_seed_decides_everything(make: Arms | Lissajous) -> None:
    def pairs(seed: int, test: int = 5) -> SeriesSplits:
        return make.pairs(train=30, validation=5, test=test, seed=seed)

    assert pairs(1) == pairs(1)
    assert pairs(1).train != pairs(2).train
    more = pairs(1, test=9)
    assert (more.train, more.validation, more.test[:5]) == (
        pairs(1).train,
        pairs(1).validation,
        pairs(1).test,
    )


@makers
def test_no_source_comes_twice(make: Arms | Lissajous) -> None:
    made = make.pairs(train=300, validation=100, test=100, seed=3)
    sources = [pair.source for pair in (*made.train, *made.validation, *made.test)]
    assert len(set(sources)) == 500
    assert {len(read_series_source(source).series) for source in sources} == {make.observed}
    assert {len(read_points(pair.target)) for pair in made.test} == {make.predicted}


@makers
def test_numbers_of_pairs_that_cannot_be_are_told(make: Arms | Lissajous) -> None:
    for sizes in ({"train": 0, "validation": 1, "test": 1}, {"train": 1, "validation": -1, "test": 1}):
        with pytest.raises(UserError, match="at least one to train with"):
            make.pairs(**sizes, seed=1)


def test_a_source_of_arms_says_all_that_its_answer_needs() -> None:
    answers = [ARMS.told(pair.source) for pair in SPLITS.test]
    assert (
        ade(answers, [read_points(pair.target) for pair in SPLITS.test]) < 2e-4
    )  # four decimals are written


def test_without_the_context_an_arm_is_five_times_harder_to_predict_at_least() -> None:
    """Linear regression from the series alone, and with the places of the readings that are needed."""
    series, places, targets = {}, {}, {}
    for name, pairs in (("train", SPLITS.train), ("test", SPLITS.test)):
        sources = [read_series_source(pair.source) for pair in pairs]
        series[name] = [one.series for one in sources]
        places[name] = [
            np.concatenate([one.series, one.context[ARMS.needed(pair.source)[:: ARMS.stretch], -2:]])
            for one, pair in zip(sources, pairs, strict=True)
        ]
        targets[name] = [read_points(pair.target) for pair in pairs]
    alone = ade(linear(series["train"], targets["train"], series["test"]), targets["test"])
    told = ade(linear(places["train"], targets["train"], places["test"]), targets["test"])
    assert alone > 0.3
    assert told < alone / 50
    still = METRICS["ade"]()(
        [str([one.series[-1].tolist()]) for one in (read_series_source(pair.source) for pair in SPLITS.test)],
        [[pair.target] for pair in SPLITS.test],
    ).value
    assert still > 0.3


def test_where_a_reading_stands_says_nothing_of_what_it_is_for() -> None:
    needed = np.array([ARMS.needed(pair.source) for pair in SPLITS.train])  # pairs, steps
    for step in range(0, ARMS.predicted, ARMS.stretch):
        counts = np.bincount(needed[:, step], minlength=ARMS.readings)
        assert counts.min() > 400 / ARMS.readings / 2
    assert (needed[:, : ARMS.stretch] == needed[:, :1]).all()
    assert all(len(set(row.tolist())) == ARMS.reaches for row in needed)


def test_readings_nobody_needs_have_no_mark() -> None:
    for pair in SPLITS.test[:20]:
        context = read_series_source(pair.source).context
        unneeded = sorted(set(range(ARMS.readings)) - set(ARMS.needed(pair.source)))
        assert (context[unneeded, : ARMS.reaches] == 0).all()
        assert (context[:, : ARMS.reaches].sum(axis=0) == 1).all()
        assert np.abs(context[unneeded, ARMS.reaches :]).sum(axis=1).min() > 0


def test_a_hand_is_never_farther_away_than_its_arm_is_long() -> None:
    for pair in SPLITS.test:
        places = np.concatenate([read_series_source(pair.source).series, read_points(pair.target)])
        assert np.linalg.norm(places, axis=1).max() <= 1.001


def test_arms_that_cannot_be_are_told() -> None:
    with pytest.raises(UserError, match="a reading for each reach"):
        Arms(reaches=3, readings=2)


def test_a_figure_goes_on_as_it_began() -> None:
    """Both sides of a straight line in the plane of x and its neighbours: a sine obeys x₊ + x₋ = 2·cos(f·step)·x."""
    make = Lissajous()
    path = make.figure(np.random.default_rng(4))
    for values in path.T:
        ratios = (values[2:] + values[:-2])[np.abs(values[1:-1]) > 0.1] / values[1:-1][
            np.abs(values[1:-1]) > 0.1
        ]
        assert np.ptp(ratios) < 0.01
        frequency = np.arccos(ratios.mean() / 2) / make.step
        assert frequency == pytest.approx(round(frequency), abs=0.05)
