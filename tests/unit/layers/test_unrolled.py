"""Our way through recurrent cells and back, against torch's."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.layers import unrolled
from regard.layers.packed import can_pack
from regard.layers.unrolled import can_read, read

pytestmark = pytest.mark.skipif(not can_pack(), reason="this torch was built without oneDNN")

NETWORKS: dict[str, Callable[..., nn.RNNBase]] = {"gru": nn.GRU, "lstm": nn.LSTM}


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_rows_of_different_lengths_are_read_as_torch_reads_them(name: str, both: bool) -> None:
    torch.manual_seed(1)
    network = NETWORKS[name](6, 5, bidirectional=both, batch_first=True)
    ways = 2 if both else 1
    vectors, lengths = torch.randn(4, 7, 6, requires_grad=True), torch.tensor([3, 7, 1, 5])
    packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
    back = torch.randn(4, 7, 5 * ways), torch.randn(ways, 4, 5), torch.randn(ways, 4, 5)

    def found(way: str) -> list[Tensor]:
        rows, ends = network(packed) if way == "torch" else read(network, packed)
        ends = ends if isinstance(ends, tuple) else (ends,)
        given = (pad_packed_sequence(rows, batch_first=True)[0], *ends)
        inputs = (vectors, *network.parameters())
        return [*given, *torch.autograd.grad(given, inputs, back[: len(given)], retain_graph=True)]

    for one, other in zip(found("ours"), found("torch"), strict=True):
        torch.testing.assert_close(one, other)


def test_it_is_for_wide_networks_that_learn_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    network, vectors = nn.GRU(6, 5), torch.randn(2, 3, 6)
    assert not can_read(network, vectors)
    monkeypatch.setattr(unrolled, "WORTH", 5)
    assert can_read(network, vectors)
    assert not can_read(nn.RNN(6, 5), vectors)
    assert not can_read(nn.GRU(6, 5).requires_grad_(False), vectors)
    assert not can_read(nn.GRU(6, 5).double(), vectors.double())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert not can_read(network, vectors)
    with torch.no_grad():
        assert not can_read(network, vectors)
