"""A model against the validation pairs, while it is trained."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from regard import build
from regard.config import Config
from regard.core.prediction import Request
from regard.data import Store, in_order
from regard.models import Seq2Seq
from regard.predictor import Predictor
from regard.tasks.codec import Codec
from regard.tasks.examples import Examples
from regard.training import ALONE, CrossEntropy, Ranks, Validation


class Validator:
    """Loss and greedy answers on the validation pairs, of which every process answers some."""

    def __init__(
        self,
        config: Config,
        model: Seq2Seq,
        codec: Codec,
        examples: Examples,
        store: Store,
        device: torch.device,
        ranks: Ranks = ALONE,
    ):
        self.model = model
        self.store = store
        self.device = device
        self.ranks = ranks
        self.budget = config.evaluation.batch_tokens
        self.samples = config.training.samples
        self.cases = examples.cases(examples.validation)
        self.predictor = Predictor(
            [model],
            codec,
            search=build.search_plan(config),
            batch_tokens=self.budget,
            device=device,
        )
        chosen = {metric.name: metric for metric in build.metrics(config)}
        if judge := build.judging_metric(config):
            chosen.setdefault(judge.name, judge)
        self.metrics = list(chosen.values())

    def __call__(self) -> Validation:
        requests = [case.request for case in self.cases]
        texts = self.ranks.spread(requests, self._texts)
        shown = requests[: self.samples] if self.ranks.is_first else []  # it alone keeps them
        samples = self.predictor.answer(shown, self.predictor.search.quick())
        references = [case.targets for case in self.cases]
        scores = {metric.name: metric(texts, references).value for metric in self.metrics}
        return Validation(self._loss(), scores, samples)

    def _texts(self, requests: Sequence[Request]) -> list[str]:
        answers = self.predictor.answer(requests, self.predictor.search.quick(), attention="none")
        return [answer.text for answer in answers]

    def _loss(self) -> float:
        longest = np.maximum(self.store.source_lengths, self.store.target_lengths)
        sums = self.ranks.spread(in_order(longest, self.budget), self._sums)
        return sum(total for total, _ in sums) / sum(tokens for _, tokens in sums)

    def _sums(self, batches: Sequence[NDArray[np.int64]]) -> list[tuple[float, int]]:
        losses = [CrossEntropy()(self.model, self.store.batch(one).to(self.device)) for one in batches]
        return [(float(loss.likelihood), loss.tokens) for loss in losses]
