"""A made-up language that English is translated into: adjectives follow their nouns, verbs end the sentence."""

from pathlib import Path
from random import Random

NOUNS = {"dog": "Hund", "cat": "Katze", "man": "Mann", "child": "Kind", "bird": "Vogel"}
ADJECTIVES = {"small": "klein", "red": "rot", "old": "alt", "happy": "froh"}
VERBS = {"sees": "sieht", "follows": "folgt", "finds": "findet", "paints": "malt"}


def sentence(chance: Random) -> tuple[str, str]:
    """Such as `The red dog sees a cat.` and `Der Hund rot ein Katze sieht.`"""

    def thing(article: str, foreign: str) -> tuple[str, str]:
        noun = chance.choice(list(NOUNS))
        described = chance.sample(list(ADJECTIVES), chance.randint(0, 2))
        return (
            " ".join([article, *described, noun]),
            " ".join([foreign, NOUNS[noun], *(ADJECTIVES[word] for word in described)]),
        )

    subject, what = thing("The", "Der"), thing("a", "ein")
    verb = chance.choice(list(VERBS))
    return f"{subject[0]} {verb} {what[0]}.", f"{subject[1]} {what[1]} {VERBS[verb]}."


def write_corpus(folder: Path, pairs: int, *, name: str = "toy", seed: int = 1) -> None:
    """Two files whose lines belong together."""
    chance = Random(seed)
    rows = [sentence(chance) for _ in range(pairs)]
    for side, suffix in enumerate(("en", "xx")):
        (folder / f"{name}.{suffix}").write_text("".join(f"{row[side]}\n" for row in rows))


CONFIGURATION = """
[task]
name = "translation"
source_language = "en"
target_language = "de"

[data]
train = { source = "toy.en", target = "toy.xx" }
validation_size = 30
test_size = 40

[text]
shared = true

[text.source]
vocabulary = 400

[model]
embedding = 32
encoder.width = 64
decoder.width = 64
decoder.readout = "maxout"

[training]
steps = 12
batch_tokens = 512
learning_rate = 5e-3
schedule = "cosine"
warmup = 20
log_every = 6
validate_every = 6
save_every = 6
tensorboard = false

[search]
beam = 2
max_length = 60

[evaluation]
metrics = ["bleu", "bleu_lowercase", "bleu_tokenized", "chrf"]
"""
