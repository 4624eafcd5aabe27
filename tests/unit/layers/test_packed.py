import pytest
import torch

from regard.layers import Linear, pack
from regard.layers.packed import Packed, can_pack

pytestmark = pytest.mark.skipif(not can_pack(), reason="this torch was built without oneDNN")


@torch.inference_mode()
def test_it_is_the_product_that_torch_gives() -> None:
    generator = torch.Generator().manual_seed(1)
    weight, bias = torch.randn(40, 64, generator=generator), torch.randn(40, generator=generator)
    for rows in (1, 2, 5, 13, 64, 200):
        vectors = torch.randn(rows, 3, 64, generator=generator).transpose(0, 1)
        torch.testing.assert_close(Packed(weight, bias)(vectors), vectors @ weight.T + bias)
        torch.testing.assert_close(Packed(weight, None)(vectors), vectors @ weight.T)
    assert Packed(weight, bias)(torch.zeros(0, 7, 64)).shape == (0, 7, 40)


@torch.inference_mode()
def test_a_row_is_what_it_is_by_itself() -> None:
    generator = torch.Generator().manual_seed(2)
    product = Packed(torch.randn(96, 128, generator=generator), torch.randn(96, generator=generator))
    vectors = torch.randn(70, 128, generator=generator)
    together = product(vectors)
    for count in (1, 2, 5, 16):
        assert torch.equal(product(vectors[:count]), together[:count])


def test_gradients_go_through_it() -> None:
    product = Packed(torch.randn(32, 48), None)
    vectors = torch.randn(2, 48, requires_grad=True)
    product(vectors).sum().backward()
    assert vectors.grad is not None
    torch.testing.assert_close(vectors.grad[0], product.plain.sum(0))


def test_large_matrices_of_a_module_are_packed_and_small_ones_are_not() -> None:
    module = torch.nn.Sequential(Linear(64, 64), Linear(64, 1))
    pack(module)
    assert isinstance(module[0].product, Packed)
    assert module[1].product is None
