"""A model as two graphs: one reads a source, the other takes a step."""

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention import Keys
from regard.core.batch import Tokens
from regard.core.kinds import CROSS, NOTHING
from regard.decoders.recurrent import RecurrentState
from regard.decoders.stack import StackState
from regard.encoders import RecurrentEncoder
from regard.encoders.recurrent import Final
from regard.engines.onnx.operators import Operator
from regard.models import Seq2Seq

State = dict[str, Tensor]  # by name: what a step is given and what it gives back
VARYING = {"keys": (2,), "values": (2,), "mask": (1,), "seen": (2,)}  # axes that are as long as a source


class Reading(nn.Module):
    """Source ids (B S) and lengths (B) to the first state."""

    def __init__(self, model: Seq2Seq):
        super().__init__()
        assert isinstance(model.encoder, RecurrentEncoder)
        self.encoder, self.decoder = model.encoder, model.decoder
        networks = cast(Sequence[nn.RNNBase], self.encoder.networks)
        self.operators = nn.ModuleDict({str(id(one)): Operator(one) for one in networks})

    def forward(self, ids: Tensor, lengths: Tensor) -> State:
        memory = self.encoder.encode(Tokens(ids, lengths), NOTHING, self._read)
        return named(self.decoder.begin(memory))

    def _read(self, network: nn.RNNBase, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Final]:
        read: tuple[Tensor, Final] = self.operators[str(id(network))](vectors, lengths)
        return read


class Stepping(nn.Module):
    """The piece said before (B) and a state to log-probabilities (B V), the look (B H S) and the next state."""

    def __init__(self, model: Seq2Seq):
        super().__init__()
        self.decoder = model.decoder

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, dict[str, Tensor], State]:
        output = self.decoder.step(tokens, taken(state))
        looks = {"attention": output.attention[CROSS][:, 0]} if CROSS in output.attention else {}  # B H S
        after = {name: part for name, part in named(output.state).items() if name in changing(state)}
        return torch.log_softmax(output.logits, dim=-1), looks, after


def named(state: RecurrentState) -> State:
    """A state's parts that hold something."""
    layers = {f"layer_{number}": part for number, part in enumerate(state.stack.layers)}
    parts = {
        "keys": state.keys.keys,
        "values": state.keys.values,
        "mask": state.keys.mask,
        "step": state.step,
    }
    fed = {"features": state.features} if state.features.shape[1] else {}
    seen = {"seen": state.seen} if state.seen is not None else {}
    return {**parts, **layers, **fed, **seen}


def changing(state: Mapping[str, Tensor]) -> list[str]:
    """The parts that a step changes."""
    return [name for name in state if name not in ("keys", "values", "mask")]


def taken(state: State) -> RecurrentState:
    """The other way of `named`."""
    layers = tuple(part for name, part in state.items() if name.startswith("layer_"))
    step = state["step"]
    keys = Keys(state["keys"], state["values"], state["mask"])
    features = state.get("features", layers[0][:, :0])
    return RecurrentState(
        StackState(layers), keys, step, features, state.get("seen"), step, None, frozenset({CROSS})
    )
