import pytest
import torch
from small import STREAM, VOCABULARY, batch

from regard import build
from regard.config import load_config
from regard.core.kinds import CROSS
from regard.training import DoublyStochastic

ALL = torch.ones(1, 3, dtype=torch.bool)  # B T


def test_nothing_is_due_where_every_place_was_looked_at_once() -> None:
    looks = torch.eye(3)[None, None, None]  # B L H T S
    assert DoublyStochastic(weight=2.0)(looks, ALL) == 0


def test_it_is_the_squared_distance_of_what_each_place_got_from_one() -> None:
    looks = torch.zeros(1, 2, 2, 3, 4)
    looks[:, 0] = torch.rand(2, 3, 4)  # of the layers the last alone counts
    looks[:, 1, 0, :, 0] = 1.0  # one head always looks at the first place,
    looks[:, 1, 1, :, 1] = 1.0  # the other at the second: 1.5, 1.5, 0, 0 in the mean
    assert DoublyStochastic(weight=2.0)(looks, ALL) == pytest.approx(2 * (0.25 + 0.25 + 1 + 1))


def test_steps_beyond_the_end_of_a_target_do_not_count() -> None:
    looks = torch.eye(3)[None, None, None].repeat(2, 1, 1, 1, 1)
    looks[1, :, :, 2] = torch.tensor([1.0, 0.0, 0.0])  # padding looks somewhere too
    mask = torch.tensor([[True, True, True], [True, True, False]])
    assert DoublyStochastic()(looks, mask) == 1  # the last place of the second


def test_it_can_be_learned_from() -> None:
    scores = torch.randn(1, 1, 1, 3, 3, requires_grad=True)
    DoublyStochastic()(scores.softmax(-1), ALL).backward()
    assert scores.grad is not None
    assert scores.grad.abs().sum() > 0


def test_another_layer_can_be_the_one_that_counts() -> None:
    looks = torch.zeros(1, 2, 1, 3, 3)
    looks[:, 0, 0] = torch.eye(3)
    assert DoublyStochastic(layer=-2)(looks, ALL) == 0
    assert DoublyStochastic(layer=-1)(looks, ALL) == 3


def test_of_one_stream_it_is_the_last_layer_that_sees_the_source_which_learns() -> None:
    """The layers look locally, at what is compressed and locally again: the last sees nothing of the source."""
    sizes = [f"model.encoder.{one}" for one in (*STREAM, "layers=3")]
    config = load_config("dates", ["model.preset=transformer_dmca", *sizes, "training.doubly_stochastic=1"])
    model, examples = build.model(config, {"source": VOCABULARY, "target": VOCABULARY}), batch()
    (penalty,) = build.objective(config).penalties
    penalty(model(examples, frozenset({CROSS})).attention[CROSS], examples.target.mask).backward()
    learned = [one.look.project.weight.grad for one in model.decoder.blocks]
    assert learned[1] is not None
    assert learned[1].abs().sum() > 0
