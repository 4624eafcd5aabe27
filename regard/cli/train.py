"""regard train"""

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.arguments import OnBadLineOption, RecipeArgument, SetOption, runs
from regard.cli.console import notes
from regard.cli.evaluate import print_scores
from regard.cli.together import together
from regard.core.errors import UserError

if TYPE_CHECKING:
    from regard.config import Config


def train(
    recipe: RecipeArgument,
    run: Annotated[
        Path | None, typer.Option(help="Folder to train in. Default: runs/ and the recipe's name.")
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Train the model of this run further, on other pairs.",
            autocompletion=runs,
        ),
    ] = None,
    changes: SetOption = None,
    on_bad_line: OnBadLineOption = None,
) -> None:
    """Train a model. The same command again goes on where it stopped."""
    from regard.cli.progress import show
    from regard.config import load_config
    from regard.core.allocation import keep_freed_memory
    from regard.trainer import Trainer
    from regard.training import Ended

    keep_freed_memory()
    skipping = [f"data.on_bad_line={on_bad_line.value}"] if on_bad_line else []
    changed = [*(changes or []), *skipping]
    folder = run or Path("runs") / Path(recipe).stem
    with together() as ranks, stopping() as asked_to_stop:
        config = _config_from(recipe, changed, start, folder) if start else load_config(recipe, changed)
        trainer = Trainer(config, folder, stop=lambda: "stopped" if asked_to_stop() else None, ranks=ranks)
        last = show(trainer.events(), trainer.plan.budget)
        if isinstance(last, Ended) and not last.finished:
            program = "regard" if ranks.count == 1 else "torchrun ... -m regard"
            again = f"{program} {shlex.join(sys.argv[1:])}"
            done = (
                f"Stopped and saved at step {last.step:,}" if last.step else "Stopped before the first step"
            )
            notes.print(f"{done}. To go on, run the same command again:")
            notes.print(f"  {again}")
            raise typer.Exit(128 + (asked_to_stop() or signal.SIGTERM))
    notes.print(f"{folder}: {last.reason if isinstance(last, Ended) else 'done'}.")
    if ranks.is_first and config.evaluation.at_end and not trainer.run.has_scores("test"):
        _score(folder, config.training.device)
    notes.print("Next:")
    notes.print(f"  regard evaluate {folder} --examples 8")


def _config_from(recipe: str, changes: list[str], start: Path, folder: Path) -> "Config":
    from regard.build import config_from
    from regard.run import Run

    if start.resolve() == folder.resolve():
        raise UserError(f"{folder} can't be trained further in itself. Give another folder with --run.")
    return config_from(recipe, changes, start, earlier=Run(folder).begun())


def _score(folder: Path, device: str) -> None:
    """On the test pairs, as `regard evaluate` does it."""
    from regard.evaluation import evaluate

    notes.print("Scoring it on the test pairs ... (Ctrl-C: leave it for later, the model is saved)")
    try:
        print_scores(evaluate(folder, device=device))
    except KeyboardInterrupt:
        notes.print(f"Not scored. To do it later:\n  regard evaluate {folder}")
        raise typer.Exit(128 + signal.SIGINT) from None


@contextmanager
def stopping() -> Iterator[Callable[[], int | None]]:
    """While it lasts, Ctrl-C, SIGTERM and a terminal that goes away are noted instead of obeyed at once.

    A second Ctrl-C is obeyed.
    """
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if received and number == signal.SIGINT:
            raise KeyboardInterrupt
        received.append(number)
        if number != signal.SIGHUP:  # nobody is there to read it
            notes.print("\nStopping after this step ... (Ctrl-C again: at once, without saving)")

    asked = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heeded = [
        number for number in asked if signal.getsignal(number) != signal.SIG_IGN
    ]  # nohup ignores the last
    before = {number: signal.signal(number, note) for number in heeded}
    try:
        yield lambda: received[0] if received else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
