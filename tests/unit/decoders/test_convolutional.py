"""The convolutional decoder against its paper's formulas, written out in NumPy."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from small import batch, convolutional

from regard.core.kinds import NOTHING
from regard.models import Seq2Seq

Matrix = NDArray[np.float32]
HALF = np.sqrt(0.5)


def model(*changes: str) -> Seq2Seq:
    net = convolutional("both.weight_norm=false", *changes)
    with torch.no_grad():
        for parameter in net.parameters():  # biases start at zero: they would prove nothing
            parameter.add_(0.1 * torch.randn_like(parameter))
    return net


def by_hand(net: Seq2Seq, ids: list[int], keys: Matrix, values: Matrix, kernel: int) -> tuple[Matrix, Matrix]:
    """Logits of all steps (T V) and weights of all looks (L T S)."""
    weights = {name: value.detach().numpy() for name, value in net.decoder.named_parameters()}

    def linear(name: str, x: Matrix) -> Matrix:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    pieces, places = weights["embedding.pieces.table.weight"], weights["embedding.positions.table.weight"]
    g = np.stack([pieces[piece] + places[place] for place, piece in enumerate(ids)])
    x = linear("rise", g)
    looks = []
    for n in range(len(net.decoder.layers)):
        w, b = (weights[f"layers.{n}.convolution.linear.{part}"] for part in ("weight", "bias"))
        width = x.shape[1]
        after, looked = [], []
        for step in range(len(ids)):
            y = b.copy()
            for k in range(kernel):
                past = step + k - (kernel - 1)  # the last of the window is the step itself
                if past >= 0:
                    y = y + w[:, width * k : width * (k + 1)] @ x[past]
            h = y[:width] / (1 + np.exp(-y[width:]))
            d = (linear(f"layers.{n}.query", h) + g[step]) * HALF
            a = np.exp(keys @ d)
            a = a / a.sum()
            c = len(keys) * np.sqrt(1 / len(keys)) * (a @ values)
            h = (h + linear(f"layers.{n}.answer", c)) * HALF
            after.append((x[step] + h) * HALF)
            looked.append(a)
        x = np.stack(after)
        looks.append(np.stack(looked))
    return linear("head", linear("fall", x)), np.stack(looks)


@pytest.mark.parametrize("kernel", [1, 3, 4])
def test_every_layer_looks_as_the_paper_says(kernel: int) -> None:
    net, examples = model(f"decoder.kernel={kernel}"), batch()
    memory = net.encoder.encode(examples.source)
    assert memory.values is not None
    unrolled = net(examples)
    logits = net.decoder.head(unrolled.features)
    for row, length in enumerate(examples.source.lengths.tolist()):
        keys, values = (part[row, :length].detach().numpy() for part in (memory.annotations, memory.values))
        expected, looks = by_hand(net, examples.target.fed[row].tolist(), keys, values, kernel)
        np.testing.assert_allclose(logits[row].detach(), expected, rtol=1e-4, atol=1e-5)
        seen = unrolled.attention["cross"][row, :, 0, :, :length]  # L T S
        np.testing.assert_allclose(seen.detach(), looks, rtol=1e-4, atol=1e-5)


def test_a_target_is_unrolled_without_a_loop_over_its_steps() -> None:
    net, calls = model(), []
    for layer in net.decoder.layers:
        layer.look.register_forward_hook(lambda module, given, result: calls.append(given[0].shape))
    net(batch((9, 3)))
    assert calls == [(2, 10, 8)] * 2  # one look with all ten queries in each layer


def test_all_layers_share_keys_unless_their_score_learns() -> None:
    source = batch().source
    assert len(model().begin(source).keys) == 1
    assert len(model("attention.scope=local_predicted").begin(source).keys) == 1
    assert len(model("attention.score=general").begin(source).keys) == 2


def test_selecting_rows_that_stay_copies_nothing() -> None:
    net, examples = model(), batch()
    state = net.step(examples.target.fed[:, 0], net.begin(examples.source)).state
    same = state.select(torch.arange(4))
    assert same.keys[0] is state.keys[0]
    assert same.inputs[0] is state.inputs[0]
    beams = state.select(torch.tensor([0, 0, 1, 1]))
    turned = beams.select(torch.tensor([1, 0, 2, 3]))
    assert turned.keys[0] is beams.keys[0]
    assert turned.inputs[0] is not beams.inputs[0]


def test_the_state_is_as_long_after_many_steps_as_after_one() -> None:
    net, examples = model("decoder.kernel=4"), batch()
    state = net.begin(examples.source)
    for tokens in examples.target.fed.unbind(1):
        state = net.step(tokens, state).state
        assert [one.shape for one in state.inputs] == [(4, 3, 16)] * 2


def test_looks_that_nobody_wants_are_not_given() -> None:
    net, examples = model(), batch()
    assert net(examples, NOTHING).attention == {}
    assert net.step(examples.target.fed[:, 0], net.begin(examples.source, NOTHING)).attention == {}


def test_the_draws_of_all_layers_and_heads_are_learned_from() -> None:
    net, examples = (
        model("attention.selection=hard", "attention.heads=2", "decoder.layers=3").train(),
        batch(),
    )
    choice = net(examples).choice
    assert choice is not None
    assert choice.log_probability.shape == choice.entropy.shape == (4, 3 * 2, examples.target.ids.shape[1])
    assert model()(examples).choice is None
