"""Experts share the work."""

import pytest
import torch
from small import built
from strings import Strings, share_right, train

from regard.core.batch import Batch
from regard.layers import Experts
from regard.models import Seq2Seq

STRINGS = Strings("reverse", longest=8, rows=32)


def model(balance: float) -> Seq2Seq:
    both = ["width=32", "layers=2", "heads=4", "feed_forward=32", "experts=4", f"balance={balance}"]
    sides = [f"{side}.{setting}" for side in ("encoder", "decoder") for setting in both]
    settings = ["dropout=0", "tie=none", "attention.heads=4", *sides]
    return built("model.preset=transformer_tiny", *(f"model.{setting}" for setting in settings))


def loads(net: Seq2Seq, unseen: Batch) -> torch.Tensor:
    """L E: of each layer, the share of the work that each expert is given."""
    found = []

    def count(part: Experts, given: tuple[torch.Tensor, torch.Tensor]) -> None:
        vectors, mask = given
        chosen = part.route(vectors[mask]).chosen.flatten()
        found.append(chosen.bincount(minlength=len(part.experts)) / len(chosen))

    hooks = [part.register_forward_pre_hook(count) for part in net.modules() if isinstance(part, Experts)]
    with torch.inference_mode():
        net.eval()(unseen)
    for hook in hooks:
        hook.remove()
    return torch.stack(found)


@pytest.mark.parametrize("balance", [0.01, 0.0])
def test_experts_learn_to_reverse_and_the_penalty_shares_the_work_among_them(balance: float) -> None:
    net = model(balance)
    train(net, STRINGS, steps=300, rate=0.008)
    assert share_right(net, STRINGS) >= 0.9
    shares = loads(net, STRINGS.batch(1_000_001))
    assert shares.shape == (4, 4)
    fair = bool(((shares > 0.5 / 4) & (shares < 2 / 4)).all())  # between half and twice an equal share
    assert fair == (balance > 0), shares
