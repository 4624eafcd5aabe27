"""Every member of the attention family on the dates: trains what is missing, prints the table, draws the looks.

    python experiments/family.py runs/family --seeds 1 2 3 --processes 2 --pictures docs/images/attention

Each member is the `dates` recipe with one change. Runs resume: killed and started again, it goes on.
"""

import argparse
import json
import sys
from pathlib import Path
from statistics import mean, pstdev

from regard import load
from regard.comparing.jobs import Finished, Job, work
from regard.comparing.lineups import Candidate
from regard.config import load_config
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


def candidate(folder: Path, member: str, seed: int) -> Candidate:
    changes = [f"model.attention.{change}" for change in MEMBERS[member]]
    changes += [f"training.seed={seed}", "training.tensorboard=false"]
    return Candidate(member, load_config("dates", changes), folder / f"{member}-{seed}", is_given=False)


def train(candidates: list[Candidate], processes: int) -> None:
    """What has no scores yet."""
    jobs = [Job(one, "train") for one in candidates if not one.run.scores_path.exists()]
    for happening in work(jobs, processes=processes):
        if isinstance(happening, Finished) and happening.problem:
            raise SystemExit(f"{happening.candidate}: {happening.problem}")


def exact_match(one: Candidate) -> float:
    """On the 2,000 test dates, in per cent."""
    return float(json.loads(one.run.scores_path.read_text())["test"]["exact_match"]["value"])


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
    runs = {
        (member, seed): candidate(chosen.folder, member, seed) for seed in chosen.seeds for member in members
    }
    train(list(runs.values()), chosen.processes)
    results = {key: exact_match(run) for key, run in runs.items()}
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
