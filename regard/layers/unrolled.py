"""A recurrent encoder's layer with a way back of its own, for training on a CPU.

Torch reads rows of different lengths step by step, keeps what each of a dozen small operations found, and finds a
gradient by the recurrent matrix at every step. Here a step keeps its gates, and one product finds it for all steps.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence

from regard.layers.packed import Packed, can_pack


class Formulas(Protocol):
    """A cell's step and the way back, for B rows of width D.

    A state has one part, its output, or two: then the second is what the cell carries on. `given` and `own` are the
    input's and the last output's shares of the gates.
    """

    gates: int  # times D is what a share has
    kept: int  # times D is what a step keeps for the way back
    parts: int  # times D is a state
    alike: bool  # whether both shares always have the same gradient

    def advance(
        self, given: Tensor, own: Tensor, carried: Tensor, kept: Tensor, output: Tensor, carry: Tensor
    ) -> None:
        """Writes what is kept, and the new state; where that has one part, output and carry are the same."""
        ...

    def go_back(
        self,
        kept: Tensor,
        carried: Tensor,
        carry: Tensor,
        back: tuple[Tensor, Tensor],
        shares: tuple[Tensor, Tensor],
    ) -> Tensor:
        """From gradients by the output and the carry to those by the two shares, which are written, and by `carried`.

        With one part there is one gradient, twice; and where the shares are alike, one to be written.
        """
        ...


class GRUFormulas:
    """r, z = σ(x + Us);  n = tanh(xₙ + r∘Uₙs);  s' = n + z∘(s − n)"""

    gates, kept, parts = 3, 4, 1  # r, z, n and Uₙs are kept
    alike = False

    def advance(
        self, given: Tensor, own: Tensor, carried: Tensor, kept: Tensor, output: Tensor, carry: Tensor
    ) -> None:
        width = carried.shape[-1]
        gates = kept[:, : 2 * width]
        torch.add(given[:, : 2 * width], own[:, : 2 * width], out=gates)
        gates.sigmoid_()
        reset, update, new, own_new = kept.chunk(4, dim=-1)
        own_new.copy_(own[:, 2 * width :])
        torch.addcmul(given[:, 2 * width :], reset, own_new, out=new)
        new.tanh_()
        torch.lerp(new, carried, update, out=output)

    def go_back(
        self,
        kept: Tensor,
        carried: Tensor,
        carry: Tensor,
        back: tuple[Tensor, Tensor],
        shares: tuple[Tensor, Tensor],
    ) -> Tensor:
        width = carried.shape[-1]
        by_given, by_own = shares
        reset, update, new, own_new = kept.chunk(4, dim=-1)
        by_reset, by_update, by_new = by_given.chunk(3, dim=-1)
        by_carried = back[0] * update
        _sigmoid_back(back[0] * (carried - new), update, grad_input=by_update)
        _tanh_back(back[0] - by_carried, new, grad_input=by_new)
        _sigmoid_back(by_new * own_new, reset, grad_input=by_reset)
        by_own[:, : 2 * width] = by_given[:, : 2 * width]
        torch.mul(by_new, reset, out=by_own[:, 2 * width :])
        return by_carried


class LSTMFormulas:
    """i, f, g, o from x + Uh;  c' = σ(f)∘c + σ(i)∘tanh(g);  h' = σ(o)∘tanh(c')"""

    gates, kept, parts = 4, 4, 2
    alike = True

    def advance(
        self, given: Tensor, own: Tensor, carried: Tensor, kept: Tensor, output: Tensor, carry: Tensor
    ) -> None:
        width = carried.shape[-1]
        torch.add(given, own, out=kept)
        kept[:, : 2 * width].sigmoid_()
        kept[:, 2 * width : 3 * width].tanh_()
        kept[:, 3 * width :].sigmoid_()
        keep_in, forget, new, out = kept.chunk(4, dim=-1)
        torch.mul(forget, carried, out=carry)
        carry.addcmul_(keep_in, new)
        torch.tanh(carry, out=output)
        output.mul_(out)

    def go_back(
        self,
        kept: Tensor,
        carried: Tensor,
        carry: Tensor,
        back: tuple[Tensor, Tensor],
        shares: tuple[Tensor, Tensor],
    ) -> Tensor:
        by_output, by_carry = back
        keep_in, forget, new, out = kept.chunk(4, dim=-1)
        by_keep_in, by_forget, by_new, by_out = shares[0].chunk(4, dim=-1)
        bent = carry.tanh()  # B D
        _sigmoid_back(by_output * bent, out, grad_input=by_out)
        by_carry = by_carry + _tanh_back(by_output * out, bent)
        _sigmoid_back(by_carry * new, keep_in, grad_input=by_keep_in)
        _sigmoid_back(by_carry * carried, forget, grad_input=by_forget)
        _tanh_back(by_carry * keep_in, new, grad_input=by_new)
        by_carried: Tensor = by_carry.mul_(forget)
        return by_carried


