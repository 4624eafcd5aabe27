"""The newest checkpoints of a run as one model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.card import model_card
from regard.config import Config
from regard.core.errors import UserError
from regard.core.files import copy_whole, whole_folder, write_whole
from regard.core.weights import Weights
from regard.run import ModelFolder, Run, mean_file
from regard.training import Checkpoints


@dataclass(frozen=True)
class Average:
    folder: Path
    steps: Sequence[int]  # of the checkpoints, oldest first


def average(path: str | Path, *, last: int | None = None, output: str | Path | None = None) -> Average:
    """Writes the mean of the weights of the newest checkpoints as a model folder that is loadable on its own.

    Without a number, as many as the run keeps. Without an output it goes to `averaged/` in the run, and
    takes the place of an earlier one there.
    """
    run = Run(path)
    config = run.config()
    if not run.folder.exists():
        raise UserError(f"{run}: there is no such run. `regard train` makes one.")
    if config is None or not run.model.config_path.exists():
        raise UserError(f"{run} is not a run: an average needs its config.toml, model/ and checkpoints/.")
    folder = Path(output).resolve() if output is not None else run.averaged.folder
    if output is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{output} is there already. Give a new folder with -o.")
    with run.locked():  # a training would take checkpoints away meanwhile
        checkpoints = Checkpoints(run.checkpoints)
        newest = checkpoints.steps()[::-1][: last or config.training.keep]
        if not newest:
            raise UserError(f"{run} has no checkpoints yet. Train it further.")
        if last is not None and len(newest) < last:
            raise UserError(
                f"{run} has {len(newest)} checkpoints, not {last}. Ask for fewer with --last; training.keep "
                "says how many a training keeps."
            )
        _write(folder, run, config, checkpoints.mean(newest), newest)
    return Average(folder if output is None else Path(output), newest[::-1])


def _write(folder: Path, run: Run, config: Config, weights: Weights, steps: Sequence[int]) -> None:
    with whole_folder(folder) as writing:
        average = ModelFolder(writing)
        for file in run.model.folder.iterdir():
            own = file in (run.model.weights_path, run.model.card_path) or file.name.startswith(".")
            if file.is_file() and not own:
                copy_whole(file, writing / file.name)
        write_whole(average.card_path, model_card(config, run.folder.resolve().name, averaged=steps))
        write_whole(average.weights_path, mean_file(weights, steps, made_for=average.made_for()))
