"""The convolutional encoder against its paper's formulas, written out in NumPy."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from small import MODELS, VOCABULARY, batch, convolutional

from regard.encoders import ConvolutionalEncoder
from regard.layers import POSITIONS, Embedding, PlacedEmbedding

Matrix = NDArray[np.float32]


def encoder(**options: object) -> ConvolutionalEncoder:
    torch.manual_seed(0)
    positions = POSITIONS["learned"](6, heads=1, longest=20, causal=False)
    embedding = PlacedEmbedding(Embedding(VOCABULARY, 6), positions)
    made = ConvolutionalEncoder(embedding, **{"width": 8, "layers": 2, **options})  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in made.parameters():  # biases start at zero: they would prove nothing
            parameter.add_(0.1 * torch.randn_like(parameter))
    return made.eval()


def by_hand(net: ConvolutionalEncoder, ids: list[int], kernel: int) -> tuple[Matrix, Matrix]:
    """Keys z and values √½·(z + e) of one source, position by position (equations 1 and 2)."""
    weights = {name: value.detach().numpy() for name, value in net.named_parameters()}
    pieces, places = weights["embedding.pieces.table.weight"], weights["embedding.positions.table.weight"]
    e = np.stack([pieces[piece] + places[place] for place, piece in enumerate(ids)])
    x = e @ weights["rise.weight"].T + weights["rise.bias"]
    for n in range(len(net.layers)):
        w, b = weights[f"layers.{n}.linear.weight"], weights[f"layers.{n}.linear.bias"]
        after = []
        for place in range(len(ids)):
            y = b.copy()
            for k in range(kernel):
                neighbour = place + k - kernel // 2
                if 0 <= neighbour < len(ids):
                    y = y + w[:, 8 * k : 8 * (k + 1)] @ x[neighbour]
            gated = y[:8] / (1 + np.exp(-y[8:]))
            after.append((x[place] + gated) * np.sqrt(0.5))
        x = np.stack(after)
    z = x @ weights["fall.weight"].T + weights["fall.bias"]
    return z, (z + e) * np.sqrt(0.5)


@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_keys_and_values_are_those_of_the_paper(kernel: int) -> None:
    net, source = encoder(kernel=kernel), batch().source
    memory = net.encode(source)
    assert memory.values is not None
    for row, length in enumerate(source.lengths.tolist()):
        z, sums = by_hand(net, source.ids[row, :length].tolist(), kernel)
        np.testing.assert_allclose(memory.annotations[row, :length].detach(), z, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(memory.values[row, :length].detach(), sums, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(memory.summary[row, 0, 0].detach(), z.mean(0), rtol=1e-4, atol=1e-5)


def test_a_position_sees_its_neighbours_and_nothing_farther() -> None:
    net, source = encoder(layers=2, kernel=3), batch((9,)).source
    net.encode(source).annotations[0, 4].sum().backward()
    places = net.embedding.positions.table.weight.grad
    assert (places[2:7].abs().sum(1) > 0).all()
    assert (places[:2] == 0).all()
    assert (places[7:] == 0).all()


def test_the_gradients_of_many_looks_are_divided_by_their_number() -> None:
    one, four = encoder(looks=1), encoder(looks=4)
    source = batch().source
    for net in (one, four):
        net.encode(source).annotations.square().sum().backward()
    torch.testing.assert_close(one.encode(source).annotations, four.encode(source).annotations)
    torch.testing.assert_close(one.fall.weight.grad / 4, four.fall.weight.grad)


def test_the_piece_itself_comes_home_with_its_whole_gradient() -> None:
    net = encoder(looks=1000)
    values = net.encode(batch().source).values
    assert values is not None
    values[:, 0].sum().backward()
    assert float(net.embedding.positions.table.weight.grad[0].abs().max()) == pytest.approx(
        4 * 0.5**0.5, rel=0.02
    )


def test_as_many_gradients_are_expected_as_the_decoder_has_layers() -> None:
    assert convolutional("decoder.layers=3").encoder.looks == 3
    assert MODELS["convolutional encoder, recurrent decoder"]().encoder.looks == 1
