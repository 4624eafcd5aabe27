"""Objectives: what training makes small."""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from regard.core.batch import Batch
from regard.core.pieces import PAD
from regard.models import Seq2Seq


@dataclass(frozen=True)
class Loss:
    """Sums, not means: several batches of one step are weighed by their tokens, not by their number."""

    total: Tensor  # to go backward from
    likelihood: Tensor  # negative log-likelihood without smoothing, for people
    tokens: int


class CrossEntropy(nn.Module):
    """Negative log-likelihood of the target's pieces, optionally smoothed (Szegedy et al. 2016)."""

    def __init__(self, *, label_smoothing: float = 0.0):
        super().__init__()
        self.label_smoothing = label_smoothing

    def forward(self, model: Seq2Seq, batch: Batch) -> Loss:
        here = batch.target.mask  # B T
        features = model(batch).features[here]  # N D, no work on padding
        log_probabilities = functional.log_softmax(model.decoder.head(features).float(), dim=-1)  # N V
        wanted = batch.target.ids[here]  # N
        likelihood = functional.nll_loss(log_probabilities, wanted, reduction="sum", ignore_index=PAD)
        total = likelihood
        if self.label_smoothing:
            uniform = -log_probabilities.mean(dim=-1).sum()
            total = (1 - self.label_smoothing) * likelihood + self.label_smoothing * uniform
        return Loss(total, likelihood.detach(), len(wanted))
