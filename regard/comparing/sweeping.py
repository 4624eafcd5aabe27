"""A search over settings: trials that are drawn by Optuna, trained in runs of their own and given up when they lag.

sweep.db        Optuna's own record of all trials, in SQLite
trial-0000/     a run for each trial
best.toml       the configuration of the best trial so far
"""

import math
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from regard import build
from regard.comparing.varying import check_once, split_values
from regard.config import Config, difference, load_config, parse_config
from regard.config.older import as_begun, completed
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.run import locked_folder
from regard.trainer import Trainer
from regard.training import Ended, Event, Validated

if TYPE_CHECKING:
    import optuna

UNPRUNED = 5  # trials that nobody gives up, so that there is something to lag behind


@dataclass(frozen=True)
class Range:
    """`low..high` of a number, evenly or by powers; or one of several values."""

    key: str
    low: float = 0.0
    high: float = 0.0
    by_powers: bool = False
    is_whole: bool = False
    values: tuple[str, ...] = ()

    def draw(self, trial: "optuna.Trial") -> str:
        """As a setting would be written."""
        if self.values:
            return str(trial.suggest_categorical(self.key, self.values))
        if self.is_whole:
            return str(trial.suggest_int(self.key, int(self.low), int(self.high), log=self.by_powers))
        return repr(trial.suggest_float(self.key, self.low, self.high, log=self.by_powers))


def parse_range(text: str) -> Range:
    """`training.learning_rate=1e-4..1e-2:log`, `model.encoder.width=64..256`, `model.dropout=0.1,0.3`."""
    key, equals, rest = text.partition("=")
    key = key.strip()
    example = "such as training.learning_rate=1e-4..1e-2:log or model.dropout=0.1,0.3"
    if not equals or not key or not rest.strip():
        raise UserError(f"--over {text}: expected key=low..high or key=value,value, {example}.")
    if ".." not in rest or "/" in rest:  # files may lie in ../
        values = tuple(split_values(rest))
        if not all(values) or len(set(values)) < len(values):
            raise UserError(f"--over {text}: a value is missing or comes twice, {example}.")
        return Range(key, values=values)
    ends, colon, scale = rest.partition(":")
    low, _, high = ends.partition("..")
    try:
        found = Range(
            key,
            float(low),
            float(high),
            by_powers=scale == "log",
            is_whole=_is_whole(low) and _is_whole(high),
        )
    except ValueError:
        raise UserError(f"--over {text}: {ends} is no range of numbers, {example}.") from None
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        raise UserError(f"--over {text}: a range needs two ends, {example}.")
    if (colon and scale != "log") or not found.low < found.high or (found.by_powers and found.low <= 0):
        raise UserError(
            f"--over {text}: the low end comes first, and :log is the only scale and needs numbers above 0, {example}."
        )
    return found


def parse_ranges(texts: Sequence[str]) -> list[Range]:
    ranges = [parse_range(text) for text in texts]
    check_once("--over", [one.key for one in ranges])
    return ranges


def _is_whole(number: str) -> bool:
    return number.strip().lstrip("+-").isdigit()


@dataclass(frozen=True)
class Trial:
    """One configuration that was tried."""

    number: int
    settings: dict[str, str]
    value: float | None  # of the validation that decides; None: it was given up or failed
    outcome: str  # complete, pruned, failed


@dataclass(frozen=True)
class Tried:
    """Something happened in a trial; `trial` once it is over."""

    number: int
    settings: dict[str, str] = field(repr=False)
    event: Event | None = None
    trial: Trial | None = None


class _OtherPairsError(UserError):
    """Nothing that a trial could help."""


