from random import Random

import numpy as np

from regard.data import Pair
from regard.tasks.baselines import Lead, Nearest

PAIRS = [
    Pair("a parser of trees and more trees", "Parsing trees"),
    Pair("speech and sound", "On speech"),
    Pair("a translation of speech", "Speech translation now"),
]


def test_lead_is_as_many_words_as_targets_have_in_the_mean() -> None:
    assert Lead().answers(PAIRS, ["one two three four", "one", ""]) == ["one two", "one", ""]


def test_the_nearest_source_lends_its_target() -> None:
    sources = ["Trees!", "the translation of speech", "nothing known"]
    assert Nearest().answers(PAIRS, sources) == ["Parsing trees", "Speech translation now", ""]


def test_the_index_finds_what_whole_vectors_find() -> None:
    """The same by plain matrices."""
    chance = Random(3)
    words = [f"w{number}" for number in range(30)]
    texts = [" ".join(chance.choices(words, k=12)) for _ in range(60)]
    asked = [" ".join(chance.choices(words, k=8)) for _ in range(20)]
    counts = np.array([[text.split().count(word) for word in words] for text in texts], dtype=float)
    rarity = np.log(len(texts) / (counts > 0).sum(0))

    def vectors(found: np.ndarray) -> np.ndarray:
        weights = np.where(found > 0, 1 + np.log(np.maximum(found, 1)), 0) * rarity
        return weights / np.linalg.norm(weights, axis=1, keepdims=True)

    questions = np.array([[text.split().count(word) for word in words] for text in asked], dtype=float)
    expected = (vectors(questions) @ vectors(counts).T).argmax(1)
    pairs = [Pair(text, str(number)) for number, text in enumerate(texts)]
    assert Nearest().answers(pairs, asked) == [str(number) for number in expected]


def test_words_that_many_sources_have_count_on_neither_side() -> None:
    common = [Pair("the", "The")] * 300
    pairs = [*common, Pair("rare the the the", "Right"), Pair("rare q", "Wrong"), *[Pair("z", "Z")] * 700]
    assert Nearest().answers(pairs, ["rare"]) == ["Right"]


def test_no_training_pairs_give_no_answer() -> None:
    assert Nearest().answers([], ["a"]) == [""]
