"""A trained model against the right answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regard import build
from regard.card import model_card
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.prediction import Prediction
from regard.data import Pair, fingerprint
from regard.metrics import Bucket, Score, by_bucket
from regard.predictor import load
from regard.run import Run, find_model, scores_document


@dataclass(frozen=True)
class Evaluation:
    split: str
    scores: Mapping[str, Score]
    by_length: Sequence[Bucket]  # by pieces of the source
    pairs: Sequence[Pair] = field(repr=False)
    predictions: Sequence[Prediction] = field(repr=False)
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
        return document


def evaluate(
    path: str | Path, *, split: str = "test", beam: int | None = None, device: str = "auto"
) -> Evaluation:
    """Scores a model on its own test or validation pairs; a run gets `scores.json` and its model card."""
    predictor = load(path, device=device)
    folder = find_model(path)
    config = folder.config()
    examples = build.task(config).examples()
    pairs = examples.test if split == "test" else examples.validation
    if folder.data().get(split, {}).get("fingerprint") != fingerprint(pairs):
        raise UserError(
            f"The {split} pairs are not the ones that {path} was trained beside, so some may have been trained on. "
            "Bring the old data back, or train again."
        )
    predictions = predictor.predict([pair.source for pair in pairs], beam=beam, attention="none")
    texts, references = [one.text for one in predictions], [[pair.target] for pair in pairs]
    metrics = build.metrics(config)
    lengths = [len(one.attention.source_pieces) for one in predictions]
    run = Run(path) if folder.folder == Path(path) / "model" else None
    evaluation = Evaluation(
        split=split,
        scores={metric.name: metric(texts, references) for metric in metrics},
        by_length=by_bucket(lengths, texts, references, metrics),
        pairs=pairs,
        predictions=predictions,
        saved=run.scores_path if run else None,
    )
    if run:
        run.add_scores(split, evaluation.to_json())
        if split == "test":
            card = model_card(config, run.folder.name, evaluation.scores, folder.averaged())
            write_whole(folder.card_path, card)
    return evaluation
