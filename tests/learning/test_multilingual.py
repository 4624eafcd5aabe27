"""One model for several languages: it answers in the one that it is asked for."""

import json
from pathlib import Path
from random import Random

import pytest

import regard
from regard.config import load_config
from regard.core.prediction import Request
from regard.evaluation import evaluate
from regard.report import report
from regard.trainer import Trainer

NUMBERS = {
    "en": ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
    "de": ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"],
    "fr": ["un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix"],
}
CONFIGURATION = """
[task]
name = "multilingual"
temperature = 2
[[task.corpora]]
source_language = "en"
target_language = "de"
train = "en-de.tsv"
[[task.corpora]]
source_language = "en"
target_language = "fr"
train = "en-fr.tsv"
[[task.corpora]]
source_language = "de"
target_language = "fr"
both = false
test = "de-fr.tsv"
[[task.corpora]]
source_language = "de"
target_language = "de"
train = "de-de.tsv"
weight = 0.3
[[task.corpora]]
source_language = "fr"
target_language = "fr"
train = "fr-fr.tsv"
weight = 0.3

[data]
validation_size = 20
test_size = 40

[text]
shared = true
source.kind = "words"

[model]
embedding = 32
dropout = 0
encoder.width = 64
decoder.width = 64

[training]
steps = 300
batch_tokens = 512
learning_rate = 8e-3
schedule = "cosine"
warmup = 30
validate_every = 300
save_every = 300
tensorboard = false

[evaluation]
metrics = ["exact_match", "chrf"]
"""


def write(folder: Path, source: str, target: str, size: int) -> None:
    chance = Random(f"{source} {target}")
    rows = [chance.choices(range(10), k=chance.randint(1, 5)) for _ in range(size)]
    lines = (
        "\t".join(" ".join(NUMBERS[side][n] for n in row) for side in (source, target)) + "\n" for row in rows
    )
    (folder / f"{source}-{target}.tsv").write_text("".join(lines), encoding="utf-8")


def test_a_model_of_several_languages_answers_in_the_one_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sizes = {"en-de": 1500, "en-fr": 500, "de-fr": 30, "de-de": 500, "fr-fr": 500}
    for name, size in sizes.items():
        write(tmp_path, *name.split("-"), size)
    Path("many.toml").write_text(CONFIGURATION)
    for _ in Trainer(load_config("many.toml", []), "run").events():
        pass
    found = evaluate("run")
    scores = {one.name: one.scores[0].value for one in found.by_direction}
    assert list(scores) == ["en-de", "de-en", "en-fr", "fr-en", "de-fr"]
    # de-fr too, as German and French were also read into themselves
    assert min(scores.values()) >= 90, scores
    assert [str(one) for one in found.by_direction][-1] == "de-fr, never trained"
    saved = json.loads(Path("run/scores.json").read_text())["test"]["exact_match"]["by_direction"]
    assert saved == pytest.approx(scores, abs=1e-3)
    model = regard.load("run")
    answers = model.predict([Request("one two", to="de"), Request("one two", to="fr"), Request("one two")])
    assert [one.text for one in answers] == ["eins zwei", "un deux", ""]
    assert answers[2].problem is not None
    assert answers[0].attention.source_pieces[0] == "<de>"
    assert model.predict(Request("one two", to="de")).attention.in_words().source_pieces[1:3] == (
        "one",
        "two",
    )
    page = report(found)
    assert "By direction" in page
    assert "de-fr, never trained" in page
