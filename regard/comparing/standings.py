"""How good each model is, how sure that is, and what it cost."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from regard import build
from regard.beside import THIS_RUN
from regard.comparing.answers import TestSet, answers
from regard.comparing.conditions import budget, conditions
from regard.comparing.costs import Decoding, Learning, Timer, learning
from regard.comparing.lineups import Candidate, Lineup
from regard.comparing.sentences import Sentence, choose, look
from regard.config import Config
from regard.core.errors import UserError, did_you_mean
from regard.core.prediction import Prediction
from regard.evaluation import source_lengths, tallies
from regard.metrics import Bucket, Comparison, Tally, by_length, compare, interval
from regard.predictor import load
from regard.run import Run, find_model
from regard.trainer import is_over
from regard.training import Checkpoints, Spent

FEWEST = 50  # test sources in a part, so that its score is not noise
MOST_PARTS = 8


@dataclass(frozen=True)
class Quality:
    """A metric of all runs of a model."""

    values: Sequence[float]  # of each seed
    deviation: float | None  # standard deviation over seeds; None: there is one
    half: float  # of the 95 % interval over sentences
    higher_is_better: bool

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def rank(self) -> float:
        return self.mean if self.higher_is_better else -self.mean

    @property
    def spread(self) -> float:
        """What stands behind the ±."""
        return self.half if self.deviation is None else self.deviation


@dataclass(frozen=True)
class Reached:
    """The mean cost of the runs that reached a quality."""

    seconds: float
    tokens: float
    runs: int


@dataclass(frozen=True)
class Standing:
    name: str
    runs: Sequence[Path]
    qualities: Mapping[str, Quality]  # by metric
    against: Mapping[str, Comparison]  # with the model that all are compared with; nothing for that one
    learnings: Sequence[Learning] = field(repr=False)  # of each run
    decoding: Decoding
    reached: Reached | None  # None: nobody asked, or no run did
    # What the answers are like, in the mean over runs.
    traits: Mapping[str, float] = field(default_factory=dict)
    pairs: int | None = None  # it was trained with; None: the run does not say

    @property
    def spent(self) -> Spent:
        """By a run, on average."""
        every = [one.spent for one in self.learnings]
        steps, tokens = (round(fmean(getattr(one, what) for one in every)) for what in ("steps", "tokens"))
        return Spent(steps, tokens, fmean(one.seconds for one in every))

    @property
    def rate(self) -> float:
        return fmean(one.rate for one in self.learnings)

    @property
    def memory(self) -> int | None:
        return max((one.memory for one in self.learnings if one.memory), default=None)


@dataclass(frozen=True)
class Result:
    name: str
    metric: str  # that decides
    reference: str  # the model that all others are compared with
    reach: float | None
    standings: Sequence[Standing]
    by_length: Mapping[str, Sequence[Bucket]]  # by metric; scores in the order of the standings
    sentences: Sequence[Sentence] = field(repr=False)
    test_size: int
    budget: str
    conditions: str
    notes: Sequence[str] = ()  # what is not equal although it looks so, a sentence each
    failed: Mapping[str, str] = field(default_factory=dict)  # run -> why


@dataclass(frozen=True)
class _Scored:
    """A model whose runs have answered the test sources."""

    runs: Sequence[Candidate]
    answers: Sequence[Sequence[Prediction]]  # of each run
    tallies: Sequence[Mapping[str, Tally]]  # of each run, by metric

    def pooled(self, metric: str) -> Tally:
        return _pooled([one[metric] for one in self.tallies])


def results(
    lineup: Lineup,
    test: TestSet,
    *,
    folder: Path,
    threads: int,
    against: str = "best",
    failed: Mapping[str, str],
    tell: Callable[[str], None] = lambda model: None,
) -> Result:
    """Of all runs that are trained and scored; those that failed are left out and told."""
    models, lost = _scored(lineup, test, failed)
    configs = [run.config for one in models.values() for run in one.runs]
    metrics = _metrics(configs)
    main = _deciding(lineup.metric, metrics)
    reference = _reference(against, models, main)
    firsts = [one.answers[0] for one in models.values()]
    first = next(iter(models.values())).runs[0]
    lengths = source_lengths(build.load_codec(first.config, find_model(first.folder)), firsts[0])
    chosen = choose(lengths, firsts)
    timer = Timer(folder / "decoding.json", test.requests, threads=threads)
    standings, looks, devices = [], [], []
    for name, one in models.items():
        tell(name)
        predictor = load(one.runs[0].folder, device=one.runs[0].device)
        devices.append(predictor.device)
        other = None if name == reference else models[reference]
        standings.append(
            _standing(name, one, other, metrics, timer(one.runs[0], predictor), main, lineup.reach)
        )
        looks.append(look(predictor, [test.requests[number] for number in chosen]))
    return Result(
        name=lineup.name,
        metric=main,
        reference=reference,
        reach=lineup.reach,
        standings=standings,
        by_length={
            metric: by_length(
                lengths, [one.pooled(metric) for one in models.values()], buckets=_parts(len(lengths))
            )
            for metric in sorted(metrics, key=lambda name: name != main)
        },
        sentences=[
            Sentence(test.requests[number].text, test.references[number], [one[place] for one in looks])
            for place, number in enumerate(chosen)
        ],
        test_size=len(test.requests),
        budget=budget(configs),
        conditions=conditions(devices, threads, [run.folder for one in models.values() for run in one.runs]),
        notes=[*_unfinished(models), *_unequal_pairs(models)],
        failed={**failed, **lost},
    )


def _unfinished(models: Mapping[str, _Scored]) -> Iterator[str]:
    """Of runs that somebody trained; those that a comparison trains come to their ends."""
    for run in (run for one in models.values() for run in one.runs if run.is_given):
        state = Checkpoints(run.run.checkpoints).newest_state()
        if state is not None and not is_over(run.config, run.run):
            yield f"{run} was stopped after {state.spent.steps:,} steps, before its budget was spent."


def _unequal_pairs(models: Mapping[str, _Scored]) -> Iterator[str]:
    """The same settings read other files than before, where somebody has changed them in between."""
    runs = [run for one in models.values() for run in one.runs]
    for settings in dict.fromkeys(map(_reading, runs)):
        alike = [run for run in runs if _reading(run) == settings]
        found: dict[object, list[str]] = {}
        for run in alike:
            found.setdefault(run.data("train").get("fingerprint"), []).append(str(run))
        if len(found) > 1:
            told = "; ".join(", ".join(names) for names in found.values())
            yield f"Trained with different pairs, although the settings are the same: {told}."


def _reading(run: Candidate) -> str:
    """All settings that say what is trained with."""
    return "".join(part.model_dump_json() for part in (run.config.task, run.config.data, run.config.text))


def check_wishes(lineup: Lineup, against: str) -> None:
    """A metric or a model that is not there is told before anything is trained."""
    _deciding(lineup.metric, _metrics([one.config for one in lineup.candidates]))
    _check_reference(against, lineup.models)


def _deciding(wanted: str | None, metrics: Sequence[str]) -> str:
    main = wanted or metrics[0]
    if main not in metrics:
        raise UserError(f"There is no metric {main!r} that all runs have.{did_you_mean(main, metrics)}")
    return main


def _scored(
    lineup: Lineup, test: TestSet, failed: Collection[str]
) -> tuple[dict[str, _Scored], dict[str, str]]:
    """The models, and runs whose answers are gone since. One that failed may have answers of an earlier model."""
    models: dict[str, _Scored] = {}
    lost: dict[str, str] = {}
    for name, runs in lineup.models.items():
        kept = [(run, answers(run, test)) for run in runs if str(run) not in failed]
        found = [(run, given) for run, given in kept if given is not None]
        lost |= {str(run): "its answers to the test sources are gone" for run, given in kept if given is None}
        if found:
            counted = [tallies(build.metrics(run.config), given, test.references) for run, given in found]
            models[name] = _Scored(
                [run for run, _ in found],
                [given for _, given in found],
                [{one.name: one for one in every} for every in counted],
            )
    if not models:
        raise UserError("No run came to an end, so there is nothing to compare.")
    return models, lost


def _standing(
    name: str,
    scored: _Scored,
    other: _Scored | None,
    metrics: Sequence[str],
    decoding: Decoding,
    main: str,
    reach: float | None,
) -> Standing:
    learnings = [learning(run.run.metrics_path) for run in scored.runs]
    higher_is_better = scored.pooled(main).higher_is_better
    return Standing(
        name=name,
        runs=[run.folder for run in scored.runs],
        qualities={one: _quality([every[one] for every in scored.tallies]) for one in metrics},
        against={one: compare(scored.pooled(one), other.pooled(one)) for one in metrics} if other else {},
        learnings=learnings,
        decoding=decoding,
        reached=_reached(learnings, main, reach, higher_is_better=higher_is_better),
        traits=_traits([run.run for run in scored.runs], without=metrics),
        pairs=scored.runs[0].data("train").get("pairs"),
    )


def _traits(runs: Sequence[Run], *, without: Sequence[str]) -> dict[str, float]:
    """What an evaluation found out besides the metrics: perplexity, how much is new, lengths."""
    found = [run.scores("test").get("beside", {}).get(THIS_RUN, {}) for run in runs]
    shared = [name for name in found[0] if name not in without and all(name in one for one in found)]
    return {name: fmean(one[name]["value"] for one in found) for name in shared}


def _metrics(configs: Sequence[Config]) -> list[str]:
    """Those that all runs are scored by, in the order of the first."""
    every = [config.evaluation.metrics for config in configs]
    shared = [name for name in every[0] if all(name in others for others in every)]
    if not shared:
        raise UserError(
            "These runs are scored by different metrics (evaluation.metrics): they need one that all have."
        )
    return list(dict.fromkeys(shared))


def _pooled(tallies: Sequence[Tally]) -> Tally:
    """All seeds together: what was counted in each sentence, in the mean over its answers, however many they are."""
    first = tallies[0]
    counts = np.mean([one.counts for one in tallies], axis=0)
    return Tally(first.name, first.signature, first.higher_is_better, counts, first.value_of)


def _quality(tallies: Sequence[Tally]) -> Quality:
    values = [one.score().value for one in tallies]
    return Quality(
        values,
        stdev(values) if len(values) > 1 else None,
        interval(_pooled(tallies)).half,
        tallies[0].higher_is_better,
    )


def _check_reference(wanted: str, models: Collection[str]) -> None:
    known = ["best", "first", *models]
    if wanted not in known:
        raise UserError(f"--against {wanted}: there is no such model.{did_you_mean(wanted, known)}")


def _reference(wanted: str, models: Mapping[str, _Scored], metric: str) -> str:
    """The name of the model that all others are compared with: the best, too, where the wanted one failed."""
    if wanted in models:
        return wanted
    qualities = {name: _quality([every[metric] for every in one.tallies]) for name, one in models.items()}
    return next(iter(models)) if wanted == "first" else max(qualities, key=lambda name: qualities[name].rank)


def _reached(
    learnings: Sequence[Learning], metric: str, reach: float | None, *, higher_is_better: bool
) -> Reached | None:
    if reach is None:
        return None
    every = [one.reached(metric, reach, higher_is_better=higher_is_better) for one in learnings]
    there = [one for one in every if one is not None]
    if not there:
        return None
    return Reached(fmean(one.seconds for one in there), fmean(one.tokens for one in there), len(there))


def _parts(sources: int) -> int:
    return max(1, min(MOST_PARTS, sources // FEWEST))
