"""What forecasts without a model reach on the five folds of ETH-UCY: 8 steps seen, 12 predicted, in metres.

python experiments/forecasts.py $REGARD_DATA/eth-ucy
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from regard.data import Pair
from regard.data.series import FOLDS
from regard.metrics import METRICS
from regard.tasks.baselines import Baseline
from regard.tasks.forecasts import ConstantVelocity, LastPoint

STEPS = 12
ERRORS = ("ade", "fde")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="with all/, train/ and val/")
    folder = parser.parse_args().folder
    tests = {name: list(fold.pairs(folder, "test", predicted=STEPS)) for name, fold in FOLDS.items()}
    lines = [f"| ADE / FDE, metres | {' | '.join(FOLDS)} | mean |", "|---" * (len(FOLDS) + 2) + "|"]
    for baseline in (ConstantVelocity(STEPS), LastPoint(STEPS)):
        found = [errors(baseline, pairs) for pairs in tests.values()]
        found.append([mean(column) for column in zip(*found, strict=True)])
        lines.append(f"| {baseline.name} | {' | '.join(f'{ade:.2f} / {fde:.2f}' for ade, fde in found)} |")
    lines.append(f"| test windows | {' | '.join(f'{len(pairs):,}' for pairs in tests.values())} | |")
    sys.stdout.write("\n".join(lines) + "\n")


def errors(baseline: Baseline, pairs: Sequence[Pair]) -> list[float]:
    answers = baseline.answers([], [pair.source for pair in pairs])
    return [METRICS[name]()(answers, [[pair.target] for pair in pairs]).value for name in ERRORS]


if __name__ == "__main__":
    main()
