"""A trained model against the right answers."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from regard import build
from regard.beside import beside
from regard.card import model_card
from regard.config import Config
from regard.core.errors import UserError, did_you_mean
from regard.core.files import write_whole
from regard.core.prediction import Prediction, Request
from regard.data import Case
from regard.engines import find_folder
from regard.evaluation.alignment import AlignmentTest
from regard.evaluation.evaluated import Against, Direction, Evaluation
from regard.evaluation.other_pairs import Given, check_held, check_tasks, given, name_of
from regard.metrics import (
    METRICS,
    PERPLEXITY,
    Metric,
    Tally,
    by_frequency,
    by_length,
    compare,
    interval,
)
from regard.predictions import Kept, basis
from regard.predictor import Predictor, load
from regard.run import Run
from regard.search import Finder, Options
from regard.tasks.codec import Codec
from regard.tasks.examples import Examples
from regard.text.rarity import Seen, rarest_words

log = logging.getLogger("regard")


def evaluate(
    path: str | Path,
    *others: str | Path,
    split: str = "test",
    pairs: Given | None = None,
    on_bad_line: str | None = None,
    metrics: Sequence[str] = (),
    against: str | Path | None = None,
    alignments: AlignmentTest | None = None,
    mbr: str | None = None,
    device: str = "auto",
    engine: str | None = None,
    compute_type: str | None = None,
    shortlist: bool = False,
    **options: Unpack[Options],
) -> Evaluation:
    """Scores a model on its own test or validation pairs; a run gets `scores.json`, the answers and its card.

    `metrics` are counted beside the run's own. With `others` it answers together with them, `mbr` and `options`
    change the search as in `predict`, as a `shortlist` does, `engine` what runs the model, and `compute_type` its
    numbers: such scores are not the run's own and are not saved. `against` is a run to compare with, which answers as
    its own configuration says.

    `pairs` is another test set: a file, or one of sources and one of targets, which is read as the run's own files are;
    `on_bad_line` ("stop" or "skip") says what becomes of lines that are no pairs. Nothing of that is saved either.
    """
    if pairs is not None:
        check_tasks([one for one in (path, against) if one is not None])
    run = None if others or mbr is not None or pairs is not None else _run(path)
    weights = run.model.digest() if run else None
    predictor = load(
        path, *others, device=device, engine=engine, compute_type=compute_type, shortlist=shortlist
    )
    config = find_folder(path).config()
    chosen = _metrics(config, metrics)
    if pairs is None:
        examples = build.task(config).examples()
        held = examples.test if split == "test" else examples.validation
        check_held(held, split, (path, *others), against)
    else:
        split, examples = name_of(pairs), given(path, config, pairs, on_bad_line)
        held = examples.test
    cases = examples.cases(held)
    requests, references = [case.request for case in cases], [case.targets for case in cases]
    alignment = alignments(predictor, held) if alignments is not None else {}
    search = predictor.search.changed(options)
    as_trained = predictor.engine is None and compute_type in (None, "float32") and not shortlist
    if not as_trained or search != predictor.search:
        run = None
    keeper = _kept(run, split, requests, search) if run else None
    before = keeper.load() if keeper and keeper.basis["model"] == weights else None
    predictions = before or predictor.predict(requests, attention="none", mbr=mbr, **options)
    counted = tallies(chosen, predictions, references)
    rarest = _rarest(config, examples, [case.source for case in cases]) if examples.in_words else []
    evaluation = Evaluation(
        path=Path(path),
        name=" + ".join(Path(one).resolve().name for one in (path, *others)),
        config=config,
        search=search,
        split=split,
        scores={tally.name: replace(tally.score(), interval=interval(tally)) for tally in counted},
        by_length=by_length(source_lengths(predictor.codec, predictions), counted),
        by_frequency=by_frequency([one.count if one else None for one in rarest], counted) if rarest else [],
        by_direction=_by_direction(cases, examples, chosen, predictions),
        requests=requests,
        references=references,
        predictions=predictions,
        rarest=rarest,
        look=lambda some: predictor.predict(some, attention="cross", mbr=mbr, **options),
        against=_against(
            against, split if pairs is None else None, requests, references, chosen, counted, device
        )
        if against
        else None,
        alignment=alignment,
        beside=beside(predictor, examples, cases, predictions, counted, chosen, _traits(config, predictor)),
        saved=run.scores_path if run else None,
        kept=keeper.path if keeper and before else None,
    )
    if run and run.model.digest() != weights:
        log.warning(
            "%s was trained on meanwhile: these scores are of its earlier weights, and are not saved.", run
        )
        return replace(evaluation, saved=None)
    try:
        if run:
            _save(run, evaluation)
        if keeper and not before:
            keeper.save(predictions, references)
    except OSError as error:  # what was found is told nevertheless
        log.warning("The scores could not be saved: %s.", error)
        return replace(evaluation, saved=None)
    return evaluation


def _traits(config: Config, predictor: Predictor) -> list[str]:
    """Those of the run; another engine than Regard's own does not tell how likely it finds a right answer."""
    return [one for one in config.evaluation.traits if predictor.engine is None or one != PERPLEXITY]


