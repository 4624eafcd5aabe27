"""The argument for attention, measured: with equal budgets, a fixed vector and attention over source length.

    python experiments/argument.py runs/argument --pictures docs/images

Both models get the same pairs, steps, batches, widths and seed, through `regard train` and `regard evaluate`.
Spanish needs the environment variable REGARD_DATA: a folder with `spa-eng/spa.txt`, lines of English<TAB>Spanish.
Runs resume: killed and started again, it goes on.
"""

import argparse
import json
import os
import random
import string
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard import load
from regard.viewing import lines, save_figure

TASKS = ["reverse", "spanish"]
MODELS = {"attention": "additive", "fixed vector": "none"}
FEWEST = 50  # a bucket of fewer test pairs is left out: its score would be noise

Pair = tuple[str, str]  # source, target
Pairs = tuple[list[Pair], list[Pair]]  # to train on, to test on


@dataclass(frozen=True)
class Task:
    """Pairs to learn, and changes to the `dates` recipe, which takes any pairs of text."""

    name: str
    metrics: Mapping[str, str]  # names for people
    shown: str  # the metric in the picture
    heading: str
    changes: Sequence[str]
    make: Callable[[], Pairs] = field(repr=False)


@dataclass(frozen=True)
class Measured:
    """What one model scored, and what it was given."""

    scores: Mapping[str, Any]  # metric -> value, by_source_length
    steps: int
    pieces: int  # of targets, seen in training
    parameters: int

    def whole(self, metric: str) -> float:
        return _quality(metric, self.scores[metric]["value"])

    def by_length(self, metric: str) -> dict[tuple[int, int], tuple[int, float]]:
        """Shortest and longest source, in pieces -> test pairs and score."""
        return {
            (bucket["from"], bucket["to"]): (bucket["count"], _quality(metric, bucket["value"]))
            for bucket in self.scores[metric]["by_source_length"]
            if bucket["count"] >= FEWEST
        }


def _quality(metric: str, value: float) -> float:
    """The more the better: of errors, what is left of a hundred."""
    return 100 - value if metric == "character_error_rate" else value


def reverse_task(pairs: int) -> Task:
    return Task(
        "reverse",
        metrics={"exact_match": "answers right", "character_error_rate": "letters right"},
        shown="character_error_rate",
        heading="Letters, reversed and mapped: letters right, in per cent",
        changes=[
            f"data.validation_size={max(1, min(500, pairs // 10))}",
            "search.max_length=60",
            "training.steps=2000",
            "training.learning_rate=3e-3",
            "training.metric=loss",
        ],
        make=lambda: reversed_letters(pairs, test=min(pairs, 2000)),
    )


def spanish_task(text: Path) -> Task:
    pieces = ("kind=bpe", "vocabulary=2000")
    return Task(
        "spanish",
        metrics={"bleu": "BLEU", "chrf": "chrF"},
        shown="bleu",
        heading="Spanish to English: BLEU",
        changes=[
            *(f"text.{side}.{change}" for side in ("source", "target") for change in pieces),
            "model.embedding=128",
            "model.encoder.width=256",
            "model.decoder.width=256",
            "search.max_length=100",
            "training.steps=1600",
            "training.learning_rate=3e-3",
            "training.metric=loss",
            "training.validate_every=400",
        ],
        make=lambda: spanish_to_english(text),
    )


def reversed_letters(pairs: int, *, test: int, shortest: int = 4, longest: int = 40) -> Pairs:
    """Letters from the last to the first, each as the capital that a fixed permutation gives; no source twice."""
    chance = random.Random(1)
    capitals = chance.sample(string.ascii_uppercase, 26)
    mapped = str.maketrans(string.ascii_lowercase, "".join(capitals))
    sources: dict[str, None] = {}
    while len(sources) < pairs + test:
        length = chance.randint(shortest, longest)
        sources["".join(chance.choices(string.ascii_lowercase, k=length))] = None
    made = [(source, source[::-1].translate(mapped)) for source in sources]
    return made[test:], made[:test]


# Words of a Spanish sentence. Long ones are rare, and a plain draw would hardly test them.
BANDS = [range(1, 5), range(5, 8), range(8, 11), range(11, 15), range(15, 100)]


def spanish_to_english(text: Path, *, each: int = 500) -> Pairs:
    """`each` test pairs from every band of lengths. No sentence of theirs, of either side, is trained on."""
    rows = [line.split("\t") for line in text.read_text(encoding="utf-8").splitlines()]
    pairs = [(row[1].strip(), row[0].strip()) for row in rows if len(row) > 1]
    random.Random(1).shuffle(pairs)
    room = dict.fromkeys(BANDS, each)
    held: set[str] = set()
    test: list[Pair] = []
    for pair in pairs:
        words = len(pair[0].split())
        band = next(band for band in BANDS if words in band)
        if room[band] and held.isdisjoint(_sides(pair)):
            room[band] -= 1
            held.update(_sides(pair))
            test.append(pair)
    return [pair for pair in pairs if held.isdisjoint(_sides(pair))], test


