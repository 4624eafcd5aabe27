"""regard evaluate"""

import json
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from regard.cli.arguments import (
    AlignBy,
    AlignByOption,
    AlignedHeadOption,
    AlignedLayerOption,
    BeamOption,
    BestOption,
    ComputeTypeOption,
    DeviceOption,
    EngineOption,
    MbrOption,
    OnBadLine,
    OnBadLineOption,
    RunArgument,
    SearchOption,
    ShortlistOption,
    ThresholdOption,
    WithOption,
    aligner,
    search_options,
)
from regard.cli.console import notes, results, side_by_side, visible
from regard.core.errors import UserError
from regard.core.figures import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regard.beside import Beside
    from regard.evaluation import Against, AlignmentTest, Evaluation, Given


class Split(StrEnum):
    test = "test"
    validation = "validation"


class Output(StrEnum):
    table = "table"
    json = "json"


def evaluate(
    run: RunArgument,
    split: Annotated[
        Split | None, typer.Option(help="Which of its own pairs to score. Default: test.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Another test set: a .tsv or .jsonl, also .gz, with columns and fields as the run's own files.",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The sources of another test set, a line each, with --target."),
    ] = None,
    target: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Their right answers, line by line.")
    ] = None,
    on_bad_line: OnBadLineOption = None,
    beam: BeamOption = None,
    examples: Annotated[int, typer.Option(min=0, help="Show this many answers, wrong ones too.")] = 0,
    alignments: Annotated[
        Path | None,
        typer.Option(
            metavar="GOLD",
            help="Compare attention with the alignments in this file, a line such as `0-0 1p2` for each pair.",
        ),
    ] = None,
    align_by: AlignByOption = AlignBy.argmax,
    threshold: ThresholdOption = None,
    layer: AlignedLayerOption = None,
    head: AlignedHeadOption = None,
    backward: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="A run of the other direction: only links that both make are compared with --alignments.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A metric beside the run's own, such as ter. Can be repeated."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN", help="Say whether the run is better than this one, or whether it is chance."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it all as one page: scores, curves, sentences, attention."),
    ] = None,
    output_form: Annotated[
        Output, typer.Option("--output", help="json: all scores as one object, for a program.")
    ] = Output.table,
    best: BestOption = None,
    mbr: MbrOption = None,
    search: SearchOption = None,
    together: WithOption = None,
    device: DeviceOption = "auto",
    engine: EngineOption = None,
    compute_type: ComputeTypeOption = None,
    shortlist: ShortlistOption = False,
) -> None:
    """Score a run on unseen pairs; saves `scores.json` and the answers in the run.

    Scores of another test set (--pairs, or --source and --target), of other searches (--beam, --best, --mbr, --search,
    --shortlist), of several runs (--with) and of another --engine or --compute-type are shown, not saved. Answers that
    were saved are used again as long as the model, the pairs and the search are the same.
    """
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise UserError(f"{report}: a report is a page. Give it a name that ends with .html.")
    if output_form is Output.json and examples:
        raise UserError("--examples are for the table. Leave them out, or --output json.")
    if report or alignments:
        _check_looks(run, engine)
    given = _given(pairs, source, target, split, on_bad_line)
    test = _alignment_test(alignments, align_by, threshold, layer, head, backward, device)
    from regard.core.allocation import keep_freed_memory
    from regard.evaluation import evaluate as score

    keep_freed_memory()
    options = search_options(search, beam=beam, best=best)
    runs = (run, *(together or []))
    evaluation = score(
        *runs,
        split=(split or Split.test).value,
        pairs=given,
        on_bad_line=on_bad_line.value if on_bad_line else None,
        metrics=metric or (),
        against=against,
        alignments=test,
        mbr=mbr,
        device=device,
        engine=engine,
        compute_type=compute_type,
        shortlist=shortlist,
        **options,
    )
    if output_form is Output.json:
        told = json.dumps(evaluation.document(), indent=2, ensure_ascii=False) + "\n"
        sys.stdout.buffer.write(told.encode("utf-8", errors="replace"))
        sys.stdout.buffer.flush()
    else:
        _print_all(evaluation, examples)
    if report is not None:
        from regard.report import save_report

        notes.print(f"Wrote {save_report(evaluation, report)}.")
    if evaluation.kept:
        notes.print(f"The answers are those of {evaluation.kept}: model, pairs and search are the same.")
    if evaluation.saved:
        notes.print(f"Saved in {evaluation.saved}.")


def _check_looks(run: Path, engine: str | None) -> None:
    """A report and alignments need attention: who cannot have it hears so before anything is scored."""
    from regard.engines import find_export

    exported = find_export(run)
    if engine not in (None, "native") or exported:
        name = exported.to if exported else engine
        advice = "Give the run itself." if exported else "Leave --engine out."
        raise UserError(f"--report and --alignments need attention, which {name} does not record. {advice}")


def _given(
    pairs: Path | None,
    source: Path | None,
    target: Path | None,
    split: Split | None,
    on_bad_line: OnBadLine | None,
) -> "Given | None":
    """The other test set, if there is one."""
    if (source is None) != (target is None):
        raise UserError("--source and --target belong together: line n of one to line n of the other.")
    if pairs is not None and source is not None:
        raise UserError("--pairs is one file with both sides, --source and --target are two. Choose.")
    given: Given | None = (source, target) if source is not None and target is not None else pairs
    if given is not None and split is not None:
        raise UserError("--split is one of the run's own, --pairs and --source are others. Leave one out.")
    if given is None and on_bad_line is not None:
        raise UserError("--on-bad-line is for --pairs, or --source and --target. Give them, too.")
    return given


