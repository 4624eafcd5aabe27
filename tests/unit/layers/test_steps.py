import gc
import weakref

import pytest
import torch
from torch import Tensor, nn

from regard.layers import Linear, many_steps
from regard.layers.steps import Steps


class Chain(nn.Module):
    """s' = tanh(As + x), y = Bs."""

    def __init__(self) -> None:
        super().__init__()
        self.own = Linear(5, 5)
        self.out = Linear(5, 3, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        state, outputs = inputs[:, 0], []
        for given in inputs.unbind(1):
            state = torch.tanh(self.own(state) + given)
            outputs.append(self.out(state))
        return torch.stack(outputs, dim=1)


def gradients(chain: Chain, inputs: Tensor, *, at_once: bool) -> dict[str, Tensor]:
    chain.zero_grad()
    leaf = inputs.clone().requires_grad_()
    if at_once:
        with many_steps(chain):
            said = chain(leaf)
    else:
        said = chain(leaf)
    said[:, :-1].float().square().sum().backward()  # the last is not learned from
    assert leaf.grad is not None
    found = {name: parameter.grad for name, parameter in chain.named_parameters()}
    return {"inputs": leaf.grad, **{name: grad for name, grad in found.items() if grad is not None}}


@pytest.fixture
def chain() -> Chain:
    torch.manual_seed(1)
    return Chain()


def test_gradients_are_those_of_steps_one_by_one(chain: Chain) -> None:
    chain, inputs = chain.double(), torch.randn(4, 6, 5, dtype=torch.float64)
    plain, together = (gradients(chain, inputs, at_once=at_once) for at_once in (False, True))
    assert together.keys() == plain.keys() == {"inputs", "own.weight", "own.bias", "out.weight"}
    for name, gradient in plain.items():
        torch.testing.assert_close(together[name], gradient)


def test_under_autocast_they_have_the_precision_of_the_weights(chain: Chain) -> None:
    inputs = torch.randn(4, 6, 5)
    with torch.autocast("cpu", torch.bfloat16):
        plain, together = (gradients(chain, inputs, at_once=at_once) for at_once in (False, True))
    for name, gradient in plain.items():
        assert together[name].dtype == torch.float32
        torch.testing.assert_close(together[name], gradient, rtol=0.05, atol=0.05)


def test_what_is_never_multiplied_has_no_gradient() -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    with torch.enable_grad():
        steps = Steps(weight, None)
        (steps(torch.ones(1, 2)) * 0 + weight.sum()).sum().backward()
    torch.testing.assert_close(weight.grad, torch.full((2, 2), 2.0))


def test_afterwards_everything_is_as_before_and_nothing_is_kept(chain: Chain) -> None:
    with many_steps(chain):
        assert chain.own.steps is not None
        noted = weakref.ref(chain.own.steps._noted)
        chain(torch.randn(2, 3, 5)).sum().backward()
    assert chain.own.steps is None
    gc.disable()
    try:
        assert noted() is None  # also without the collector of cycles
    finally:
        gc.enable()
    with torch.no_grad(), many_steps(chain):
        assert chain.own.steps is None
