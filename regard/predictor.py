"""load(run) -> predict(inputs) -> predictions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import overload

import numpy as np
import torch

from regard import build
from regard.core.errors import UserError, did_you_mean
from regard.core.memory import CROSS, KINDS, NOTHING
from regard.core.prediction import Prediction
from regard.data import in_order
from regard.models import Seq2Seq
from regard.run import find_model
from regard.search import SearchPlan
from regard.tasks.text import TextCodec

RECORDS = {"cross": frozenset({CROSS}), "all": KINDS, "none": NOTHING}


def load(path: str | Path, *, device: str = "auto") -> "Predictor":
    """A trained model from its run folder (or from a `model/` folder on its own)."""
    folder = find_model(path)
    config = folder.config()
    codec = build.load_codec(config, folder)
    model = build.load_model(config, folder, codec)
    return Predictor(
        model.eval(),
        codec,
        search=build.search_plan(config),
        batch_tokens=config.evaluation.batch_tokens,
        device=build.device(device),
    )


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

    @overload  # to a type checker a str is texts too; at run time the first overload wins
    def predict(  # type: ignore[overload-overlap]
        self, inputs: str, *, beam: int | None = None, attention: str = "cross"
    ) -> Prediction: ...
    @overload
    def predict(
        self, inputs: Iterable[str], *, beam: int | None = None, attention: str = "cross"
    ) -> list[Prediction]: ...

    def predict(
        self, inputs: str | Iterable[str], *, beam: int | None = None, attention: str = "cross"
    ) -> Prediction | list[Prediction]:
        """One prediction for each input, in their order; for a single text, a single one.

        `attention` says what is recorded: the look at the source ("cross"), that and the looks of source
        and answer at themselves ("all"), or nothing ("none"), which is fastest.
        """
        if attention not in RECORDS:
            raise UserError(
                f"There is no attention {attention!r} to record.{did_you_mean(attention, RECORDS)}"
            )
        wanted = RECORDS[attention]
        if beam is not None and beam < 1:
            raise UserError(f"A beam of {beam} holds no hypothesis. Give 1, which is greedy, or more.")
        search = self.search if beam is None else replace(self.search, beam=beam)
        if isinstance(inputs, str):
            return self._predict([inputs], search, wanted)[0]
        return self._predict(list(inputs), search, wanted)

    def stream(
        self, inputs: Iterable[str], *, beam: int | None = None, attention: str = "cross", window: int = 512
    ) -> Iterator[Prediction]:
        """Predictions in the order of the inputs, which are read `window` at a time and never all at once."""
        remaining = iter(inputs)
        while some := list(islice(remaining, window)):
            yield from self.predict(some, beam=beam, attention=attention)

    @torch.inference_mode()
    def _predict(self, texts: Sequence[str], search: SearchPlan, wanted: frozenset[str]) -> list[Prediction]:
        self.model.eval()  # a training that goes on afterwards sets its own mode at each step
        rows = self.codec.encode(texts)
        answers = [self.codec.nothing(text) for text in texts]
        asked = [number for number, row in enumerate(rows) if row]
        budget = self.batch_tokens // search.beam  # every source becomes as many rows
        for batch in in_order(np.array([len(rows[number]) for number in asked]), budget):
            numbers = [asked[place] for place in batch]
            source = self.codec.collate([rows[number] for number in numbers]).to(self.device)
            memory = self.model.encoder.encode(source, wanted)
            found = search(self.model.decoder, memory, source.lengths)
            for place, (number, hypothesis) in enumerate(zip(numbers, found, strict=True)):
                looks = {kind: weights[place] for kind, weights in memory.attention.items()}
                whole = replace(hypothesis, attention={**looks, **hypothesis.attention})
                answers[number] = self.codec.decode(texts[number], rows[number], whole)
        return answers
