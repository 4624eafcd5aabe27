"""A trained model against the right answers."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack, cast

from regard import build
from regard.alignments import (
    Aligner,
    Argmax,
    Links,
    agreement,
    align,
    check_gold,
    intersection,
    read_gold,
    usual_layer,
)
from regard.beside import Beside, beside
from regard.card import model_card
from regard.config import Config, TwoFiles
from regard.core.errors import UserError, did_you_mean
from regard.core.figures import decimals
from regard.core.files import write_whole
from regard.core.prediction import Prediction, Request
from regard.data import Case, Pair, compared, fingerprint
from regard.engines import find_folder
from regard.forcing import force
from regard.metrics import (
    METRICS,
    PERPLEXITY,
    Bucket,
    Comparison,
    Metric,
    Score,
    Tally,
    by_frequency,
    by_length,
    compare,
    interval,
)
from regard.predictions import Kept, basis
from regard.predictor import Predictor, load
from regard.run import Run, scores_document
from regard.search import Finder, Options
from regard.tasks.codec import Codec
from regard.tasks.examples import Examples
from regard.text.rarity import Seen, rarest_words

log = logging.getLogger("regard")

WINDOW = 64  # pairs that are forced before their links are read off: every layer and head of each is held

# Tasks that are scored on their own pairs alone, and why.
NO_OTHER_PAIRS = {
    "captions": "its sources are pictures, not lines of a file",
    "forecast": "its sources are series of points, not lines of a file",
    "multilingual": "a file of pairs does not say from which language into which each of them goes",
}

Given = str | Path | tuple[str | Path, str | Path]  # a file of pairs, or one of sources and one of targets
Look = Callable[[Sequence[Request]], list[Prediction]]  # answers some requests again, with attention


@dataclass(frozen=True)
class Against:
    """Another run that answered the same sources."""

    name: str
    comparisons: Mapping[str, Comparison]  # by metric


@dataclass(frozen=True)
class Direction:
    """From one language to another, such as en-de."""

    name: str
    trained: bool  # or nobody ever showed it a pair of them
    count: int
    scores: Sequence[Score]

    def __str__(self) -> str:
        return self.name if self.trained else f"{self.name}, never trained"


@dataclass(frozen=True)
class Evaluation:
    path: Path  # of the run, or the first of several
    name: str
    config: Config = field(repr=False)
    search: Finder = field(repr=False)
    split: str
    scores: Mapping[str, Score]
    by_length: Sequence[Bucket]  # by pieces of the source
    by_frequency: Sequence[Bucket]  # by how often the rarest word of the source was trained on
    by_direction: Sequence[Direction]  # where there are several
    requests: Sequence[Request] = field(repr=False)  # what it was asked
    references: Sequence[Sequence[str]] = field(repr=False)  # all right answers of each source
    predictions: Sequence[Prediction] = field(repr=False)
    rarest: Sequence[Seen | None] = field(repr=False)  # none at all where the training pairs are gone
    look: Look = field(repr=False)
    against: Against | None = None
    alignment: Mapping[str, Score] = field(default_factory=dict)  # where there was gold to compare with
    beside: Sequence[Beside] = ()  # what the answers are like, and what baselines score
    saved: Path | None = None  # where the scores were written, if they were
    kept: Path | None = None  # where the predictions came from, if they had been made before

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether an answer is one of the two, as a date is; translations, summaries and points are better or worse."""
        return bool({"exact_match", "pronunciation_error_rate"} & self.scores.keys())

    def to_json(self) -> dict[str, object]:
        """`{"exact_match": {"value": 99.7, "signature": "...", "by_source_length": [...]}, ...}`"""
        document = scores_document(self.scores)
        for place, name in enumerate(self.scores):
            document[name]["by_source_length"] = _rows(self.by_length, place)
            document[name]["by_source_frequency"] = _rows(self.by_frequency, place)
            if self.by_direction:
                document[name]["by_direction"] = {
                    one.name: round(one.scores[place].value, 4) for one in self.by_direction
                }
        others = {one.name: scores_document(one.scores) for one in self.beside}
        return document | scores_document(self.alignment) | ({"beside": others} if others else {})

    def document(self) -> dict[str, object]:
        """All that was found, for a program: the scores as `scores.json` has them, what was asked, and how."""
        known: dict[str, object] = {
            "name": self.name,
            "split": self.split,
            "sources": len(self.requests),
            "search": asdict(cast(Any, self.search)),
            "scores": self.to_json(),
        }
        if self.against:
            known["against"] = {
                "name": self.against.name,
                "scores": {name: _told(one) for name, one in self.against.comparisons.items()},
            }
        return known


