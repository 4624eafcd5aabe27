"""Points to vectors, and heads: from features to what is known of the next point."""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.core.state import Judged
from regard.layers.dropout import Dropout
from regard.layers.linear import Linear

NARROWEST, WIDEST = math.log(1e-3), math.log(1e3)  # logarithms of a scale: where it ends, softly
_SUREST = 1e-9  # a chance is no nearer to 0 or 1


class PointEmbedding(nn.Module):
    """A point to a vector: a linear map of its values, 0 where unknown, and of which of them are known."""

    def __init__(self, size: int, width: int, *, dropout: float = 0.0):
        super().__init__()
        self.size = size
        self.width = width
        self.linear = Linear(2 * size, width)
        self.dropout = Dropout(dropout)

    def standing(self, values: Tensor) -> Tensor:
        """Everywhere: of the first point nothing is known, and yet it stands there."""
        return torch.ones(values.shape[:-1], dtype=torch.bool, device=values.device)

    def forward(self, values: Tensor) -> Tensor:
        """... size, not a number where unknown -> ... width."""
        known = ~values.isnan()
        both = torch.cat([values.masked_fill(~known, 0), known.to(values.dtype)], dim=-1)  # ... 2·size
        vectors: Tensor = self.dropout(self.linear(both))
        return vectors


