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


def test_selected_sources_take_all_that_is_theirs_along() -> None:
    def memory(values: int, context: Memory | None = None) -> Memory:
        annotations = torch.randn(3, 4, 2)
        return Memory(
            annotations,
            torch.rand(3, 4) > 0.5,
            torch.randn(3, 1, 1, 2),
            attention={"encoder": torch.randn(3, 1, 1, 4, 4)},
            layers=(torch.randn(3, 4, 2),),
            values=torch.randn(3, 4, values),
            pieces=torch.randint(9, (3, 4)),
            context=context,
        )

    whole = memory(5, memory(6))
    rows = torch.tensor([2, 0, 2, 1])
    some = whole.select(rows)
    for now, before in ((some, whole), (some.context, whole.context)):
        assert now is not None
        assert before is not None
        for name in ("annotations", "mask", "summary", "values", "pieces"):
            assert getattr(now, name).equal(getattr(before, name)[rows]), name
        assert now.layers[0].equal(before.layers[0][rows])
        assert not now.attention
        assert not now.loads
