"""Every member of the attention family on the dates: trains what is missing, prints the table, draws the looks.

    python experiments/family.py runs/family --seeds 1 2 3 --processes 2 --pictures docs/images/attention

Each member is the `dates` recipe with one change. Runs resume: killed and started again, it goes on.
"""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, pstdev

from regard import load
from regard.viewing import heatmap, save_figure

MEMBERS = {
    "additive": ["score=additive"],
    "general": ["score=general"],
    "dot": ["score=dot"],
    "scaled_dot": ["score=scaled_dot"],
    "cosine": ["score=cosine"],
    "rbf": ["score=rbf"],
    "location": ["score=location"],
    "position": ["score=position"],
    "none": ["score=none"],
    "none-start": ["score=none", "fixed=start"],
    "general-local_monotonic": ["score=general", "scope=local_monotonic"],
    "general-local_predicted": ["score=general", "scope=local_predicted"],
    "general-sparse": ["score=general", "selection=sparse"],
    "general-hard": ["score=general", "selection=hard"],
    "general-nearest": ["score=general", "selection=nearest"],
}


def train(folder: Path, member: str, seed: int) -> float:
    """The exact match on the 2,000 test dates, in per cent."""
    run = folder / f"{member}-{seed}"
    scores = run / "scores.json"
    if not scores.exists():
        changes = [f"model.attention.{change}" for change in MEMBERS[member]]
        changes += [f"training.seed={seed}", "training.tensorboard=false"]
        options = [word for change in changes for word in ("--set", change)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        for command in (["train", "dates", "--run", run, *options], ["evaluate", run]):
            call = [sys.executable, "-m", "regard", *map(str, command)]
            subprocess.run(
                call, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
    return float(json.loads(scores.read_text())["test"]["exact_match"]["value"])


def draw(folder: Path, member: str, seed: int, sentence: str, pictures: Path) -> None:
    """What the member looked at while it answered; nothing for a member that does not look."""
    answer = load(folder / f"{member}-{seed}", device="cpu").predict(sentence)
    record = answer.attention
    if record.kinds:
        figure = heatmap(record.cross(), record.source_pieces, record.target_pieces, title=member)
        save_figure(figure, pictures / f"{member}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--members", nargs="+", default=list(MEMBERS), choices=list(MEMBERS))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--pictures", type=Path, help="folder for a heat map of each member, at the first seed"
    )
    parser.add_argument("--sentence", default="Saturday 09 May 2018", help="what the pictures show")
    chosen = parser.parse_args()
    members = [member for member in MEMBERS if member in chosen.members]
    jobs = [(member, seed) for seed in chosen.seeds for member in members]
    with ThreadPoolExecutor(chosen.processes) as pool:
        results = dict(zip(jobs, pool.map(lambda job: train(chosen.folder, *job), jobs), strict=True))
    sys.stdout.write(f"| member | {' | '.join(f'seed {seed}' for seed in chosen.seeds)} | mean | spread |\n")
    sys.stdout.write(f"|---|{'--:|' * (len(chosen.seeds) + 2)}\n")
    for member in members:
        values = [results[member, seed] for seed in chosen.seeds]
        cells = [f"{value:.2f}" for value in [*values, mean(values), pstdev(values)]]
        sys.stdout.write(f"| {member} | {' | '.join(cells)} |\n")
    for member in members if chosen.pictures else []:
        draw(chosen.folder, member, chosen.seeds[0], chosen.sentence, chosen.pictures)


if __name__ == "__main__":
    main()
