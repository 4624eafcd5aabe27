"""A memory may hold values of its own: a look compares itself with the annotations and brings home the values."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from small import WIDTH, attention

from regard.attention import Attention, CrossAttention
from regard.core.memory import Memory

LOOKS = {
    "as it is": lambda: attention("dot", heads=2),
    "projected": lambda: CrossAttention(attention("dot", heads=2), WIDTH, WIDTH),
}


@pytest.mark.parametrize("make", LOOKS.values(), ids=LOOKS)
def test_values_change_what_is_brought_home_and_not_where_it_looks(
    make: Callable[[], Attention | CrossAttention],
) -> None:
    torch.manual_seed(0)
    look, annotations = make(), torch.randn(2, 5, WIDTH)
    memory = Memory(annotations, torch.ones(2, 5, dtype=torch.bool), annotations[:, None, :1])
    query, steps = torch.randn(2, 3, WIDTH), torch.arange(3)[None]

    def seen(memory: Memory) -> tuple[torch.Tensor, torch.Tensor]:
        attended = look(query, look.begin(memory), steps)
        return attended.weights, attended.context

    weights, context = seen(memory)
    for same, as_before in zip(seen(replace(memory, values=annotations)), (weights, context), strict=True):
        torch.testing.assert_close(same, as_before)
    one = torch.ones_like(annotations)
    other_weights, other_context = seen(replace(memory, values=one))
    torch.testing.assert_close(other_weights, weights)
    for row in range(2):  # weights sum to one: of equal values, every look brings home the same
        torch.testing.assert_close(other_context[row], other_context[0, :1].expand(3, -1))
    assert not torch.allclose(other_context, context)
