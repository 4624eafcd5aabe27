"""Who is compared: configurations with their variations, members of a comparison file, runs that are there."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomli_w

from regard.comparing.files import ComparisonFile, comparisons, find_comparison
from regard.comparing.varying import (
    SEED,
    Variation,
    budget_changes,
    called,
    combinations,
    limited_alone,
)
from regard.config import Config, load_config, parse_config, recipes
from regard.config.going_on import harmful
from regard.core.errors import UserError, did_you_mean
from regard.metrics import METRICS
from regard.run import Run, find_model


@dataclass(frozen=True)
class Candidate:
    """One run: to be trained, or there already. Runs of a model differ in their seeds."""

    model: str
    config: Config = field(repr=False)
    folder: Path
    is_given: bool  # somebody trained it; it is scored if it was not

    @property
    def run(self) -> Run:
        return Run(self.folder)

    @property
    def has_begun(self) -> bool:
        """Whether it says which pairs it is trained with."""
        return self.is_given or self.run.model.config_path.exists()

    def data(self, split: str) -> Mapping[str, Any]:
        """What it says of its pairs: how many, and a fingerprint."""
        found: Mapping[str, Any] = self.run.model.data().get(split, {})
        return found

    @property
    def device(self) -> str:
        """Where it is trained and answers: a given run may come from a machine that had others."""
        return "auto" if self.is_given else self.config.training.device

    def __str__(self) -> str:
        """Given runs may lie in folders of the same name."""
        return str(self.folder) if self.is_given else self.folder.name


@dataclass(frozen=True)
class Lineup:
    name: str
    candidates: tuple[Candidate, ...]
    reach: float | None = None  # a quality whose cost is asked for
    metric: str | None = None  # that quality is measured by; None: the first of the configuration

    @property
    def models(self) -> dict[str, list[Candidate]]:
        grouped: dict[str, list[Candidate]] = {}
        for candidate in self.candidates:
            grouped.setdefault(candidate.model, []).append(candidate)
        return grouped


@dataclass(frozen=True)
class Wishes:
    """What a command line asks of all configurations."""

    changes: Sequence[str] = ()
    variations: Sequence[Variation] = ()
    budget: str | None = None


def line_up(
    what: Sequence[str],
    wishes: Wishes,
    folder: Path,
    *,
    reach: float | None = None,
    metric: str | None = None,
) -> Lineup:
    """`what` are recipes, configurations, comparison files and run folders."""
    found: list[Candidate] = []
    lineup = Lineup(folder.name, ())
    files = {one: file for one in what if (file := find_comparison(one)) is not None}
    if len(files) > 1:
        raise UserError(
            f"{' and '.join(files)} are comparisons: each says what is reached and by what. Give one at a time."
        )
    names = _told_apart([one for one in what if one not in files])
    for one in what:
        if (file := files.get(one)) is not None:
            lineup = replace(lineup, name=file.name, reach=file.reach, metric=file.metric)
            found += _members(file, wishes, folder)
        elif _is_run(one):
            found.append(_given(one, names[one]))
        else:
            _check_known(one)
            found += _varied(_Start(one, names[one] if len(what) > 1 else ""), wishes, folder)
    if wishes.changes or wishes.variations or wishes.budget:
        for candidate in found:
            if candidate.is_given:
                raise UserError(
                    f"{candidate.folder} is a run, and what is trained cannot be changed: --set, --vary and "
                    "--budget are for configurations. Leave them out, or give its configuration instead."
                )
    decides = metric or lineup.metric
    found = [replace(one, config=_judged_by(decides, one.config)) for one in found]
    found = _one_model_for_all_seeds(found)
    if len(found) < 2:
        raise UserError(
            "There is only one run to look at. Give several configurations or runs, or what is to be varied: "
            "--vary model.attention.score=dot,additive."
        )
    _check_names(found)
    _check_folders(found)
    return replace(
        lineup,
        candidates=tuple(found),
        reach=lineup.reach if reach is None else reach,
        metric=decides,
    )


def _judged_by(metric: str | None, config: Config) -> Config:
    """Answers are kept, so any metric that fits the task can be counted later, too."""
    if metric is None or metric not in METRICS or metric in config.evaluation.metrics:
        return config
    document = tomllib.loads(config.to_toml())
    document.setdefault("evaluation", {})["metrics"] = [*config.evaluation.metrics, metric]
    return parse_config(document, origin=f"--metric {metric}")


@dataclass(frozen=True)
class _Start:
    """A configuration before anything is varied."""

    base: str
    name: str
    changes: tuple[str, ...] = ()
    budget: str | None = None
    seeds: tuple[int, ...] = ()
    by: str = "--set or --vary"


def _members(file: ComparisonFile, wishes: Wishes, folder: Path) -> Iterator[Candidate]:
    for member in file.members:
        changes = (*settings_as_changes(file.settings), *settings_as_changes(member.settings))
        by = f"{file.origin}, member {member.name!r}"
        base = member.base or file.base
        yield from _varied(
            _Start(base, member.name, changes, file.budget_text, tuple(file.seeds), by), wishes, folder
        )


def _varied(start: _Start, wishes: Wishes, folder: Path) -> Iterator[Candidate]:
    variations = list(wishes.variations)
    if start.seeds and not any(one.key == SEED for one in variations):
        variations.append(Variation(SEED, tuple(map(str, start.seeds))))
    budget = budget_changes(wishes.budget or start.budget)
    for combination in combinations(variations):
        changes = [f"{key}={value}" for key, value in combination.items()]
        name = ", ".join(filter(None, [start.name, called(combination)])) or Path(start.base).stem
        try:
            config = load_config(
                start.base, [*start.changes, *budget, *wishes.changes, *changes], by=start.by
            )
        except UserError as error:
            raise (error if start.by in str(error) else UserError(f"{name}: {error}")) from None
        if budget:
            config = limited_alone(config, [*budget, *wishes.changes, *changes])
        yield Candidate(name, config, folder / f"{_slug(name)}-{config.training.seed}", is_given=False)


def settings_as_changes(settings: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Sections inside of each other as `a.b=c`."""
    changes = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            changes += settings_as_changes(value, f"{prefix}{key}.")
        else:
            changes.append(f"{prefix}{key}={_on_one_line(value)}")
    return changes