def _sides(pair: Pair) -> tuple[str, str]:
    """Both without case, blanks and punctuation: "Go!" and "go." are one sentence."""
    source, target = ("".join(filter(str.isalnum, side.casefold())) for side in pair)
    return f"source {source}", f"target {target}"


def measure(task: Task, folder: Path, score: str, changes: Sequence[str]) -> Measured:
    """Trains and scores what is not there yet."""
    run = folder / f"{task.name}-{score}"
    if not (run / "scores.json").exists():
        every = [
            *(f"data.{part}={folder / task.name / part}.tsv" for part in ("train", "test")),
            f"evaluation.metrics={json.dumps(list(task.metrics))}",
            f"model.attention.score={score}",
            "training.tensorboard=false",
            *task.changes,
            *changes,
        ]
        _regard("train", "dates", "--run", str(run), *(word for one in every for word in ("--set", one)))
        _regard("evaluate", str(run))
    rows = [json.loads(row) for row in (run / "metrics.jsonl").read_text().splitlines()]
    last = [row for row in rows if row["kind"] == "train"][-1]
    return Measured(
        scores=json.loads((run / "scores.json").read_text())["test"],
        steps=last["step"],
        pieces=last["tokens"],
        parameters=sum(one.numel() for one in load(run, device="cpu").models[0].parameters()),
    )


def _regard(*words: str) -> None:
    """One command, with its progress on this terminal."""
    call = [sys.executable, "-m", "regard", *words]
    subprocess.run(call, check=True, env={"OMP_NUM_THREADS": "1", **os.environ}, stdout=subprocess.DEVNULL)


def write(task: Task, folder: Path) -> None:
    for part, pairs in zip(("train", "test"), task.make(), strict=True):
        path = folder / task.name / f"{part}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")


def table(task: Task, results: Mapping[str, Measured]) -> str:
    """Markdown: a row for each bucket, a column for each metric and model."""
    columns = [(metric, model) for metric in task.metrics for model in results]
    names = [f"{task.metrics[metric]}, {model}" for metric, model in columns]
    scores = [results[model].by_length(metric) for metric, model in columns]
    rows = [f"| source pieces | test pairs | {' | '.join(names)} |", f"|---|{'--:|' * (len(names) + 1)}"]
    for (shortest, longest), (count, _) in scores[0].items():
        cells = [f"{one[shortest, longest][1]:.1f}" for one in scores]
        rows.append(f"| {shortest} to {longest} | {count:,} | {' | '.join(cells)} |")
    whole = [f"{results[model].whole(metric):.1f}" for metric, model in columns]
    return "\n".join([*rows, f"| all | | {' | '.join(whole)} |"])


def budgets(results: Mapping[str, Measured]) -> str:
    return "\n".join(
        f"{model}: {one.parameters:,} parameters, {one.steps:,} steps, {one.pieces:,} target pieces"
        for model, one in results.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--pictures", type=Path, help="folder for argument.png (default: the same folder)")
    parser.add_argument("--pairs", type=int, default=100_000, help="training pairs of the reverse task")
    parser.add_argument("--steps", type=int, help="for a quick try; the tasks know what they need")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    text = Path(os.environ.get("REGARD_DATA", "")) / "spa-eng" / "spa.txt"
    tasks = [reverse_task(chosen.pairs)] if "reverse" in chosen.tasks else []
    if "spanish" in chosen.tasks and text.is_file():
        tasks.append(spanish_task(text))
    elif "spanish" in chosen.tasks:
        sys.stderr.write("Spanish is left out: REGARD_DATA names no folder with spa-eng/spa.txt.\n")
    changes = [f"training.seed={chosen.seed}"]
    if chosen.steps:
        changes += [f"training.steps={chosen.steps}", "training.log_every=1"]

    panels = {}
    for task in tasks:
        write(task, chosen.folder)
        results = {model: measure(task, chosen.folder, score, changes) for model, score in MODELS.items()}
        sys.stdout.write(f"{task.name}\n\n{table(task, results)}\n\n{budgets(results)}\n\n")
        panels[task.heading] = {
            model: ([sum(edges) / 2 for edges in found], [score for _, score in found.values()])
            for model, found in ((model, one.by_length(task.shown)) for model, one in results.items())
        }
    if panels:
        path = (chosen.pictures or chosen.folder) / "argument.png"
        save_figure(lines(panels, title="Equal budgets, longer and longer sources", lowest=0), path)
        sys.stdout.write(f"Drew {path}.\n")


if __name__ == "__main__":
    main()
