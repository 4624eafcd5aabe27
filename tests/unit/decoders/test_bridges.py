import torch

from regard.core.memory import Memory
from regard.decoders import BRIDGES

MEMORY = Memory(
    annotations=torch.randn(2, 4, 6),
    mask=torch.tensor([[True, True, True, True], [True, True, False, False]]),
    summary=torch.randn(2, 3, 2, 6),  # B L P D
)


def test_last_hands_over_output_and_cell_of_every_layer() -> None:
    first = BRIDGES["last"](6, 12, layers=3)(MEMORY)
    for layer in range(3):
        torch.testing.assert_close(
            first[layer], torch.cat([MEMORY.summary[:, layer, 0], MEMORY.summary[:, layer, 1]], -1)
        )


def test_mean_leaves_padding_out() -> None:
    bridge = BRIDGES["mean"](6, 5, layers=2)
    first = bridge(MEMORY)
    means = torch.stack([MEMORY.annotations[0].mean(0), MEMORY.annotations[1, :2].mean(0)])
    torch.testing.assert_close(torch.cat(first, -1), torch.tanh(bridge.linear(means)))
    assert [layer.shape for layer in first] == [(2, 5), (2, 5)]


def test_zeros_know_nothing() -> None:
    assert all(
        (layer == 0).all() and layer.shape == (2, 5) for layer in BRIDGES["zeros"](6, 5, layers=2)(MEMORY)
    )
