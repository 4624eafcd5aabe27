import torch

from regard.core.memory import Memory

MASK = torch.tensor([[True, True, True, True], [True, False, False, False]])


def test_a_pass_without_gradient_leaves_nothing_behind_for_one_with_it() -> None:
    annotations = torch.randn(2, 4, 3, requires_grad=True)
    memory = Memory(annotations, MASK, torch.zeros(2, 1, 1, 3))
    with torch.no_grad():
        assert memory.rows is None
        assert memory.closed is annotations
    assert memory.rows is not None
    assert memory.closed.shape == (5, 3)
    memory.closed.sum().backward()
    assert annotations.grad is not None
    assert torch.equal(annotations.grad, MASK[..., None].expand(2, 4, 3).float())
    with torch.no_grad():
        assert memory.rows is None


def test_what_every_layer_needs_is_made_once() -> None:
    memory = Memory(torch.randn(2, 4, 3), MASK, torch.zeros(2, 1, 1, 3))
    assert memory.rows is memory.rows
    assert memory.closed is memory.closed