def _on_one_line(value: Any) -> str:
    """As TOML, also where tomli_w would begin a table of its own."""
    if isinstance(value, Mapping):
        inside = (f"{_key(key)} = {_on_one_line(one)}" for key, one in value.items())
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_on_one_line, value))}]"
    return tomli_w.dumps({"value": value}).partition("=")[2].strip()


def _key(name: str) -> str:
    return tomli_w.dumps({name: 0}).rpartition("=")[0].strip()


def _is_run(name: str) -> bool:
    """A folder, but not one that is called like a recipe and is none."""
    path = Path(name)
    is_run = any((path / part).exists() for part in ("config.toml", "model/config.json", "config.json"))
    return path.is_dir() and (is_run or name not in recipes())


def _check_known(name: str) -> None:
    """A comparison that is misspelt is nearer than any recipe."""
    known = [*recipes(), *comparisons()]
    if Path(name).suffix != ".toml" and not Path(name).exists() and name not in known:
        raise UserError(
            f"There is no recipe, no comparison and no file {name!r}.{did_you_mean(name, known)} "
            "`regard recipes` lists them."
        )


def _told_apart(paths: Sequence[str]) -> dict[str, str]:
    """Each by as much of the end of its path as tells it from the others: `x`, or `a/x` beside `b/x`."""
    parts = {
        one: ("", one) if _is_recipe(one) else Path(one.removesuffix(".toml")).resolve().parts
        for one in paths
    }

    def end(one: str) -> str:
        others = [theirs for name, theirs in parts.items() if name != one]
        if _is_recipe(one):
            return one
        for length in range(1, len(parts[one])):
            tail = parts[one][-length:]
            if not any(theirs[-length:] == tail for theirs in others):
                return "/".join(tail)
        return one

    return {one: end(one) for one in paths}


def _is_recipe(name: str) -> bool:
    return name in recipes() and not _is_run(name)


def _given(name: str, model: str) -> Candidate:
    folder = Path(name)
    if find_model(folder).folder != folder / "model":
        raise UserError(f"{name} is a model without its run. Give the run's folder, where its record is.")
    return Candidate(model, find_model(folder).config(), folder, is_given=True)


def _one_model_for_all_seeds(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Given runs that differ in nothing but their seed are runs of one model, which is called like the first.

    Two with the same seed are not: something differs that the configuration does not tell, as their pairs may.
    """
    known: list[list[Candidate]] = []  # by model
    found = []
    for one in candidates:
        if one.is_given:
            alike = next((runs for runs in known if all(_differ_in_seed(one, other) for other in runs)), None)
            if alike is None:
                known.append([one])
            else:
                one = replace(one, model=alike[0].model)
                alike.append(one)
        found.append(one)
    return found


def _differ_in_seed(one: Candidate, other: Candidate) -> bool:
    """And in nothing else."""
    alike = _unseeded(one.config) == _unseeded(other.config) and one.data("train") == other.data("train")
    return alike and one.config.training.seed != other.config.training.seed


def _unseeded(config: Config) -> Config:
    return config.model_copy(update={"training": config.training.model_copy(update={"seed": 0})})


def _check_names(candidates: Sequence[Candidate]) -> None:
    """Runs under one name are taken for runs of one model."""
    known: dict[str, Candidate] = {}
    for one in candidates:
        first = known.setdefault(one.model, one)
        if _unseeded(first.config) != _unseeded(one.config):
            raise UserError(
                f"{first.folder} and {one.folder} are different models, but both are called {one.model!r}. Rename one."
            )


def _check_folders(candidates: Sequence[Candidate]) -> None:
    """Every run has a folder of its own, and what is there was trained as it is to be now."""
    seen: dict[Path, Candidate] = {}
    for one in candidates:
        place = one.folder.resolve()
        if place in seen:
            raise UserError(
                f"Two of the runs would be {one.folder}: {seen[place].model!r} and {one.model!r}. Give each one once."
            )
        seen[place] = one
        earlier = None if one.is_given else one.run.config()
        if earlier is not None and (changes := harmful(earlier, one.run.as_begun(one.config))):
            raise UserError(
                f"{one.folder} was started with another configuration ({'; '.join(changes)}). "
                "Give another folder with --folder, or remove this one."
            )


def _slug(name: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^\w=.+-]+", "-", name).strip("-.") or "run"