def _print_all(evaluation: "Evaluation", examples: int) -> None:
    print_scores(evaluation)
    if evaluation.against:
        _print_against(evaluation.against)
    if evaluation.alignment:
        _print_alignment(evaluation)
    if examples:
        _print_examples(evaluation, examples)


def _alignment_test(
    gold: Path | None,
    by: AlignBy,
    threshold: float | None,
    layer: int | None,
    head: int | None,
    backward: Path | None,
    device: str,
) -> "AlignmentTest | None":
    chosen = aligner(by, threshold)
    if gold is None:
        if by is not AlignBy.argmax or layer is not None or head is not None or backward is not None:
            raise UserError(
                "--align-by, --threshold, --layer, --head and --backward go with --alignments. Give it, too."
            )
        return None
    from regard.evaluation import AlignmentTest
    from regard.predictor import load

    other = load(backward, device=device) if backward is not None else None
    return AlignmentTest(gold, chosen, layer, head, other)


def _print_alignment(evaluation: "Evaluation") -> None:
    table = Table("alignment", box=None, padding=(0, 2, 0, 0))
    for score in evaluation.alignment.values():
        table.add_column(score.name.removeprefix("alignment_"), justify="right")
    table.add_row("all", *(figure(score.value) for score in evaluation.alignment.values()), style="bold")
    results.print()
    results.print(table)
    first = next(iter(evaluation.alignment.values()))
    results.print(f"alignment: {first.signature}", style="dim")


def print_scores(evaluation: "Evaluation") -> None:
    from regard.metrics import RESAMPLES

    every = range(len(evaluation.scores))
    for number, places in enumerate(side_by_side(every, partial(_score_table, evaluation))):
        if number:
            results.print()
        results.print(_score_table(evaluation, places))
    if evaluation.beside:
        _print_beside(evaluation.beside)
    for score in evaluation.scores.values():
        results.print(f"{score.name}: {score.signature}", style="dim")
    results.print(
        f"±: half of the interval that holds 95 % of {RESAMPLES:,} bootstrap resamples", style="dim"
    )


def _score_table(evaluation: "Evaluation", places: "Sequence[int]") -> Table:
    from regard.evaluation import frequency_label, length_label

    table = Table(
        f"{visible(evaluation.split)} ({len(evaluation.requests):,} sources)", box=None, padding=(0, 2, 0, 0)
    )
    scores = list(evaluation.scores.values())
    for place in places:
        table.add_column(scores[place].name, justify="right")
    table.add_row("all", *(scores[place].shown for place in places), style="bold")
    for direction in evaluation.by_direction:
        values = (figure(direction.scores[place].value) for place in places)
        table.add_row(f"{direction} ({direction.count:,})", *values)
    for buckets, label in (
        (evaluation.by_length, length_label),
        (evaluation.by_frequency, frequency_label),
    ):
        for bucket in buckets if len(buckets) > 1 else ():  # one alone is what all are
            values = (figure(bucket.scores[place].value) for place in places)
            table.add_row(f"{label(bucket)} ({bucket.count:,})", *values)
    return table


def _print_beside(rows: "Sequence[Beside]") -> None:
    table = Table("beside", box=None, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_column(row.name, justify="right")
    for name in dict.fromkeys(name for row in rows for name in row.scores):
        table.add_row(name, *(row.scores[name].shown if name in row.scores else "" for row in rows))
    results.print()
    results.print(table)
    results.print()


def _print_against(against: "Against") -> None:
    from regard.evaluation import difference_label
    from regard.metrics import TRIALS

    table = Table(f"against {against.name}", box=None, padding=(0, 2, 0, 0))
    for name in ("this run", "other run", "difference", "p"):
        table.add_column(name, justify="right")
    table.add_column("")
    for one in against.comparisons.values():
        cells = (figure(one.value), figure(one.other), difference_label(one), f"{one.p:.4f}")
        table.add_row(one.name, *cells, one.verdict)
    results.print()
    results.print(table)
    results.print(f"p: approximate randomisation, two-sided, {TRIALS:,} trials", style="dim")


def _print_examples(evaluation: "Evaluation", count: int) -> None:
    """Right answers, then wrong ones, half of each as far as there are so many: wrong ones teach more. Where an answer
    is better or worse, the first ones.
    """
    from regard.viewing.labels import plain

    sources = [one.text for one in evaluation.requests]
    asked = zip(sources, evaluation.references, evaluation.predictions, strict=True)
    numbered = list(enumerate(asked))
    if not evaluation.is_right_or_wrong:
        table = Table("source", "answer", "what is right", box=None, padding=(0, 2, 0, 0))
        for _, (source, answers, one) in numbered[:count]:
            table.add_row(*(Text(plain(cell)) for cell in (source, one.text, " or ".join(answers))))
        results.print()
        results.print(table)
        return
    wrong = [n for n, (_, answers, one) in numbered if one.text not in answers]
    right = [n for n, (_, answers, one) in numbered if one.text in answers]
    few = min(len(right), max(count - count // 2, count - len(wrong)))
    chosen = right[:few] + wrong[: count - few]
    table = Table("", "source", "answer", "right answer", box=None, padding=(0, 2, 0, 0))
    for number in chosen:
        source, answers, one = numbered[number][1]
        good = one.text in answers
        cells = ("right" if good else "WRONG", source, one.text, "" if good else " or ".join(answers))
        table.add_row(*(Text(plain(cell)) for cell in cells))
    results.print()
    results.print(table)
    results.print(f"{len(right):,} right, {len(wrong):,} wrong.")
