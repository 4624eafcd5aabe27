"""Averages of weights: over saved checkpoints, and over every step as it is taken."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from regard.core.weights import Weights, weights_of


def mean(all_weights: Iterable[Weights]) -> dict[str, Tensor]:
    """The mean of every float tensor, added up in float64; all else as the first has it.

    The weights are taken one set after the other, so that they need not fit into memory together.
    """
    first: Weights = {}
    totals: dict[str, Tensor] = {}
    count = 0
    for weights in all_weights:
        if not count:
            first, totals = weights, {name: tensor.double() for name, tensor in weights.items()}
        elif _shapes(weights) != _shapes(first):
            raise ValueError("weights of different models have no mean")
        else:
            totals = {name: total + weights[name] for name, total in totals.items()}
        count += 1
    return {
        name: (totals[name] / count).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in first.items()
    }


def _shapes(weights: Weights) -> dict[str, tuple[torch.Size, torch.dtype]]:
    return {name: (tensor.shape, tensor.dtype) for name, tensor in weights.items()}


class MovingAverage:
    """The mean of the weights after each step, where a step counts `decay` times as much as the next one.

        a_t = a_{t-1} + (w_t − a_{t-1})·(1 − decay) / (1 − decay^t)

    This is the exponential moving average without a share for the weights that training began with:
    the divisor takes it out, as Adam's does (Kingma & Ba 2015, section 3). What is not learned, such as a
    counter or a table of positions, is taken as it is.
    """

    def __init__(self, module: nn.Module, *, decay: float):
        self.decay = decay
        self.learned = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        self.weights = {name: tensor.clone() for name, tensor in weights_of(module).items()}

    @torch.no_grad()
    def add(self, module: nn.Module, *, step: int) -> None:
        """Takes in the weights after a step, which counts from one."""
        share = (1 - self.decay) / (1 - self.decay**step)
        for name, tensor in weights_of(module).items():
            if name in self.learned:
                self.weights[name].lerp_(tensor, share)
            else:
                self.weights[name].copy_(tensor)

    def restore(self, weights: Weights) -> None:
        assert weights.keys() == self.weights.keys()
        for name, tensor in weights.items():
            self.weights[name].copy_(tensor)
