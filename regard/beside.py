"""What the scores of a run are worth: what its answers are like, and what answers without a model score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from regard.core.kinds import NOTHING
from regard.core.prediction import Prediction
from regard.data import Case
from regard.forcing import force
from regard.metrics import PERPLEXITY, TRAITS, Metric, Score, Tally, interval, perplexity
from regard.predictor import Predictor
from regard.tasks.baselines import Baseline
from regard.tasks.examples import Examples

THIS_RUN = "this run"  # whose answers they are; others are of baselines and people


@dataclass(frozen=True)
class Beside:
    """Some answers to the sources that were asked."""

    name: str
    scores: Mapping[str, Score]  # those that make sense for them


def beside(
    predictor: Predictor,
    examples: Examples,
    cases: Sequence[Case],
    predictions: Sequence[Prediction],
    own: Sequence[Tally],
    metrics: Sequence[Metric],
    traits: Sequence[str],
) -> list[Beside]:
    """The run, whose `own` scores are known, the task's baselines and the right answers.

    Nothing where there is nothing to add to a run's scores.
    """
    if not traits and not examples.baselines:
        return []
    sources, references = [case.source for case in cases], [case.targets for case in cases]

    def row(name: str, answers: Sequence[str], counted: Sequence[Tally]) -> Beside:
        known = [TRAITS[trait](sources, answers) for trait in traits if trait != PERPLEXITY]
        return Beside(name, {one.name: _with_interval(one) for one in (*counted, *known)})

    def baseline(one: Baseline) -> Beside:
        answers = one.answers(examples.train(), sources)
        return row(one.name, answers, [metric.tally(answers, references) for metric in metrics])

    surprise = [_perplexity(predictor, cases)] if PERPLEXITY in traits else []
    rows = [
        row(THIS_RUN, [one.text for one in predictions], [*own, *surprise]),
        *map(baseline, examples.baselines),
        row("right answers", [answers[0] for answers in references], []),
    ]
    return [row for row in rows if row.scores]


def _with_interval(tally: Tally) -> Score:
    return replace(tally.score(), interval=interval(tally))


def _perplexity(predictor: Predictor, cases: Sequence[Case]) -> Tally:
    """Of each case's first right answer. One to a source with nothing in it is left out: it has no likelihood."""
    likelihoods, pieces = [], []
    for language in dict.fromkeys(case.request.to for case in cases):
        asked = [case for case in cases if case.request.to == language and case.source.strip()]
        sources, targets = [case.source for case in asked], [case.targets[0] for case in asked]
        told = force(predictor, sources, targets, to=language, wanted=NOTHING)
        likelihoods += [one.score for one in told]
        pieces += [len(one.attention.target_pieces) for one in told]
    return perplexity(likelihoods, pieces)
