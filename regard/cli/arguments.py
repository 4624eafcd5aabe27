"""Arguments that several commands share, with completion for the shell."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.core.errors import UserError

if TYPE_CHECKING:
    from regard.alignments import Aligner
    from regard.answers import Linking
    from regard.search import Options

WINDOW = 512  # lines that are read ahead
WITH_LOOKS = 64  # the same where all that was looked at is held with them


def runs(incomplete: str) -> list[str]:
    folders = [str(path.parent) for path in Path().glob("runs/*/config.toml")]
    return [folder for folder in folders if folder.startswith(incomplete)]


def _recipes(incomplete: str) -> list[str]:
    folder = Path(__file__).parent.parent / "recipes"  # not through config.py: completion must be quick
    names = [path.stem for path in sorted(folder.glob("*.toml"))]
    files = [str(path) for path in Path().glob(f"{incomplete}*.toml")]
    return [name for name in names if name.startswith(incomplete)] + files


RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run folder, such as runs/dates.", autocompletion=runs)
]
RecipeArgument = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE", help="A recipe by name (`regard recipes`) or a .toml file.", autocompletion=_recipes
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a setting, such as training.steps=1000. Can be repeated."
    ),
]


class OnBadLine(StrEnum):
    stop = "stop"
    skip = "skip"


OnBadLineOption = Annotated[
    OnBadLine | None,
    typer.Option(help="What becomes of lines that are no pairs: an error, or left out and counted."),
]
BeamOption = Annotated[
    int | None,
    typer.Option(min=1, max=1000, help="Width of the beam; 1 is greedy. Default: as the run says."),
]
ToOption = Annotated[
    str | None,
    typer.Option(metavar="LANGUAGE", help="The language of the answers, where the model knows several: fr."),
]
PrefixOption = Annotated[str, typer.Option(help="Every answer begins with this.")]
RequireOption = Annotated[
    list[str] | None, typer.Option(help="A word or phrase that every answer has. Can be repeated.")
]
ForbidOption = Annotated[
    list[str] | None, typer.Option(help="A word or phrase that no answer has. Can be repeated.")
]
WithOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--with", metavar="RUN", help="Another run that answers together with this one. Can be repeated."
    ),
]
SearchOption = Annotated[
    list[str] | None,
    typer.Option(
        "--search",
        metavar="NAME=VALUE",
        help="Change the search: penalty, length_penalty, coverage, min_length, max_length, min_ratio, max_ratio, "
        "end_threshold, no_repeat, unknown, groups, diversity; sample=true with temperature, top_k, top_p, min_p, "
        "seed. Can be repeated.",
    ),
]
BestOption = Annotated[
    int | None, typer.Option(min=1, max=1000, help="So many answers for each source, the best first.")
]
MbrOption = Annotated[
    str | None,
    typer.Option(metavar="chrf|bleu", help="Of the best answers give the one that is most like the others."),
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        metavar="native|ctranslate2",
        help="What runs the model. ctranslate2 is faster and records no attention. Default: native, or as exported.",
    ),
]
ComputeTypeOption = Annotated[
    str | None,
    typer.Option(
        metavar="float32|int8",
        help="Numbers that the engine computes in. int8 is faster on a CPU and a little off. Default: float32.",
    ),
]
ShortlistOption = Annotated[
    bool,
    typer.Option(
        "--shortlist",
        help="Search among likely pieces alone: faster. `regard shortlist` learns which they are.",
    ),
]
WindowOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Lines read ahead, to answer like lengths together. Default: "
        f"{WINDOW}, or {WITH_LOOKS} with --alignments.",
    ),
]


class AlignBy(StrEnum):
    argmax = "argmax"
    threshold = "threshold"


AlignByOption = Annotated[
    AlignBy,
    typer.Option(
        help="How words are linked: with what they looked at most, or with all that reaches --threshold."
    ),
]
ThresholdOption = Annotated[
    float | None, typer.Option(help="Least weight of a link, with --align-by threshold. Default: 0.3.")
]
AlignedLayerOption = Annotated[
    int | None,
    typer.Option(
        "--layer",
        min=0,
        help="Layer whose attention is aligned, counted from 0. Default: the last but one, if any.",
    ),
]
AlignedHeadOption = Annotated[
    int | None,
    typer.Option("--head", min=0, help="Head of that layer, counted from 0. Default: their mean."),
]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")]


def search_options(changes: list[str] | None, **chosen: int | None) -> "Options":
    """What a command line asks of a search."""
    from regard.search import parse

    options = parse(changes or [])
    options.update({name: value for name, value in chosen.items() if value is not None})  # type: ignore[typeddict-item]
    return options


def lines_ahead(window: int | None, *, looks: bool) -> int:
    """How many lines are read before the first is answered: one where somebody is typing."""
    if sys.stdin.isatty():
        return 1
    return window or (WITH_LOOKS if looks else WINDOW)


def aligner(by: AlignBy, threshold: float | None) -> "Aligner":
    if threshold is not None and by is not AlignBy.threshold:
        raise UserError("--threshold is for --align-by threshold. Give both, or neither.")
    from regard.alignments import ALIGNERS, Threshold

    return Threshold(threshold) if threshold is not None else ALIGNERS[by.value]()


def linking(
    alignments: bool, by: AlignBy, threshold: float | None, layer: int | None, head: int | None
) -> "Linking | None":
    """How words are linked, where --alignments asks for it."""
    chosen = aligner(by, threshold)
    if not alignments:
        if by is not AlignBy.argmax or layer is not None or head is not None:
            raise UserError("--align-by, --threshold, --layer and --head go with --alignments. Give it, too.")
        return None
    from regard.answers import Linking

    return Linking(chosen, layer, head)
