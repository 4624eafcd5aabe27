"""A module's weights by name, each tensor once: tied ones stand under the first of their names."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256

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


_ENTRY = "regard"
DIGEST = "sha256"  # in the header of a file of weights: of its tensors
MADE_FOR = "made_for"  # the digest of the tokenizers and the like that they were trained with


def header(weights: Weights, *, made_for: str | None = None, **also: str) -> dict[str, str]:
    """What a file of weights says of itself, so that a changed bit and another model's files are found out.

    One entry holds it all: safetensors writes several in any order, and equal weights are to be equal files.
    """
    said = {DIGEST: digest(weights), **({MADE_FOR: made_for} if made_for else {}), **also}
    return {_ENTRY: json.dumps(said, sort_keys=True)}


def said_of(entries: Mapping[str, str]) -> dict[str, str]:
    """What `header` put there, and what files without it have."""
    said: dict[str, str] = json.loads(entries.get(_ENTRY, "{}"))
    return {name: value for name, value in entries.items() if name != _ENTRY} | said


def digest(weights: Weights) -> str:
    """Of all names, shapes and numbers."""
    whole = sha256()
    for name, tensor in sorted(weights.items()):
        whole.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        whole.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return whole.hexdigest()


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
