"""regard evaluate"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from regard.cli.arguments import BeamOption, DeviceOption, RunArgument
from regard.cli.console import notes, results

if TYPE_CHECKING:
    from regard.evaluation import Evaluation


class Split(StrEnum):
    test = "test"
    validation = "validation"


def evaluate(
    run: RunArgument,
    split: Annotated[Split, typer.Option(help="Which pairs to score.")] = Split.test,
    beam: BeamOption = None,
    examples: Annotated[int, typer.Option(min=0, help="Show this many answers, wrong ones too.")] = 0,
    device: DeviceOption = "auto",
) -> None:
    """Score a run on unseen pairs; saves `scores.json` in the run."""
    from regard.evaluation import evaluate as score

    evaluation = score(run, split=split.value, beam=beam, device=device)
    _print_scores(evaluation)
    if examples:
        _print_examples(evaluation, examples)
    if evaluation.saved:
        notes.print(f"Saved in {evaluation.saved}.")


def _print_scores(evaluation: "Evaluation") -> None:
    table = Table(f"{evaluation.split} ({len(evaluation.pairs):,} pairs)", box=None, padding=(0, 2, 0, 0))
    for score in evaluation.scores.values():
        table.add_column(score.name, justify="right")
    table.add_row("all", *(f"{score.value:.2f}" for score in evaluation.scores.values()), style="bold")
    for bucket in evaluation.by_length:
        label = f"{bucket.shortest} to {bucket.longest} source pieces ({bucket.count:,})"
        table.add_row(label, *(f"{score.value:.2f}" for score in bucket.scores))
    results.print(table)
    for score in evaluation.scores.values():
        results.print(f"{score.name}: {score.signature}", style="dim")


def _print_examples(evaluation: "Evaluation", count: int) -> None:
    """Right answers, then wrong ones: up to half of all that are shown, because they teach more."""
    from regard.viewing.labels import plain

    numbered = list(enumerate(zip(evaluation.pairs, evaluation.predictions, strict=True)))
    wrong = [n for n, (pair, one) in numbered if one.text != pair.target]
    right = [n for n, (pair, one) in numbered if one.text == pair.target]
    chosen = right[: count - min(len(wrong), count // 2)] + wrong[: count // 2]
    table = Table("", "source", "answer", "right answer", box=None, padding=(0, 2, 0, 0))
    for number in chosen:
        pair, one = numbered[number][1]
        good = one.text == pair.target
        cells = ("right" if good else "WRONG", pair.source, one.text, "" if good else pair.target)
        table.add_row(*(Text(plain(cell)) for cell in cells))
    results.print()
    results.print(table)
    results.print(f"{len(right):,} right, {len(wrong):,} wrong.")
