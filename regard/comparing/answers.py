"""The test pairs that all runs share, and what each run answered to them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from regard import build
from regard.comparing.jobs import Job
from regard.comparing.lineups import Candidate, Lineup
from regard.config import Config
from regard.core.errors import UserError
from regard.core.prediction import Prediction, Request
from regard.data import fingerprint
from regard.predictions import Kept, basis
from regard.trainer import is_over


@dataclass(frozen=True)
class TestSet:
    __test__ = False  # for pytest: it is no test

    requests: Sequence[Request] = field(repr=False)
    references: Sequence[Sequence[str]] = field(repr=False)
    fingerprint: str


def shared_test_set(lineup: Lineup) -> TestSet:
    """A UserError where runs have different ones."""
    first = lineup.candidates[0]
    known = {_data_settings(first.config): _test_set(first.config)}
    ours = next(iter(known.values()))
    for one in lineup.candidates:
        settings = _data_settings(one.config)
        if not one.is_given and settings not in known:
            known[settings] = _test_set(one.config)
        if settings in known and known[settings].fingerprint != ours.fingerprint:
            raise UserError(
                f"{one.folder} has other test pairs than {first.folder}, so their scores cannot be compared. Compare "
                "runs with the same data settings and the same data."
            )
        if one.has_begun and one.data("test").get("fingerprint") != ours.fingerprint:
            raise UserError(
                f"The test pairs are not the ones that {one.folder} was trained beside. Bring the old data back, "
                f"or {'compare other runs' if one.is_given else 'train again: give another folder with --folder'}."
            )
    return ours


def _data_settings(config: Config) -> str:
    return config.task.model_dump_json() + config.data.model_dump_json()


def _test_set(config: Config) -> TestSet:
    examples = build.task(config).examples()
    cases = examples.cases(examples.test)
    return TestSet(
        [case.request for case in cases],
        [case.targets for case in cases],
        fingerprint(pair.texts for pair in examples.test),
    )


def missing(lineup: Lineup, test: TestSet) -> list[Job]:
    """What is still to be trained or scored."""
    jobs = []
    for one in lineup.candidates:
        if not one.is_given and not is_over(one.config, one.run):
            jobs.append(Job(one, "train"))
        elif answers(one, test) is None or not one.run.has_scores("test"):
            jobs.append(Job(one, "score" if one.is_given else "go on"))
    return jobs


def answers(candidate: Candidate, test: TestSet) -> list[Prediction] | None:
    """What the run answered when it was scored, if its model is still the same."""
    run = candidate.run
    if not run.model.weights_path.exists():
        return None
    search = build.search_plan(candidate.config)
    are_files = candidate.config.kind_of("source") == "picture"
    return Kept(
        run.predictions_path("test"), basis(run.model, test.requests, search, are_files=are_files)
    ).load()