def source_lengths(codec: Codec, predictions: Sequence[Prediction]) -> list[int]:
    """Pieces of the sources, with their end marks and tags, also of those of which a part was read."""
    whole = codec.measure([one.source for one in predictions])
    return [
        len(one.attention.source_pieces) + max(0, length - codec.limits.source)
        for one, length in zip(predictions, whole, strict=True)
    ]


def length_label(bucket: Bucket) -> str:
    if bucket.least == bucket.most:
        return f"{bucket.least} source pieces"
    return f"{bucket.least} to {bucket.most} source pieces"


def frequency_label(bucket: Bucket) -> str:
    if bucket.most == 0:
        return "rarest word unseen"
    if bucket.most is None:
        return f"rarest word seen {bucket.least:,} times or more"
    return f"rarest word seen {bucket.least} to {bucket.most} times"


def difference_label(comparison: Comparison) -> str:
    """With its sign, and with so many decimals that a small one is not told as nothing."""
    return f"{comparison.difference:+.{decimals(comparison.difference)}f}"


def _told(one: Comparison) -> dict[str, object]:
    return {
        "value": round(one.value, 4),
        "other": round(one.other, 4),
        "difference": round(one.difference, 4),
        "p": round(one.p, 6),
        "verdict": one.verdict,
    }


def _rows(buckets: Sequence[Bucket], place: int) -> list[dict[str, object]]:
    return [
        {
            "from": bucket.least,
            "to": bucket.most,
            "count": bucket.count,
            "value": round(bucket.scores[place].value, 4),
        }
        for bucket in buckets
    ]


@dataclass(frozen=True)
class AlignmentTest:
    """Compares where a model looks with the links that people drew between words."""

    gold: Path  # sure and possible links, a line for each pair: see `regard.alignments.pharaoh`
    by: Aligner = field(default_factory=Argmax)
    layer: int | None = None  # None: the last but one, where there are several
    head: int | None = None  # None: their mean
    backward: Predictor | None = None  # of the other direction: only links that both make count

    def __call__(self, predictor: Predictor, pairs: Sequence[Pair]) -> dict[str, Score]:
        gold = read_gold(self.gold)
        check_gold(gold, pairs, self.gold)
        found, layer = self._links(predictor, pairs)
        both = ""
        if self.backward is not None:
            turned, other = self._links(self.backward, [Pair(pair.target, pair.source) for pair in pairs])
            found = [intersection(one, back) for one, back in zip(found, turned, strict=True)]
            both = f"|and-backward:layer-{other}"
        head = "mean" if self.head is None else self.head
        return agreement(found, gold, made=f"by:{self.by}|layer:{layer}|head:{head}{both}|words:space")

    def _links(self, predictor: Predictor, pairs: Sequence[Pair]) -> tuple[list[Links], int | None]:
        """The links of each pair, and the layer that they are of.

        The model is told the targets, so that its looks are those of the words that people aligned.
        """
        found, layer = [], self.layer
        for one in self._forced(predictor, pairs):
            if not one.attention.kinds:
                raise UserError("This model has no attention, so there are no looks to read alignments off.")
            if layer is None and one.attention.source_pieces:
                layer = usual_layer(one.attention)
            found.append(align(one.attention, self.by, layer=layer, head=self.head))
        return found, layer

    def _forced(self, predictor: Predictor, pairs: Sequence[Pair]) -> Iterator[Prediction]:
        """Some at a time: all weights of a large test set take much memory."""
        for start in range(0, len(pairs), WINDOW):
            some = pairs[start : start + WINDOW]
            yield from force(predictor, [pair.source for pair in some], [pair.target for pair in some])


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
        _check_tasks([one for one in (path, against) if one is not None])
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
        _check_held(held, split, (path, *others), against)
    else:
        split, examples = _name(pairs), _given(path, config, pairs, on_bad_line)
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
    if run and run.model.digest() != weights:
        log.warning(
            "%s was trained on meanwhile: these scores are of its earlier weights, and are not saved.", run
        )
        run = keeper = None
    tallies = _tallies(chosen, predictions, references)
    rarest = _rarest(config, examples, [case.source for case in cases]) if examples.in_words else []
    evaluation = Evaluation(
        path=Path(path),
        name=" + ".join(Path(one).resolve().name for one in (path, *others)),
        config=config,
        search=search,
        split=split,
        scores={tally.name: replace(tally.score(), interval=interval(tally)) for tally in tallies},
        by_length=by_length(source_lengths(predictor.codec, predictions), tallies),
        by_frequency=by_frequency([one.count if one else None for one in rarest], tallies) if rarest else [],
        by_direction=_by_direction(cases, examples, chosen, predictions),
        requests=requests,
        references=references,
        predictions=predictions,
        rarest=rarest,
        look=lambda some: predictor.predict(some, attention="cross", mbr=mbr, **options),
        against=_against(
            against, split if pairs is None else None, requests, references, chosen, tallies, device
        )
        if against
        else None,
        alignment=alignment,
        beside=beside(predictor, examples, cases, predictions, tallies, chosen, _traits(config, predictor)),
        saved=run.scores_path if run else None,
        kept=keeper.path if keeper and before else None,
    )
    try:
        if keeper and not before:
            keeper.save(predictions, references)
        if run:
            _save(run, evaluation)
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