class Sweep:
    """Trials of one configuration, one after the other, in a folder; killed and started again it goes on.

    A trial whose process died is trained on from its newest checkpoint. `stop` is asked after every step.
    """

    def __init__(
        self,
        recipe: str,
        changes: Sequence[str],
        ranges: Sequence[Range],
        folder: Path,
        *,
        seed: int = 1,
        stop: Callable[[], str | None] = lambda: None,
    ):
        self.recipe = recipe
        self.changes = changes
        self.ranges = ranges
        self.folder = folder
        self.stop = stop
        self.begun: dict[str, Any] | None = None  # the configuration that an earlier sitting wrote down
        self.base = self._config({})
        self._check_settings()
        judge = build.judging_metric(self.base)
        self.higher_is_better = judge is not None and judge.higher_is_better
        folder.mkdir(parents=True, exist_ok=True)
        self.study = _study(folder / "sweep.db", seed=seed, higher_is_better=self.higher_is_better)
        self._check_the_same()

    def run(self, trials: int) -> Iterator[Tried]:
        """Until so many trials are over, earlier ones included."""
        with locked_folder(self.folder, "Wait for it, or give another folder with --folder."):
            yield from self._run(trials)

    def _run(self, trials: int) -> Iterator[Tried]:
        import optuna

        for left in self.study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING]):
            trial = optuna.trial.Trial(self.study, left._trial_id)  # its process died: nobody else has it
            if "settings" not in left.user_attrs:  # before anything was drawn
                self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                yield from self._try(trial, left.user_attrs["settings"])
        while self.over() < trials and self.stop() is None:
            trial = self.study.ask()
            settings = {one.key: one.draw(trial) for one in self.ranges}
            trial.set_user_attr("settings", settings)
            yield from self._try(trial, settings)

    def over(self) -> int:
        return sum(one.state.is_finished() for one in self.study.get_trials(deepcopy=False))

    def trials(self) -> list[Trial]:
        return [
            Trial(
                one.number,
                one.user_attrs.get("settings", {}),
                # Of one that was given up Optuna keeps the last that was reported.
                one.value if one.state.name == "COMPLETE" else None,
                one.state.name.lower(),
            )
            for one in self.study.get_trials(deepcopy=False)
            if one.state.is_finished()
        ]

    def best(self) -> Trial | None:
        done = [one for one in self.trials() if one.value is not None]
        sign = 1 if self.higher_is_better else -1
        return max(done, key=lambda one: sign * (one.value or 0.0), default=None)

    def run_folder(self, number: int) -> Path:
        return self.folder / f"trial-{number:04d}"

    def _try(self, trial: "optuna.Trial", settings: dict[str, str]) -> Iterator[Tried]:
        """Trains it; tells Optuna of every validation, and gives up when it says so."""
        import optuna

        told = set(self.study.get_trials(deepcopy=False)[trial.number].intermediate_values)
        lags = False
        value, state = None, optuna.trial.TrialState.FAIL
        try:
            trainer = Trainer(
                self._config(settings),
                self.run_folder(trial.number),
                stop=lambda: "lags behind" if lags else self.stop(),
            )
            for event in trainer.events():
                yield Tried(trial.number, settings, event=event)
                if isinstance(event, Validated):
                    self._check_pairs(trainer)
                    if event.step not in told:
                        trial.report(event.validation.by(trainer.config.training.metric), event.step)
                    lags = trial.should_prune()
                elif isinstance(event, Ended) and event.finished:
                    value, state = self._best_value(trainer), optuna.trial.TrialState.COMPLETE
                elif isinstance(event, Ended):
                    if not lags:
                        return  # somebody stopped it: the trial goes on another time
                    state = optuna.trial.TrialState.PRUNED
        except Exception as error:
            if isinstance(error, _OtherPairsError) or not self._is_the_trials_own(error):
                raise  # the trial goes on another time
            trial.set_user_attr("problem", str(error))
        self.study.tell(trial, value, state)
        self._write_best()
        yield Tried(trial.number, settings, trial=Trial(trial.number, settings, value, state.name.lower()))

    def _is_the_trials_own(self, error: Exception) -> bool:
        """Whether an error tells of its settings: widths that do not go together, that it diverged or is too large.

        Else it tells of the machine, or of what every trial meets, such as a file that is not there: where no trial
        has ever come to a validation, twice the same is enough to know.
        """
        if isinstance(error, UserError):
            earlier = self.study.get_trials(deepcopy=False)[:-1]
            again = bool(earlier) and earlier[-1].user_attrs.get("problem") == str(error)
            hopeless = again and not any(one.intermediate_values for one in earlier)
            return not isinstance(error.__cause__, OSError) and not hopeless
        too_large = isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
        return too_large or isinstance(error, MemoryError | torch.OutOfMemoryError)

    def _check_pairs(self, trainer: Trainer) -> None:
        """Trials are compared with each other, so all have the same pairs, unless that is what is searched over."""
        searched = {one.key.partition(".")[0] for one in self.ranges}
        if searched & {"task", "data"}:
            return
        # Of the training pairs there is only what the pieces leave.
        splits = ["validation", "test", *([] if "text" in searched else ["train"])]
        now = {split: trainer.run.model.data().get(split, {}).get("fingerprint") for split in splits}
        known = self.study.user_attrs.get("pairs")
        if known is None:
            self.study.set_user_attr("pairs", now)
        elif changed := [split for split in splits if known.get(split) != now[split]]:
            raise _OtherPairsError(
                f"The {changed[0]} pairs are not the ones that this sweep began with, so trials cannot be compared. "
                "Bring the old data back, or give another folder with --folder."
            )

    def _best_value(self, trainer: Trainer) -> float:
        """Of all validations, those of earlier sittings included."""
        state = trainer.checkpoints.newest_state()
        assert state is not None, "a training that is over has saved itself"
        assert state.best is not None, "and validated"
        return state.best.value

    def _config(self, settings: dict[str, str]) -> Config:
        changes = [*self.changes, *(f"{key}={value}" for key, value in settings.items())]
        config = load_config(self.recipe, changes, by="--set or --over")
        return config if self.begun is None else as_begun(config, self.begun)

    def _write_best(self) -> None:
        if (best := self.best()) is not None:
            write_whole(self.folder / "best.toml", self._config(best.settings).to_toml())

    def _check_settings(self) -> None:
        """A name that nobody knows is told before anything is tried; a value may fit or not."""
        for one in self.ranges:
            value = one.values[0] if one.values else f"{one.low:g}"
            try:
                self._config({one.key: value})
            except UserError as error:
                if "unknown setting" in str(error):
                    raise

    def _check_the_same(self) -> None:
        """A sweep is one search: other ranges or another configuration make another."""
        asked = {"ranges": sorted(map(repr, self.ranges)), "config": self.base.to_toml()}
        earlier = self.study.user_attrs.get("asked")
        if earlier is None:
            self.study.set_user_attr("asked", asked)
            return
        self.begun = tomllib.loads(earlier["config"])
        self.base = self._config({})
        changed = difference(parse_config(completed(self.begun), origin=str(self.folder)), self.base)
        if earlier["ranges"] != asked["ranges"]:
            changed.append("--over")
        if changed:
            raise UserError(
                f"{self.folder} has a sweep over other settings or of another configuration ({'; '.join(changed)}). "
                "Give another folder with --folder, or the same command as before."
            )


def _study(path: Path, *, seed: int, higher_is_better: bool) -> "optuna.Study":
    try:
        import optuna
    except ImportError:
        raise UserError("A sweep needs Optuna: pip install 'regard[sweep]'.") from None
    from sqlalchemy.exc import SQLAlchemyError  # what Optuna's storage is made with

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{path.resolve()}")
        study = optuna.create_study(
            storage=storage,
            study_name="sweep",
            load_if_exists=True,
            direction="maximize" if higher_is_better else "minimize",
            pruner=optuna.pruners.MedianPruner(n_startup_trials=UNPRUNED),
        )
        earlier = len(study.get_trials(deepcopy=False))
    except (SQLAlchemyError, optuna.exceptions.OptunaError, RuntimeError) as error:
        why = str(error).splitlines()[0].rstrip(".")
        raise UserError(
            f"{path} cannot be read: {why}. Take it from a copy, or begin again in another folder (--folder)."
        ) from error
    # Going on, it must not draw again what it drew at the start.
    study.sampler = optuna.samplers.TPESampler(seed=seed + earlier)
    return study