class PointHead(Linear, ABC):
    """Says something of the next point, of `size` values. What is not a number in a point wanted is not judged.

    There is no smoothing: a neighbour of the right point is nearly right already.
    """

    layer: int | None = None  # whose look at the source it must be given; none
    numbers: ClassVar[int] = 1  # that are said for each value
    draws: bool = True  # it says how likely other points are

    def __init__(self, width: int, size: int, *, components: int = 0):
        several = max(components, 1)
        super().__init__(width, several * size * self.numbers + components)
        self.size = size
        self.components = components
        if self.numbers == 2:  # all scales are alike at first: what looks unsure too early is never learned
            with torch.no_grad():
                self.weight[components:].view(several, 2, size, width)[:, 1].zero_()

    def features(self, vectors: Tensor, look: Tensor | None, source: Tensor | None) -> Any:
        """What it reads at each step: the vectors (B T D) alone."""
        return vectors

    def judge(self, features: Any, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Of N steps, against the points wanted (N size)."""
        return self.judge_said(self(features), wanted, smoothing)

    def judge_said(self, said: Tensor, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        likelihoods = self.log_probability(said, wanted)  # N
        return Judged(-likelihoods.sum(), likelihoods.detach())

    def draw(self, said: Tensor) -> Tensor:
        """A point by chance: N size."""
        return self.pick(said, torch.rand(len(said), 1 + self.size, device=said.device, dtype=torch.float64))

    @abstractmethod
    def expected(self, said: Tensor) -> Tensor:
        """The one point to answer with: ... size."""

    @abstractmethod
    def log_probability(self, said: Tensor, points: Tensor) -> Tensor:
        """Of points (... size), in what is known of each."""

    @abstractmethod
    def pick(self, said: Tensor, chances: Tensor, temperature: float = 1.0) -> Tensor:
        """The point that chances between 0 and 1 (N, 1 + size) choose: one for what kind of point, one for each value.

        A temperature below one keeps nearer to the likely.
        """


class Squared(PointHead):
    """The mean. What is called its log-likelihood is the negative squared error, summed over the values:

    up to a constant that of a Gaussian with the variance ½. It is sure of its point, so nothing is drawn by chance.
    """

    draws = False

    def expected(self, said: Tensor) -> Tensor:
        return said

    def log_probability(self, said: Tensor, points: Tensor) -> Tensor:
        return -_errors(said.float(), points).square().sum(-1)

    def pick(self, said: Tensor, chances: Tensor, temperature: float = 1.0) -> Tensor:
        return said


class Huber(Squared):
    """The same, but errors beyond `delta` count by their size instead of their square (Huber 1964).

    The negative loss, which is called its log-likelihood, is −½r² for a small error r and −δ(|r| − ½δ) for a large.
    """

    def __init__(self, width: int, size: int, *, delta: float = 1.0):
        super().__init__(width, size)
        self.delta = delta

    def log_probability(self, said: Tensor, points: Tensor) -> Tensor:
        errors = _errors(said.float(), points)
        return -functional.huber_loss(
            errors, torch.zeros_like(errors), delta=self.delta, reduction="none"
        ).sum(-1)


class Gaussian(PointHead):
    """A mean and a scale for each value, none of which knows of the others."""

    numbers = 2

    def expected(self, said: Tensor) -> Tensor:
        return _means_and_scales(said)[0]

    def log_probability(self, said: Tensor, points: Tensor) -> Tensor:
        return _normal(*_means_and_scales(said.float()), points)

    def pick(self, said: Tensor, chances: Tensor, temperature: float = 1.0) -> Tensor:
        means, scales = _means_and_scales(said.double())
        return _moved(means, scales, chances[..., 1:], temperature).to(said.dtype)


class Mixture(PointHead):
    """Several Gaussians and how likely each is (Bishop 1994): it can say left or right and not straight on.

    The expected point is the mean of the likeliest of them, not a point in the middle that nobody means.
    """

    numbers = 2

    def __init__(self, width: int, size: int, *, components: int = 5):
        super().__init__(width, size, components=components)

    def expected(self, said: Tensor) -> Tensor:
        logs, means, _ = self._parts(said)
        return _chosen(means, logs.argmax(-1))

    def log_probability(self, said: Tensor, points: Tensor) -> Tensor:
        logs, means, scales = self._parts(said.float())
        return (logs + _normal(means, scales, points[..., None, :])).logsumexp(-1)

    def pick(self, said: Tensor, chances: Tensor, temperature: float = 1.0) -> Tensor:
        logs, means, scales = self._parts(said.double())
        heights = (logs / temperature).softmax(-1).cumsum(-1)  # ... K
        which = (heights < chances[..., :1] * heights[..., -1:]).sum(-1)  # ...
        means, scales = _chosen(means, which), _chosen(scales, which)
        return _moved(means, scales, chances[..., 1:], temperature).to(said.dtype)

    def _parts(self, said: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities of the components (... K), their means and logarithms of their scales (... K size)."""
        logits, rest = said[..., : self.components], said[..., self.components :]
        means, scales = _means_and_scales(rest.reshape(*rest.shape[:-1], self.components, 2 * self.size))
        return logits.log_softmax(-1), means, scales


POINT_HEADS: dict[str, type[PointHead]] = {
    "squared": Squared,
    "huber": Huber,
    "gaussian": Gaussian,
    "mixture": Mixture,
}


def _means_and_scales(said: Tensor) -> tuple[Tensor, Tensor]:
    """Means and logarithms of scales, which end softly at both sides, so that there is always a way back."""
    means, free = said.chunk(2, dim=-1)
    above = NARROWEST + functional.softplus(free - NARROWEST)
    return means, WIDEST - functional.softplus(WIDEST - above)


def _errors(means: Tensor, points: Tensor) -> Tensor:
    """0 where a value is unknown. It is filled in first: a gradient through what is not a number is none."""
    return torch.where(points.isnan(), means.detach(), points) - means


def _normal(means: Tensor, scales: Tensor, points: Tensor) -> Tensor:
    """log N(point; mean, scale), summed over the values that are known."""
    errors = _errors(means, points) * (-scales).exp()
    each = -0.5 * errors.square() - scales - 0.5 * math.log(2 * math.pi)
    return each.masked_fill(points.isnan(), 0).sum(-1)


def _chosen(some: Tensor, which: Tensor) -> Tensor:
    """... K D, ... -> ... D."""
    places = which.clamp(max=some.shape[-2] - 1)[..., None, None].expand(*which.shape, 1, some.shape[-1])
    return some.gather(-2, places)[..., 0, :]


def _moved(means: Tensor, scales: Tensor, chances: Tensor, temperature: float) -> Tensor:
    """Where the normal distribution has so much below it: density to the power 1/temperature is √temperature wide."""
    away: Tensor = torch.special.ndtri(chances.double().clamp(_SUREST, 1 - _SUREST))
    return means + scales.exp() * math.sqrt(temperature) * away
