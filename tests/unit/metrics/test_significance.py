import math
import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest

from regard.core.errors import UserError
from regard.metrics import Bleu, Chrf, ExactMatch, Tally, Ter, compare, interval

WORDS = ("a", "man", "with", "the", "red", "hat", "sits", "on", "old", "bench", "in", "front", "of", "paper")


def texts(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(4, 12))) for _ in range(count)]


def spoiled(sentences: list[str], share: float, seed: int) -> list[str]:
    """With this share of the words replaced by others."""
    chance = random.Random(seed)
    return [
        " ".join(chance.choice(WORDS) if chance.random() < share else word for word in text.split())
        for text in sentences
    ]


def right(answers: str) -> Tally:
    """An exact match where the answer is y."""
    return ExactMatch().tally(list(answers), [["y"]] * len(answers))


def test_the_interval_of_a_share_is_that_of_the_binomial_distribution() -> None:
    # 300 of 1000: the normal approximation gives 30 ± 1.96 * sqrt(0.3 * 0.7 / 1000) = 30 ± 2.84 per cent.
    found = interval(right("y" * 300 + "n" * 700))
    half = 196 * math.sqrt(0.3 * 0.7 / 1000)
    assert found.low == pytest.approx(30 - half, abs=0.3)
    assert found.high == pytest.approx(30 + half, abs=0.3)


def test_four_times_the_examples_halve_the_interval() -> None:
    few, many = (interval(right("yn" * pairs)).half for pairs in (100, 400))
    assert few / many == pytest.approx(2, rel=0.1)


def test_what_never_varies_has_no_width() -> None:
    found = interval(right("yyyy"))
    assert (found.low, found.high) == (100, 100)


def test_the_same_seed_draws_the_same_examples() -> None:
    tally = right("yyynn")
    assert interval(tally, seed=3) == interval(tally, seed=3)
    assert interval(tally, resamples=7, seed=3) != interval(tally, resamples=7, seed=4)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(Bleu, sacrebleu.BLEU), (Chrf, sacrebleu.CHRF), (Ter, sacrebleu.TER)]
)
def test_the_interval_is_as_wide_as_sacrebleus(ours: type, theirs: type) -> None:
    references = texts(150, 1)
    predictions = spoiled(references, 0.3, 2)
    expected = theirs().corpus_score(predictions, [references], n_bootstrap=1000)
    found = interval(ours().tally(predictions, [[text] for text in references]))
    assert found.half == pytest.approx(float(expected._ci), rel=0.1)
    assert (found.low + found.high) / 2 == pytest.approx(float(expected._mean), abs=0.1 * float(expected._ci))


def exact_p(ours: str, theirs: str) -> float:
    """Over every way to toss the coins."""
    differing = [(a == "y") - (b == "y") for a, b in zip(ours, theirs, strict=True) if a != b]
    swaps = list(product((1, -1), repeat=len(differing)))
    sums = [abs(sum(np.multiply(signs, differing))) for signs in swaps]
    return sum(one >= abs(sum(differing)) for one in sums) / len(swaps)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("yyyyyyn", "nnnnnny"), ("yyyyyyyynn", "nnyynnnynn"), ("yynn", "nnyy"), ("yyy", "nny")],
)
def test_p_is_the_share_of_all_swaps_that_differ_as_much(ours: str, theirs: str) -> None:
    found = compare(right(ours), right(theirs), trials=3000)
    assert found.p == pytest.approx(exact_p(ours, theirs), abs=0.02)
    assert found.difference == pytest.approx(found.value - found.other)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(Bleu, sacrebleu.BLEU), (Chrf, sacrebleu.CHRF), (Ter, sacrebleu.TER)]
)
@pytest.mark.parametrize(("share", "clear"), [(0.2, True), (0.31, False)])
def test_p_is_sacrebleus_and_finds_clear_differences_only(
    ours: type, theirs: type, share: float, clear: bool
) -> None:
    references = texts(100, 1)
    good, other = spoiled(references, share, 2), spoiled(references, 0.33, 3)
    listed = [[text] for text in references]
    found = compare(ours().tally(good, listed), ours().tally(other, listed), trials=2000)
    test = PairedTest([("other", other), ("good", good)], {"x": theirs()}, [references], n_samples=2000)
    _, scores = test()
    (expected,) = [results[1] for name, results in scores.items() if name != "System"]
    assert found.p == pytest.approx(expected.p_value, abs=0.05)
    assert found.value == pytest.approx(expected.score)
    assert (found.verdict == "better") is clear


def test_a_clear_difference_is_a_better_or_a_worse_run() -> None:
    good, bad = right("y" * 40 + "n" * 10), right("n" * 40 + "y" * 10)
    assert (compare(good, bad).verdict, compare(bad, good).verdict) == ("better", "worse")
    assert compare(good, bad).p < 0.001
    references = texts(60, 1)
    listed = [[text] for text in references]
    low, high = (Ter().tally(spoiled(references, share, 2), listed) for share in (0.1, 0.6))
    assert compare(low, high, trials=200).verdict == "better"  # fewer errors are better
    assert compare(high, low, trials=200).verdict == "worse"


def test_noise_is_found_clear_about_as_seldom_as_promised() -> None:
    """Equally good runs: of 60 comparisons about 3 reach p <= 0.05."""
    chance = random.Random(5)

    def run() -> Tally:
        return right("".join(chance.choices("yn", weights=[6, 4], k=200)))

    clear = sum(compare(run(), run(), trials=200, seed=number).p <= 0.05 for number in range(60))
    assert clear <= 8  # more would come once in 300 times


def test_small_errors_are_compared_as_well_as_large_ones() -> None:
    def errors(values: list[float]) -> Tally:
        counts = np.array([[value, 1] for value in values])
        return Tally("mse", "", False, counts, lambda sums: sums[0] / sums[1])

    small, large = ([1e-11 * (number + grown) for number in range(40)] for grown in (1, 9))
    p = compare(errors(small), errors(large), trials=500).p
    million = [[1e6 * value for value in side] for side in (small, large)]
    assert p == compare(*map(errors, million), trials=500).p < 0.05


def test_only_the_same_metric_on_as_many_examples_is_compared() -> None:
    with pytest.raises(ValueError, match="differ"):
        compare(right("yn"), Bleu().tally(["a", "b"], [["a"], ["b"]]))
    other = replace(right("yn"), signature="another")
    with pytest.raises(UserError, match="counted in different ways"):
        compare(right("yn"), other)
    with pytest.raises(ValueError, match="2 examples cannot be paired with 3"):
        compare(right("yn"), right("yny"))
