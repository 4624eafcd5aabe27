"""regard new"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.arguments import OnBadLineOption
from regard.cli.console import notes, results
from regard.core.errors import UserError

if TYPE_CHECKING:
    from regard.data import Survey
    from regard.starting import Start

Names = list[str] | None


def new(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The configuration to write, such as my.toml.")
    ],
    task: Annotated[
        str, typer.Option(help="What is learned: translation, dates or summarise.")
    ] = "translation",
    train: Annotated[
        Names, typer.Option(help="Pairs: a .tsv or .jsonl file, also .gz. Can be repeated.")
    ] = None,
    source: Annotated[
        Names, typer.Option(help="Sources of parallel files, with --target. Can be repeated.")
    ] = None,
    target: Annotated[Names, typer.Option(help="Their targets, line by line.")] = None,
    validation: Annotated[
        Names, typer.Option(help="Pairs for validation. Default: split off the training pairs.")
    ] = None,
    validation_source: Annotated[Names, typer.Option(help="The same as two files.")] = None,
    validation_target: Annotated[Names, typer.Option()] = None,
    test: Annotated[
        Names, typer.Option(help="Pairs for the test. Default: split off the training pairs.")
    ] = None,
    test_source: Annotated[Names, typer.Option(help="The same as two files.")] = None,
    test_target: Annotated[Names, typer.Option()] = None,
    source_field: Annotated[str, typer.Option(help="Name of the source in JSON lines.")] = "source",
    target_field: Annotated[str, typer.Option(help="Name of the target in JSON lines.")] = "target",
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Of lines with more columns, which are source and target, from 1: 2,1 takes the second as the source.",
        ),
    ] = None,
    source_language: Annotated[str | None, typer.Option(help="Such as en.")] = None,
    target_language: Annotated[str | None, typer.Option(help="Such as de.")] = None,
    on_bad_line: OnBadLineOption = None,
    force: Annotated[bool, typer.Option(help="Write over a file that is there.")] = False,
) -> None:
    """Look at pairs and write a configuration for them in which every number says why."""
    if file.exists() and not force:
        raise UserError(f"{file} is there already. Give another name, or --force to write over it.")
    if file.suffix != ".toml":
        raise UserError(f"{file}: the name of a configuration ends with .toml.")
    from regard.core.files import write_whole
    from regard.starting import start

    data: dict[str, Any] = {
        "train": _files("", train, source, target),
        "validation": _files("validation-", validation, validation_source, validation_target),
        "test": _files("test-", test, test_source, test_target),
        "columns": _columns(columns),
        "source_field": source_field if source_field != "source" else None,
        "target_field": target_field if target_field != "target" else None,
        "on_bad_line": on_bad_line.value if on_bad_line else None,
    }
    given = {name: value for name, value in data.items() if value is not None}
    found = start(task, given, (source_language, target_language))
    write_whole(file, found.text)
    _print(found)
    notes.print(f"{file} is written. Next:")
    notes.print(f"  regard train {file}")


def _files(prefix: str, single: Names, sources: Names, targets: Names) -> Any:
    """As the configuration has them: a name, two names, or a list of those."""
    if len(sources or []) != len(targets or []):
        raise UserError(
            f"--{prefix}source and --{prefix}target belong together: there are {len(sources or [])} of the first and "
            f"{len(targets or [])} of the second. Give as many of each."
        )
    both = zip(sources or [], targets or [], strict=True)
    files = [*(single or []), *({"source": one, "target": other} for one, other in both)]
    return (files[0] if len(files) == 1 else files) if files else None


def _columns(told: str | None) -> list[int] | None:
    if told is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,2},[1-9][0-9]{0,2}", told, re.ASCII):
        raise UserError(f"--columns is {told!r}: give two numbers, counted from 1, such as 1,2 or 2,1.")
    return [int(number) for number in told.split(",")]


def _print(found: "Start") -> None:
    before: dict[str, Survey] = {}
    for name, survey in found.surveys.items():
        _print_survey(name, survey)
        for other, seen in before.items():
            if shared := seen.sources_shared_with(survey):
                results.print(f"  {shared:,} {'source is' if shared == 1 else 'sources are'} in {other}, too")
        before[name] = survey
    for report in found.reports:
        results.print(report)
    config = found.config
    model = config.model.preset or f"{config.model.encoder.kind} to {config.model.decoder.kind}"
    results.print(
        f"model: {model}, about {found.parameters:,} parameters; {config.training.steps:,} steps of "
        f"{config.training.batch_tokens:,} pieces"
    )


def _print_survey(name: str, survey: "Survey") -> None:
    results.print(f"{name}: {survey.pairs:,} pairs, {len(survey.sources):,} different sources")
    for side, found in (("source", survey.source), ("target", survey.target)):
        characters, words = found.characters, found.words
        scripts = ", ".join(f"{share:.1%} {script}" for script, share in list(found.scripts.items())[:3])
        results.print(
            f"  {side}: {characters.mean:.1f} characters and {words.mean:.1f} words on average, "
            f"{characters.most:,} and {words.most:,} at the most; {scripts or 'no letters'}"
        )
    results.print(
        f"  {survey.empty:,} with an empty side, {survey.identical:,} with the same text on both sides, "
        f"{survey.duplicates:,} that came before"
    )