def _metrics(config: Config, beside: Sequence[str]) -> list[Metric]:
    """The run's own and those that were asked for beside them."""
    own = build.metrics(config)
    for name in beside:
        if name not in METRICS:
            raise UserError(f"There is no metric {name!r}.{did_you_mean(name, METRICS)}")
        if reason := config.unfit(name):
            raise UserError(f"{reason}.")
    language = build.task(config).target_language
    names = dict.fromkeys(name for name in beside if name not in {metric.name for metric in own})
    return [*own, *(METRICS[name](language=language) for name in names)]


def source_lengths(codec: Codec, predictions: Sequence[Prediction]) -> list[int]:
    """Pieces of the sources, with their end marks and tags, also of those of which a part was read."""
    whole = codec.measure([one.source for one in predictions])
    return [
        len(one.attention.source_pieces) + max(0, length - codec.limits.source)
        for one, length in zip(predictions, whole, strict=True)
    ]


def _run(path: str | Path) -> Run | None:
    """The run at this path; none if it is a model on its own, or was exported."""
    return Run(path) if find_folder(path).folder == Path(path) / "model" else None


def _kept(run: Run, split: str, requests: Sequence[Request], search: Finder) -> Kept:
    are_files = run.model.config().kind_of("source") == "picture"
    return Kept(run.predictions_path(split), basis(run.model, requests, search, are_files=are_files))


def tallies(
    metrics: Sequence[Metric], predictions: Sequence[Prediction], references: Sequence[Sequence[str]]
) -> list[Tally]:
    """What each metric counts in these answers."""
    texts, courses = [one.text for one in predictions], ["\n".join(_courses(one)) for one in predictions]
    return [metric.tally(courses if metric.answers == "points" else texts, references) for metric in metrics]


def _courses(prediction: Prediction) -> list[str]:
    """All that was said of what may follow, the answer first."""
    return [prediction.text, *(one.text for one in prediction.alternatives)]


def _by_direction(
    cases: Sequence[Case], examples: Examples, metrics: Sequence[Metric], predictions: Sequence[Prediction]
) -> list[Direction]:
    """The scores of each direction, with metrics that know its language."""
    groups: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        groups.setdefault(case.group, []).append(number)
    if len(groups) < 2:
        return []
    trained, found = {corpus.name for corpus in examples.corpora}, []
    for name, numbers in groups.items():
        texts, references = [predictions[n].text for n in numbers], [cases[n].targets for n in numbers]
        language = cases[numbers[0]].request.to
        scores = [METRICS[metric.name](language=language)(texts, references) for metric in metrics]
        found.append(Direction(name, name in trained, len(numbers), scores))
    return found


def _rarest(config: Config, examples: Examples, sources: Sequence[str]) -> list[Seen | None]:
    """Of each source the word that the training sources have least often; nothing if those cannot be read."""
    try:
        trained_on = (pair.source for pair in examples.train())
        return rarest_words(sources, trained_on, lowercase=config.text.source.lowercase)
    except UserError as error:
        log.warning("Quality by frequency is left out, because the training pairs cannot be read: %s", error)
        return []


def _against(
    path: str | Path,
    split: str | None,
    requests: Sequence[Request],
    references: Sequence[Sequence[str]],
    metrics: Sequence[Metric],
    ours: Sequence[Tally],
    device: str,
) -> Against:
    """What it answered before, if that is kept and nothing changed since; else what it answers now."""
    other, run = load(path, device=device), _run(path)
    before = _kept(run, split, requests, other.search).load() if run and split else None
    predictions = before or other.predict(requests, attention="none")
    theirs = tallies(metrics, predictions, references)
    comparisons = {one.name: compare(one, another) for one, another in zip(ours, theirs, strict=True)}
    return Against(Path(path).resolve().name, comparisons)


def _save(run: Run, evaluation: Evaluation) -> None:
    run.add_scores(evaluation.split, evaluation.to_json())
    if evaluation.split == "test":
        scores = {**evaluation.scores, **evaluation.alignment}
        card = model_card(evaluation.config, run.folder.name, scores, run.model.averaged())
        write_whole(run.model.card_path, card)
