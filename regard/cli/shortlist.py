"""regard shortlist"""

from typing import Annotated

import typer

from regard.cli.arguments import RunArgument
from regard.cli.console import notes


def shortlist(
    run: RunArgument,
    likely: Annotated[
        int, typer.Option(min=1, max=1000, help="Target pieces that each source piece brings in besides.")
    ] = 50,
    common: Annotated[
        int, typer.Option(min=0, max=100_000, help="Frequent target pieces that all sources have.")
    ] = 200,
) -> None:
    """Learn which pieces an answer is worth searching among, so that predicting is faster.

    From the pairs that the run was trained with. `regard predict --shortlist` then computes how likely these pieces
    are, and no others; `regard evaluate --shortlist` says what that costs.
    """
    from regard.shortlisting import make_shortlist

    made = make_shortlist(run, likely=likely, common=common)
    notes.print(
        f"Wrote {made.path}: {made.length:,.0f} of {made.vocabulary:,} pieces for a source in the mean, and "
        f"{made.covered:.2%} of the pieces of validation targets are among their source's. Next:"
    )
    notes.print(f"  regard evaluate {run} --shortlist")
