"""A trained model against the right answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

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
from regard.card import model_card
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.prediction import Prediction
from regard.data import Case, Pair, fingerprint
from regard.forcing import force
from regard.metrics import Bucket, Score, by_bucket
from regard.predictor import Predictor, load
from regard.run import Run, find_model, scores_document
from regard.search import Options

WINDOW = 512  # pairs that are forced before their links are read off


@dataclass(frozen=True)
class Evaluation:
    split: str
    scores: Mapping[str, Score]
    by_length: Sequence[Bucket]  # by pieces of the source
    cases: Sequence[Case] = field(repr=False)
    predictions: Sequence[Prediction] = field(repr=False)
    alignment: Mapping[str, Score] = field(default_factory=dict)  # where there was gold to compare with
    saved: Path | None = None  # where the scores were written, if they were

    def to_json(self) -> dict[str, object]:
        """`{"exact_match": {"value": 99.7, "signature": "...", "by_source_length": [...]}, ...}`"""
        document = scores_document(self.scores)
        for place, name in enumerate(self.scores):
            document[name]["by_source_length"] = [
                {
                    "from": bucket.shortest,
                    "to": bucket.longest,
                    "count": bucket.count,
                    "value": round(bucket.scores[place].value, 4),
                }
                for bucket in self.by_length
            ]
        return document | scores_document(self.alignment)


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
    alignments: AlignmentTest | None = None,
    mbr: str | None = None,
    device: str = "auto",
    **options: Unpack[Options],
) -> Evaluation:
    """Scores a model on its own test or validation pairs; a run gets `scores.json` and its model card.

    With `others` it answers together with them, and `mbr` and `options` change the search as in `predict`: such
    scores, but for another `beam`, are not the run's own and are not saved.
    """
    predictor = load(path, *others, device=device)
    folder = find_model(path)
    config = folder.config()
    examples = build.task(config).examples()
    pairs = examples.test if split == "test" else examples.validation
    for one in (path, *others):
        if find_model(one).data().get(split, {}).get("fingerprint") != fingerprint(pairs):
            raise UserError(
                f"The {split} pairs are not the ones that {one} was trained beside, so some may have been trained "
                "on. Bring the old data back, or train again."
            )
    alignment = alignments(predictor, pairs) if alignments is not None else {}
    cases = examples.cases(pairs)
    sources = [case.source for case in cases]
    predictions = predictor.predict(sources, attention="none", mbr=mbr, **options)
    texts, references = [one.text for one in predictions], [case.targets for case in cases]
    metrics = build.metrics(config)
    lengths = [len(one.attention.source_pieces) for one in predictions]
    is_own = not others and mbr is None and set(options) <= {"beam"}
    run = Run(path) if is_own and folder.folder == Path(path) / "model" else None
    evaluation = Evaluation(
        split=split,
        scores={metric.name: metric(texts, references) for metric in metrics},
        by_length=by_bucket(lengths, texts, references, metrics),
        cases=cases,
        predictions=predictions,
        alignment=alignment,
        saved=run.scores_path if run else None,
    )
    if run:
        run.add_scores(split, evaluation.to_json())
        if split == "test":
            scores = {**evaluation.scores, **alignment}
            card = model_card(config, run.folder.name, scores, folder.averaged())
            write_whole(folder.card_path, card)
    return evaluation
