"""A module's weights by name, each tensor once: tied ones stand under the first of their names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

Weights = Mapping[str, Tensor]


def weights_of(module: nn.Module) -> dict[str, Tensor]:
    """The state dict without a second name for a tensor that is already there; safetensors takes no other."""
    state = module.state_dict()
    return {names[0]: state[names[0]] for names in _tied(state)}


def load_weights(module: nn.Module, weights: Weights) -> None:
    """Strict, as torch is. Of tied tensors one name is enough; where there are several they must agree."""
    given = dict(weights)
    for names in _tied(module.state_dict()):
        known = [name for name in names if name in weights]
        if not all(torch.equal(weights[name], weights[known[0]]) for name in known[1:]):
            raise RuntimeError(
                f"{' and '.join(known)} are one tensor in this model, but differ in the weights."
            )
        given |= {name: weights[known[0]] for name in names if known}
    module.load_state_dict(given)


@contextmanager
def borrowed(module: nn.Module, weights: Weights) -> Iterator[None]:
    """While it lasts, the module has these weights; afterwards its own, bit by bit."""
    own = {name: tensor.clone() for name, tensor in weights_of(module).items()}
    load_weights(module, weights)
    try:
        yield
    finally:
        load_weights(module, own)


def _tied(state: Weights) -> list[list[str]]:
    """The names of each tensor, in the order of the state dict."""
    groups: dict[object, list[str]] = {}
    for name, tensor in state.items():
        groups.setdefault(_place(tensor), []).append(name)
    return list(groups.values())


def _place(tensor: Tensor) -> object:
    """What two names of one tensor have in common. A tensor without storage is nobody else's."""
    start = tensor.data_ptr()
    return (tensor.device, start, tensor.dtype, tensor.shape, tensor.stride()) if start else id(tensor)