def _check_held(
    held: Sequence[Pair], split: str, runs: Sequence[str | Path], against: str | Path | None
) -> None:
    """A UserError where they are other pairs than the runs were trained beside."""
    now = fingerprint(pair.texts for pair in held)
    for one in runs:
        if _fingerprint(one, split) != now:
            raise UserError(
                f"The {split} pairs are not the ones that {one} was trained beside, so some may have been trained "
                "on. Bring the old data back, or train again."
            )
    if against is not None and _fingerprint(against, split) != now:
        raise UserError(
            f"{against} has other {split} pairs than {runs[0]}, so their answers cannot be compared one by one. "
            "Compare runs that were trained with the same data settings."
        )


def _check_tasks(runs: Sequence[str | Path]) -> None:
    """A UserError where a file of pairs is nothing to score one of them on."""
    for run in runs:
        name = find_folder(run).config().task.name
        if reason := NO_OTHER_PAIRS.get(name):
            raise UserError(f"{run}: the task {name} is scored on pairs of its own alone, because {reason}.")


def _given(path: str | Path, config: Config, pairs: Given, on_bad_line: str | None) -> Examples:
    """Other test pairs, read and asked as the task does it with its own; with the training pairs, if they are there."""
    file = TwoFiles(source=str(pairs[0]), target=str(pairs[1])) if isinstance(pairs, tuple) else str(pairs)
    changes = {"train": file, "validation": None, "test": file} | (
        {"on_bad_line": on_bad_line} if on_bad_line else {}
    )
    data = config.data.model_copy(update=changes)
    task: Any = build.task(config.model_copy(update={"data": data}))
    examples: Examples = replace(task, own=replace(task.own, train=())).examples()
    for report in examples.reports():
        log.warning("%s.", report)
    try:
        train = _trained_on(path, config)
    except UserError as error:
        log.warning(
            "Which sources were trained on is not known, and quality by frequency is left out, because the training "
            "pairs are not at hand: %s",
            error,
        )
        return replace(examples, in_words=False, baselines=())
    _warn_of_trained([case.source for case in examples.cases(examples.test)], train(), _name(pairs))
    return replace(examples, train=train)


def _name(pairs: Given) -> str:
    """By its file, or by both."""
    return " and ".join(Path(one).name for one in (pairs if isinstance(pairs, tuple) else (pairs,)))


def _trained_on(path: str | Path, config: Config) -> Callable[[], Iterable[Pair]]:
    """The training pairs of a run; a UserError where they are gone, or others have taken their place."""
    own = build.task(config).examples()
    for split, held in (("validation", own.validation), ("test", own.test)):
        if _fingerprint(path, split) != fingerprint(pair.texts for pair in held):
            raise UserError(f"{path} was trained with other files than are there now.")
    return own.train


def _warn_of_trained(sources: Sequence[str], train: Iterable[Pair], name: str) -> None:
    asked = set(map(compared, sources))
    trained = {source for pair in train if (source := compared(pair.source)) in asked}
    if count := sum(compared(source) in trained for source in sources):
        log.warning(
            "%s of the %s sources of %s were trained on: the scores say little of unseen ones.",
            f"{count:,}",
            f"{len(sources):,}",
            name,
        )


def _fingerprint(path: str | Path, split: str) -> object:
    """Of the pairs of a split that a run was trained beside."""
    return find_folder(path).data().get(split, {}).get("fingerprint")


def _run(path: str | Path) -> Run | None:
    """The run at this path; none if it is a model on its own, or was exported."""
    return Run(path) if find_folder(path).folder == Path(path) / "model" else None


def _kept(run: Run, split: str, requests: Sequence[Request], search: Finder) -> Kept:
    return Kept(run.predictions_path(split), basis(run.model, requests, search))


def _tallies(
    metrics: Sequence[Metric], predictions: Sequence[Prediction], references: Sequence[Sequence[str]]
) -> list[Tally]:
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
    theirs = _tallies(metrics, predictions, references)
    comparisons = {one.name: compare(one, another) for one, another in zip(ours, theirs, strict=True)}
    return Against(Path(path).resolve().name, comparisons)


def _save(run: Run, evaluation: Evaluation) -> None:
    run.add_scores(evaluation.split, evaluation.to_json())
    if evaluation.split == "test":
        scores = {**evaluation.scores, **evaluation.alignment}
        card = model_card(evaluation.config, run.folder.name, scores, run.model.averaged())
        write_whole(run.model.card_path, card)
