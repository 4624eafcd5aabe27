"""A language of which there is little: two thousand pairs of Czech, alone and beside German and French.

    python experiments/few_pairs.py runs/few --processes 2

Both models are the `multi30k-many` recipe with the changes below; neither sees more than the first pairs of Czech.
Needs Multi30k in $REGARD_DATA. Runs resume: killed and started again, it goes on.
"""

import argparse
import json
import os
import sys
from itertools import islice
from pathlib import Path

from family import train

from regard.comparing.lineups import Candidate
from regard.config import load_config

OTHERS = ("de", "fr")
LITTLE = "cs"
CHANGES = {
    "alone": [
        "text.source.vocabulary=3000",
        "model.dropout=0.3",
        "training.steps=1500",
        "training.warmup=300",
    ],
    "beside the others": [
        "task.temperature=3",
        "model.dropout=0.1",
        "training.steps=3000",
        "training.warmup=400",
    ],
}
BOTH = ["training.validate_every=1500", "training.save_every=500", "training.tensorboard=false"]


def corpus(data: Path, language: str, train: Path | None = None) -> str:
    """English and a language, as TOML; its training pairs are those of Multi30k, if no others are given."""
    parts = {"train": train or data / "train", "validation": data / "val", "test": data / "test2016"}
    files = [
        f'{part} = {{ source = "{stem}.en", target = "{stem}.{language}" }}' for part, stem in parts.items()
    ]
    return f'{{ source_language = "en", target_language = "{language}", {", ".join(files)} }}'


def write_few(data: Path, folder: Path, pairs: int) -> Path:
    """The first pairs, in files of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    for language in ("en", LITTLE):
        with (data / f"train.{language}").open(encoding="utf-8") as lines:
            (folder / f"few.{language}").write_text("".join(islice(lines, pairs)), encoding="utf-8")
    return folder / "few"


def candidates(folder: Path, data: Path, few: Path, changes: list[str]) -> dict[str, Candidate]:
    little = corpus(data, LITTLE, few)
    corpora = {
        "alone": [little],
        "beside the others": [*(corpus(data, language) for language in OTHERS), little],
    }
    made = {}
    for name, some in corpora.items():
        every = [f"task.corpora=[{', '.join(some)}]", *CHANGES[name], *BOTH, *changes]
        run = folder / name.replace(" ", "-")
        made[name] = Candidate(name, load_config("multi30k-many", every), run, is_given=False)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--set", dest="changes", action="append", default=[], help="a setting for both, KEY=VALUE"
    )
    chosen = parser.parse_args()
    data = Path(os.environ.get("REGARD_DATA", "")) / "multi30k"
    if not (data / f"train.{LITTLE}").is_file():
        raise SystemExit("Multi30k is not here: `regard data multi30k` fetches it; then set REGARD_DATA.")
    few = write_few(data, chosen.folder.resolve(), chosen.pairs)
    models = candidates(chosen.folder, data.resolve(), few, chosen.changes)
    train(list(models.values()), chosen.processes)
    directions = [f"en-{LITTLE}", f"{LITTLE}-en"]
    sys.stdout.write(f"| BLEU / chrF | {' | '.join(directions)} |\n|---|--:|--:|\n")
    for name, one in models.items():
        scores = json.loads(one.run.scores_path.read_text())["test"]
        cells = [
            " / ".join(f"{scores[metric]['by_direction'][each]:.2f}" for metric in ("bleu", "chrf"))
            for each in directions
        ]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
