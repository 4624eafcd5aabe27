"""Feedings: what a decoder is fed while it learns."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from regard.core.batch import Batch, Tokens
from regard.core.kinds import CROSS, NOTHING
from regard.core.load import Load
from regard.core.state import Choice, Looks
from regard.models import Seq2Seq
from regard.training.likelihood import Features, Logits

Decay = Callable[[int], float]  # the share of truth at a training step


@dataclass(frozen=True)
class Fed:
    said: Logits | Features  # of the target's pieces, padding left out, row by row
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
        logits: list[Tensor] = []
        loads: list[tuple[Load, ...]] = []
        looks: list[Tensor] = []
        for place, known in enumerate(batch.target_input.unbind(1)):
            tokens = known if place == 0 else torch.where(truth[:, place], known, _draw(logits[-1]))  # B
            output = model.step(tokens, state)
            logits.append(output.logits)
            loads.append(output.loads)
            looks += [output.attention[CROSS]] if CROSS in output.attention else []
            state = output.state
        of_layers = tuple(Load.total(layer) for layer in zip(*loads, strict=True))
        said = Logits(torch.stack(logits, dim=1)[mask], vocabulary=model.decoder.head.out_features)
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
        ids, mask = batch.target.ids, batch.target.mask  # B T
        memory = model.encoder.encode(batch.source, wanted)
        with torch.no_grad():
            first = model.decoder.unroll(memory, batch.target_input)
            drawn = _draw(model.decoder.head(first.features[mask]))  # N
        truth = torch.rand(ids.shape, device=ids.device) < self.decay(step)  # B T
        mixed = torch.where(truth, ids, ids.masked_scatter(mask, drawn))  # B T
        second = model.decoder.unroll(
            memory, replace(batch, target=Tokens(mixed, batch.target.lengths)).target_input
        )
        said = Features(second.features[mask], model.decoder.head)
        return Fed(said, second.choice, second.loads, second.attention)


def _draw(logits: Tensor) -> Tensor:
    return torch.multinomial(torch.softmax(logits.detach().float(), dim=-1), 1)[:, 0]  # B, or N


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
