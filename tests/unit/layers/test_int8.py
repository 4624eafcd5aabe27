import torch

from regard.layers import Linear, round_to_int8
from regard.layers.int8 import Int8


def test_whole_numbers_come_out_exactly() -> None:
    """Each row of W and of x has a largest number of 127, so that every scale is one."""
    weight = torch.tensor([[127.0, 3, -5, 0], [1, -127, 2, 9]])
    product = Int8(weight, torch.tensor([0.5, -1.0]))
    vectors = torch.tensor([[127.0, -1, 0, 2], [0, 127, 4, -3]])
    assert torch.equal(product(vectors), vectors @ weight.T + torch.tensor([0.5, -1.0]))


def test_rounding_is_off_by_half_a_step_of_each_number_at_the_most() -> None:
    generator = torch.Generator().manual_seed(1)
    weight, vectors = torch.randn(40, 64, generator=generator), torch.randn(9, 64, generator=generator)
    off = (Int8(weight, None)(vectors) - vectors @ weight.T).abs()
    of_weight = weight.abs().amax(1) / 127 / 2  # O
    of_vectors = vectors.abs().amax(1, keepdim=True) / 127 / 2  # N 1
    most = of_weight * vectors.abs().sum(1, keepdim=True) + of_vectors * weight.abs().sum(1)
    assert (off <= most + 64 * of_weight * of_vectors + 1e-4).all()


def test_a_row_is_what_it_is_by_itself() -> None:
    generator = torch.Generator().manual_seed(2)
    weight, vectors = torch.randn(33, 48, generator=generator), torch.randn(7, 5, 48, generator=generator)
    vectors[3] *= 1000
    product = Int8(weight, torch.randn(33, generator=generator))
    together = product(vectors)
    assert together.shape == (7, 5, 33)
    for row in range(7):
        assert torch.equal(product(vectors[row : row + 1])[0], together[row])


def test_zeros_stay_zeros() -> None:
    assert torch.equal(Int8(torch.zeros(32, 32), None)(torch.zeros(2, 32)), torch.zeros(2, 32))


def test_large_matrices_of_a_module_are_rounded_and_small_ones_are_not() -> None:
    module = torch.nn.Sequential(Linear(64, 64), Linear(64, 1))
    round_to_int8(module)
    assert isinstance(module[0].product, Int8)
    assert module[1].product is None


def test_no_rows_give_no_rows() -> None:
    assert Int8(torch.randn(7, 5), None)(torch.zeros(0, 5)).shape == (0, 7)
