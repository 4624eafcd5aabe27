import pytest
import torch
from torch import Tensor

from regard.attention import short
from regard.attention.slots import Allowed


@pytest.fixture
def heads() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    return tuple(  # type: ignore[return-value]
        torch.randn(3, 2, length, width, dtype=torch.float64, requires_grad=True)
        for length, width in ((4, 5), (6, 5), (6, 7))
    )


MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0]], dtype=torch.bool)[
    :, None, None
]


@pytest.mark.parametrize(
    "prior", [None, torch.linspace(-1, 1, 6, dtype=torch.float64)], ids=["none", "prior"]
)
def test_a_short_look_is_the_formula_and_has_its_gradients(
    heads: tuple[Tensor, Tensor, Tensor], prior: Tensor | None
) -> None:
    allowed = Allowed(MASK, prior)
    queries, keys, values = heads
    scores = queries @ keys.mT + (0 if prior is None else prior)
    context = scores.masked_fill(~MASK, -torch.inf).softmax(-1) @ values
    torch.testing.assert_close(short.look(*heads, allowed), context)
    assert torch.autograd.gradcheck(lambda *given: short.look(*given, allowed), heads)


def test_looks_are_short_where_a_cpu_learns_from_few_keys(heads: tuple[Tensor, Tensor, Tensor]) -> None:
    queries, keys, _ = heads
    assert short.is_short(queries, keys, Allowed(MASK))
    assert not short.is_short(queries, torch.zeros(3, 2, short.MOST, 5), Allowed(MASK))
    assert not short.is_short(queries, keys, Allowed(MASK, torch.zeros(6, requires_grad=True)))
    assert not short.is_short(queries.detach(), keys, Allowed(MASK))
    with torch.no_grad():
        assert not short.is_short(queries, keys, Allowed(MASK))
