"""Three models on the five folds of ETH-UCY: trains what is missing, prints one table in metres.

    python experiments/pedestrians.py runs/pedestrians --processes 2

Each model is the `pedestrians` recipe with the changes below. Runs resume: killed and started again, it goes on.
Forecasts that need no model: experiments/forecasts.py.
"""

import argparse
import json
import sys
from pathlib import Path
from statistics import mean

from family import train

from regard.comparing.lineups import Candidate
from regard.config import load_config
from regard.data.series import FOLDS

TRANSFORMER = ("kind=transformer", "width=64", "layers=2", "heads=4", "feed_forward=128")
MODELS = {
    "attention": [],
    "none": ["model.attention.score=none"],
    "transformer": [
        "model.attention.score=scaled_dot",
        "training.feeding=two_pass",  # as the others are fed, but without a loop over steps
        *(f"model.{side}.{change}" for side in ("encoder", "decoder") for change in TRANSFORMER),
    ],
}
ERRORS = ("ade", "fde")


def candidate(folder: Path, model: str, scene: str, seed: int) -> Candidate:
    changes = [*MODELS[model], f"task.scene={scene}", f"training.seed={seed}", "training.tensorboard=false"]
    name = f"{model}-{scene}-{seed}"
    return Candidate(name, load_config("pedestrians", changes), folder / name, is_given=False)


def errors(one: Candidate) -> list[float]:
    """On all windows of the scene that was left out."""
    scores = json.loads(one.run.scores_path.read_text())["test"]
    return [float(scores[name]["value"]) for name in ERRORS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--scenes", nargs="+", default=list(FOLDS), choices=list(FOLDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    runs = {
        model: [candidate(chosen.folder, model, scene, chosen.seed) for scene in chosen.scenes]
        for model in chosen.models
    }
    train([one for folds in runs.values() for one in folds], chosen.processes)
    sys.stdout.write(f"| ADE / FDE, metres | {' | '.join(chosen.scenes)} | mean |\n")
    sys.stdout.write("|---" * (len(chosen.scenes) + 2) + "|\n")
    for model, folds in runs.items():
        found = [errors(one) for one in folds]
        found.append([mean(column) for column in zip(*found, strict=True)])
        sys.stdout.write(f"| {model} | {' | '.join(f'{ade:.2f} / {fde:.2f}' for ade, fde in found)} |\n")


if __name__ == "__main__":
    main()
