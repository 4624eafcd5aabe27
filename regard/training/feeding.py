"""Feedings: what a decoder is fed while it learns."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from regard.core.batch import Batch
from regard.core.kinds import CROSS, NOTHING
from regard.core.load import Load
from regard.core.state import Choice, Looks
from regard.models import Seq2Seq
from regard.training.likelihood import Features, Said

Decay = Callable[[int], float]  # the share of truth at a training step


@dataclass(frozen=True)
class Fed:
    said: Said | Features  # of the target's pieces, padding left out, row by row
    choice: Choice | None = None
    loads: tuple[Load, ...] = ()  # of all layers that have experts
    attention: Looks = field(default_factory=dict)  # of all steps, as far as it is wanted


class Feeding(Protocol):
    def __call__(self, model: Seq2Seq, batch: Batch, step: int, wanted: frozenset[str] = NOTHING) -> Fed: ...


class Teacher:
    """The truth, always (teacher forcing): all steps are known, so the decoder unrolls them."""

    def __init__(self, decay: Decay | None = None):
        pass

    def __call__(self, model: Seq2Seq, batch: Batch, step: int, wanted: frozenset[str] = NOTHING) -> Fed:
        unrolled = model(batch, wanted)
        features = unrolled.features[batch.target.mask]  # N, no work on padding
        said = Features(features, model.decoder.head)
        return Fed(said, unrolled.choice, unrolled.loads, unrolled.attention)


class Scheduled:
    """Scheduled sampling (Bengio et al. 2015): for each piece by itself, the truth or a draw from the model.

    The share of truth falls as training goes on.
    """

    def __init__(self, decay: Decay):
        self.decay = decay

    def __call__(self, model: Seq2Seq, batch: Batch, step: int, wanted: frozenset[str] = NOTHING) -> Fed:
        mask = batch.target.mask  # B T
        truth = torch.rand(mask.shape, device=mask.device) < self.decay(step)  # B T
        truth = truth | ~mask  # padding stays padding
        memory = model.encoder.encode(batch.source, wanted)
        state: Any = model.decoder.begin(memory)
        head = model.decoder.head
        logits: list[Tensor] = []
        loads: list[tuple[Load, ...]] = []
        looks: list[Tensor] = []
        for place, known in enumerate(batch.target.fed.unbind(1)):
            fed = known if place == 0 else _mixed(truth[:, place], known, head.draw(logits[-1].detach()))
            output = model.step(fed, state)  # of B, or B D
            logits.append(output.logits)
            loads.append(output.loads)
            looks += [output.attention[CROSS]] if CROSS in output.attention else []
            state = output.state
        of_layers = tuple(Load.total(layer) for layer in zip(*loads, strict=True))
        said = Said(torch.stack(logits, dim=1)[mask], head)
        attention = {CROSS: torch.stack(looks, dim=3)} if looks else {}  # B L H T S
        return Fed(said, loads=memory.loads + of_layers, attention=attention)


class Free(Scheduled):
    """The model's own pieces, always (full autoregression)."""

    def __init__(self, decay: Decay | None = None):
        super().__init__(lambda _: 0.0)


class TwoPass:
    """Scheduled sampling without a loop over the steps (Mihaylova & Martins 2019).

    A first pass reads the truth and gives, without a gradient, what the model would say at every step. The
    second is fed, for each piece by itself, the truth or a draw from what the first pass said in its place.
    """

    def __init__(self, decay: Decay):
        self.decay = decay

    def __call__(self, model: Seq2Seq, batch: Batch, step: int, wanted: frozenset[str] = NOTHING) -> Fed:
        mask, standing = batch.target.mask, batch.target.standing  # B T, and N or N D
        memory = model.encoder.encode(batch.source, wanted)
        with torch.no_grad():
            first = model.decoder.unroll(memory, batch.target.fed)
            head = model.decoder.head
            drawn = head.draw(head(first.features[mask]))  # N, or N D
        truth = torch.rand(mask.shape, device=mask.device) < self.decay(step)  # B T
        mixed = batch.target.saying(_mixed(truth[mask], standing, drawn))
        second = model.decoder.unroll(memory, mixed.fed)
        said = Features(second.features[mask], model.decoder.head)
        return Fed(said, second.choice, second.loads, second.attention)


def _mixed(truth: Tensor, known: Tensor, drawn: Tensor) -> Tensor:
    """What is known where `truth` (N) says so, of pieces (N) or of points (N D)."""
    return torch.where(truth if known.dim() == 1 else truth[:, None], known, drawn)


def constant(*, steps: int, least: float) -> Decay:  # noqa: ARG001 (decays are made alike)
    return lambda step: least


def linear(*, steps: int, least: float) -> Decay:
    """From one to the least within `steps`."""
    return lambda step: max(least, 1 - step / steps)


def exponential(*, steps: int, least: float) -> Decay:
    """k^step, with k such that half is reached at `steps`."""
    return lambda step: max(least, 0.5 ** (step / steps))


def inverse_sigmoid(*, steps: int, least: float) -> Decay:
    """k / (k + exp(step / k)), with k such that half is reached at `steps`: long near one, then falling."""
    k = _solve(lambda k: k * math.log(k) - steps)
    return lambda step: max(least, 1 / (1 + math.exp(min(step / k, 700)) / k))


def _solve(rises: Callable[[float], float]) -> float:
    """Where a rising function crosses zero, above one."""
    low, high = 1.0, 2.0
    while rises(high) < 0:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if rises(middle) < 0 else (low, middle)
    return high


FEEDINGS: dict[str, Callable[[Decay], Feeding]] = {
    "teacher": Teacher,
    "scheduled": Scheduled,
    "two_pass": TwoPass,
    "free": Free,
}
DECAYS: dict[str, Callable[..., Decay]] = {
    "constant": constant,
    "linear": linear,
    "exponential": exponential,
    "inverse_sigmoid": inverse_sigmoid,
}
