from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from regard.layers import Head
from regard.layers.likelihood import ROWS, WORTH
from regard.training.likelihood import Features, Said

PIECES = 2 * ROWS["cpu"] + 3  # more than two chunks
MANY = WORTH * ROWS["cpu"] + 5  # so many that the head is laid out for them


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("pieces", [1, PIECES, MANY])
def test_chunks_equal_the_whole_in_loss_likelihoods_and_gradients(smoothing: float, pieces: int) -> None:
    head, features = Head(8, 30), torch.randn(pieces, 8)
    torch.nn.init.normal_(head.bias)
    wanted = torch.randint(30, (pieces,))
    outcomes = []
    for said in (Features, lambda given, head: Said(head(given), head)):
        head.zero_grad()
        given = features.clone().requires_grad_()
        judged = said(given, head).judge(wanted, smoothing)
        (judged.total / 7).backward()
        outcomes.append([judged.total, judged.likelihoods, given.grad, head.weight.grad, head.bias.grad])
    for one, other in zip(*outcomes, strict=True):
        torch.testing.assert_close(one, other)


def test_the_gradient_of_the_chunks_is_that_of_finite_differences() -> None:
    """In the chunks everything is float32, so the step is wide and the tolerance that of float32."""
    head, features = Head(4, 6), torch.randn(5, 4, requires_grad=True)
    wanted, way = torch.randint(6, (5,)), torch.randn(5, 4)
    Features(features, head).judge(wanted, 0.2).total.backward()
    with torch.no_grad():
        ahead, behind = (
            Features(features + far * way, head).judge(wanted, 0.2).total for far in (0.01, -0.01)
        )
    torch.testing.assert_close((features.grad * way).sum(), (ahead - behind) / 0.02, rtol=1e-3, atol=1e-3)


def test_a_piece_that_is_almost_impossible_has_a_finite_likelihood() -> None:
    head = Head(1, 2)
    torch.nn.init.constant_(head.weight, 0.0)
    head.bias.data = torch.tensor([0.0, 300.0])
    judged = Features(torch.ones(1, 1), head).judge(torch.tensor([0]))
    assert judged.likelihoods.tolist() == [-300.0]


def test_one_almost_impossible_piece_among_others_changes_none_of_them() -> None:
    head, features = Head(8, 30), torch.randn(9, 8)
    wanted = torch.randint(29, (9,))
    likely = Features(features, head).judge(wanted).likelihoods
    head.bias.data[29] = -300.0
    wanted[4] = 29
    found = Features(features, head).judge(wanted).likelihoods
    others = torch.arange(9) != 4
    whole = head(features).double().log_softmax(-1).gather(-1, wanted[:, None])[:, 0].float()
    torch.testing.assert_close(found, whole)
    assert found[4] < -290
    assert (found[others] >= likely[others]).all()  # what one piece lost, the others share


def test_without_gradient_only_the_loss_is_made() -> None:
    head = Head(4, 6)
    with torch.inference_mode():
        judged = Features(torch.randn(5, 4), head).judge(torch.randint(6, (5,)), 0.1)
    assert judged.total.isfinite()


class _Shapes(TorchDispatchMode):
    """Of all that is made."""

    def __init__(self) -> None:
        super().__init__()
        self.made: set[tuple[int, ...]] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor):
            self.made.add(tuple(made.shape))
        return made


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(("mode", "expected"), [(torch.no_grad, False), (torch.enable_grad, True)])
def test_gradients_are_made_only_where_somebody_goes_backward(
    mode: Callable[[], AbstractContextManager[None]], expected: bool, smoothing: float
) -> None:
    head, features, wanted = Head(8, 30), torch.randn(5, 8), torch.randint(30, (5,))
    with mode(), _Shapes() as shapes:
        Features(features, head).judge(wanted, smoothing)
    assert ((30, 8) in shapes.made) == expected