_sigmoid_back = torch.ops.aten.sigmoid_backward
_tanh_back = torch.ops.aten.tanh_backward

_FORMULAS: dict[str, Formulas] = {"GRU": GRUFormulas(), "LSTM": LSTMFormulas()}


WORTH = 256  # numbers of a state: with fewer, what a call costs in Python is more than what it saves


def can_read(network: nn.RNNBase, vectors: Tensor) -> bool:
    """Whether `read` is the faster way to the same: a step of training, in float32, on a CPU, with wide states."""
    learns = torch.is_grad_enabled() and all(one.requires_grad for one in network.parameters())
    is_known = network.mode in _FORMULAS and network.hidden_size >= WORTH
    return (
        learns
        and is_known
        and not torch.is_autocast_enabled("cpu")
        and can_pack(vectors, *network.parameters())
    )


def read(network: nn.RNNBase, packed: PackedSequence) -> tuple[PackedSequence, Tensor | tuple[Tensor, ...]]:
    """What torch's network of one layer, in one or both directions, gives for these rows."""
    sizes = packed.batch_sizes.tolist()
    places = [slice(end - count, end) for end, count in zip(accumulate(sizes), sizes, strict=True)]
    ways = []
    for suffix, order in (("", places), ("_reverse", places[::-1]))[: 2 if network.bidirectional else 1]:
        weights = [getattr(network, f"{name}_l0{suffix}") for name in _WEIGHTS]
        ways.append(_Rows.apply(packed.data, *weights, _FORMULAS[network.mode], order))  # type: ignore[no-untyped-call]
    outputs, *last = zip(*ways, strict=True)
    unsorted = packed.unsorted_indices
    final = tuple(torch.stack(part) if unsorted is None else torch.stack(part)[:, unsorted] for part in last)
    return packed._replace(data=torch.cat(outputs, dim=-1)), final if len(final) > 1 else final[0]


_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Rows(torch.autograd.Function):
    """All steps over rows of different lengths, the longest first, which stand step after step: N E -> outputs N D.

    `places` are those of each step's rows, in the order in which they are read. After the outputs come the parts of the
    last states, B D each.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        from_input: Tensor,
        recurrent: Tensor,
        input_bias: Tensor,
        recurrent_bias: Tensor,
        formulas: Formulas,
        places: Sequence[slice],
    ) -> tuple[Tensor, ...]:
        given = Packed(from_input, input_bias)(inputs)  # N G
        product = Packed(recurrent, recurrent_bias)
        width = recurrent.shape[-1]
        kept = given.new_empty(len(given), formulas.kept * width)
        states = [given.new_empty(len(given), width) for _ in range(formulas.parts)]  # P times N D
        last = [given.new_zeros(max(map(_count, places)), width) for _ in states]  # P times B D
        for place in places:
            now = slice(_count(place))
            own = product(last[0][now])
            formulas.advance(
                given[place], own, last[-1][now], kept[place], states[0][place], states[-1][place]
            )
            for part, state in zip(last, states, strict=True):
                part[now] = state[place]
        ctx.save_for_backward(inputs, from_input, recurrent, kept, *states)
        ctx.formulas, ctx.places = formulas, places
        return states[0], *last

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_outputs: Tensor, *by_last: Tensor) -> tuple[Tensor | None, ...]:
        inputs, from_input, recurrent, kept, *states = ctx.saved_tensors
        formulas, places = ctx.formulas, ctx.places
        product = Packed(recurrent.T, None)
        by_given = states[0].new_empty(len(inputs), formulas.gates * recurrent.shape[-1])  # N G
        by_own = by_given if formulas.alike else torch.empty_like(by_given)
        back = [part.clone() for part in by_last]  # P times B D
        carried = _before(states[-1], places)  # N D
        for place in places[::-1]:
            now = slice(_count(place))
            by_output = back[0][now].add_(by_outputs[place])
            shares = by_given[place], by_own[place]
            gradients = by_output, back[-1][now]
            back[-1][now] = formulas.go_back(
                kept[place], carried[place], states[-1][place], gradients, shares
            )
            through = product(shares[1])
            if formulas.parts == 1:
                by_output += through
            else:
                by_output.copy_(through)
        return (
            Packed(from_input.T, None)(by_given) if ctx.needs_input_grad[0] else None,
            by_given.T @ inputs,
            by_own.T @ _before(states[0], places),
            by_given.sum(0),
            by_own.sum(0),
            None,
            None,
        )


def _count(place: slice) -> int:
    rows: int = place.stop - place.start
    return rows


def _before(states: Tensor, places: Sequence[slice]) -> Tensor:
    """The state (N D) that every step of a row began with: that of the step read before it, or zeros."""
    before = torch.zeros_like(states)
    read = slice(0, 0)
    for place in places:
        known = min(_count(read), _count(place))
        before[place][:known] = states[read][:known]
        read = place
    return before
