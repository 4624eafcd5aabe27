"""From a dictionary to pronunciations of words that it never had."""

from pathlib import Path
from random import Random

from regard.config import load_config
from regard.evaluation import evaluate
from regard.trainer import Trainer

CONSONANTS = {"b": "B", "t": "T", "s": "S", "n": "N", "k": "K", "sh": "SH", "ph": "F"}
VOWELS = {"a": "AE", "i": "IH", "ee": "IY"}


def dictionary(words: int) -> str:
    """Syllables that are said as they are spelt, and an o at the end that can be said in two ways."""
    chance = Random(1)
    lines = {}
    while len(lines) < words:
        syllables = [(chance.choice(list(CONSONANTS)), chance.choice(list(VOWELS))) for _ in range(3)]
        word = "".join(spelt for syllable in syllables for spelt in syllable) + "o"
        said = " ".join(f"{CONSONANTS[first]} {VOWELS[second]}1" for first, second in syllables)
        lines[word] = f"{word.upper()}  {said} OW0\n{word.upper()}(2)  {said} UW0\n"
    return "".join(lines.values())


def test_words_that_can_be_said_in_two_ways_are_right_in_either(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text(dictionary(700))
    changes = [
        f"data.train={path}",
        "data.validation_size=40",
        "data.test_size=120",
        "model.embedding=32",
        "model.encoder={width=64, layers=1}",
        "model.decoder={width=64}",
        "model.dropout=0.1",
        "training.steps=260",
        "training.learning_rate=8e-3",
        "training.warmup=20",
        "training.batch_tokens=1024",
        "training.validate_every=130",
        "training.save_every=130",
        "training.tensorboard=false",
        "search.beam=2",
    ]
    for _ in Trainer(load_config("pronounce", changes), tmp_path / "run").events():
        pass
    found = evaluate(tmp_path / "run")
    assert len(found.requests) == len(found.predictions) == 60
    assert all(len(answers) == 2 for answers in found.references)
    assert found.scores["phoneme_error_rate"].value < 2
    assert found.scores["pronunciation_error_rate"].value < 10
    assert found.scores["phoneme_error_rate"].signature.startswith("nrefs:2|")
    assert sum(bucket.count for bucket in found.by_length) == 60
