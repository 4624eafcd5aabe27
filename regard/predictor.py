"""load(run) -> predict(inputs) -> predictions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import overload

import numpy as np
import torch

from regard import build
from regard.core.prediction import Prediction
from regard.data import in_order
from regard.models import Seq2Seq
from regard.run import find_model
from regard.search import SearchPlan
from regard.tasks.text import TextCodec


def load(path: str | Path, *, device: str = "auto") -> "Predictor":
    """A trained model from its run folder (or from a `model/` folder on its own)."""
    folder = find_model(path)
    config = folder.config()
    codec = build.load_codec(config, folder)
    model = build.load_model(config, folder, codec)
    predictor = Predictor(
        model,
        codec,
        search=build.search_plan(config),
        batch_tokens=config.evaluation.batch_tokens,
        device=build.device(device),
    )
    predictor.model.eval()
    return predictor


class Predictor:
    """Answers sources with a model. What it answers to one does not depend on what else it is asked."""

    def __init__(
        self, model: Seq2Seq, codec: TextCodec, *, search: SearchPlan, batch_tokens: int, device: torch.device
    ):
        self.model = model.to(device)
        self.codec = codec
        self.search = search
        self.batch_tokens = batch_tokens
        self.device = device

    @overload
    def predict(self, inputs: str, *, beam: int | None = None) -> Prediction: ...
    @overload
    def predict(self, inputs: list[str], *, beam: int | None = None) -> list[Prediction]: ...

    def predict(self, inputs: str | list[str], *, beam: int | None = None) -> Prediction | list[Prediction]:
        """One prediction for each input, in their order; for a single text, a single one."""
        search = self.search if beam is None else replace(self.search, beam=beam)
        if isinstance(inputs, str):
            return self._predict([inputs], search)[0]
        return self._predict(inputs, search)

    def stream(
        self, inputs: Iterable[str], *, beam: int | None = None, window: int = 512
    ) -> Iterator[Prediction]:
        """Predictions in the order of the inputs, which are read `window` at a time and never all at once."""
        remaining = iter(inputs)
        while some := list(islice(remaining, window)):
            yield from self.predict(some, beam=beam)

    @torch.inference_mode()
    def _predict(self, texts: Sequence[str], search: SearchPlan) -> list[Prediction]:
        rows = self.codec.encode(texts)
        answers = [self.codec.nothing(text) for text in texts]
        asked = [number for number, row in enumerate(rows) if row]
        for batch in in_order(np.array([len(rows[number]) for number in asked]), self.batch_tokens):
            numbers = [asked[place] for place in batch]
            source = self.codec.collate([rows[number] for number in numbers]).to(self.device)
            found = search(self.model, source, source.lengths)
            for number, hypothesis in zip(numbers, found, strict=True):
                answers[number] = self.codec.decode(texts[number], rows[number], hypothesis)
        return answers
