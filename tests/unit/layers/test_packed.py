import pytest
import torch

from regard.layers import Linear, pack
from regard.layers.packed import WIDE, Packed, can_pack, wide_product

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


@pytest.mark.parametrize("has_bias", [True, False])
def test_a_wide_product_and_its_gradients_are_those_that_torch_gives(has_bias: bool) -> None:
    torch.manual_seed(3)
    layer, vectors = Linear(WIDE, WIDE + 8, bias=has_bias), torch.randn(2, WIDE, WIDE, requires_grad=True)
    back = torch.randn(2, WIDE, WIDE + 8)
    inputs = (vectors, *layer.parameters())
    wide = wide_product(vectors, layer.weight, layer.bias)
    assert wide is not None
    torch.testing.assert_close(layer(vectors), wide, rtol=0, atol=0)
    plain = torch.nn.functional.linear(vectors, layer.weight, layer.bias)
    torch.testing.assert_close(wide, plain, rtol=1e-5, atol=1e-5)
    for one, other in zip(
        torch.autograd.grad(wide, inputs, back), torch.autograd.grad(plain, inputs, back), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_narrow_products_few_rows_and_other_precisions_stay_with_torch() -> None:
    wide, narrow = Linear(WIDE, WIDE), Linear(WIDE, WIDE - 1)
    many, few = torch.randn(WIDE, WIDE), torch.randn(WIDE - 1, WIDE)
    assert wide_product(many, wide.weight, wide.bias) is not None
    assert wide_product(few, wide.weight, wide.bias) is None
    assert wide_product(many, narrow.weight, narrow.bias) is None
    assert wide_product(many.double(), wide.weight.double(), None) is None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert wide_product(many, wide.weight, wide.bias) is None
    with torch.no_grad():
        assert wide_product(many, wide.weight, wide.bias) is None
