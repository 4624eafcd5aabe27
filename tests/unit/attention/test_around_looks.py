"""What stands around a look: a gate on what it brings home, and a second look beside it."""

from dataclasses import replace

import torch
from small import attention

from regard.attention import Gated, TwoLooks
from regard.core.memory import Memory

WIDTH = 16
STEPS = torch.zeros(2, 1, dtype=torch.long)


def memory(length: int, seed: int) -> Memory:
    annotations = torch.randn(2, length, WIDTH, generator=torch.Generator().manual_seed(seed))
    return Memory(annotations, torch.ones(2, length, dtype=torch.bool), annotations[:, None, :1])


def test_a_gate_scales_what_was_seen_and_leaves_where() -> None:
    torch.manual_seed(0)
    look = attention()
    gated, query, source = Gated(look, WIDTH), torch.randn(2, 1, WIDTH), memory(5, 1)
    plain = look(query, look.begin(source), STEPS)
    found = gated(query, gated.begin(source), STEPS)
    share = torch.sigmoid(gated.gate(query))
    assert share.shape == (2, 1, 1)
    torch.testing.assert_close(found.context, share * plain.context)
    torch.testing.assert_close(found.weights, plain.weights)


def test_two_looks_bring_home_both_and_tell_where_each_looked() -> None:
    torch.manual_seed(0)
    own, beside = attention(), attention("general")
    both, query = TwoLooks(own, beside), torch.randn(2, 1, WIDTH)
    source, context = memory(5, 1), memory(3, 2)
    together = both.begin(replace(source, context=context))
    found = both(query, together, STEPS)
    first, second = (look(query, look.begin(one), STEPS) for look, one in ((own, source), (beside, context)))
    assert both.width == 2 * WIDTH
    torch.testing.assert_close(found.context, torch.cat([first.context, second.context], dim=-1))
    torch.testing.assert_close(found.weights, first.weights)
    torch.testing.assert_close(found.beside, second.weights)


def test_rows_of_both_are_selected_together() -> None:
    torch.manual_seed(0)
    both, query = TwoLooks(attention(), attention()), torch.randn(2, 1, WIDTH)
    keys = both.begin(replace(memory(5, 1), context=memory(3, 2)))
    turned = torch.tensor([1, 0])
    found = both(query[turned], keys.select(turned), STEPS)
    torch.testing.assert_close(found.beside, both(query, keys, STEPS).beside[turned])
