"""Attention finds its places."""

import pytest
import torch
from strings import TASKS, Strings, answers, share_right, train

from regard import build
from regard.config import load_config
from regard.core.batch import Batch
from regard.models import Seq2Seq
from regard.search import Hypothesis
from regard.training import CrossEntropy, Reinforce

SMALL = ["embedding=32", "encoder.width=64", "decoder.width=64", "dropout=0"]


def model(strings: Strings, *changes: str) -> Seq2Seq:
    torch.manual_seed(1)
    config = load_config("dates", [f"model.{change}" for change in [*SMALL, *changes]])
    return build.model(config, {"source": strings.vocabulary, "target": strings.vocabulary})


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_additive_model_looks_at_the_letter_that_it_writes(task: str, cell: str) -> None:
    strings = Strings(task, longest=20)
    net = model(strings, f"encoder.cell={cell}", f"decoder.cell={cell}")
    train(net, strings, steps=350, enough=0.99)
    assert share_right(net, strings) >= 0.95
    assert share_near(*answers(net, strings), task) >= 0.9


@pytest.mark.parametrize("task", TASKS)
def test_hard_attention_learns_where_to_look_by_drawing_alone(task: str) -> None:
    """No look stays soft, so no gradient passes through a weight: REINFORCE has to find the places."""
    strings = Strings(task)
    net = model(strings, "attention.score=general", "attention.selection=hard", "attention.half_soft=0")
    train(net, strings, steps=1000, enough=0.97, objective=CrossEntropy(reinforce=Reinforce()))
    assert share_right(net, strings) >= 0.9
    assert share_near(*answers(net, strings), task) >= 0.8


def share_near(unseen: Batch, found: list[Hypothesis], task: str) -> float:
    """The share of steps that looked hardest at the letter they had to write, or right beside it."""
    near = []
    for one, pieces in zip(found, unseen.source.lengths.tolist(), strict=True):
        letters = pieces - 1
        for step, weights in enumerate(one.attention["cross"][0, 0][:letters]):
            place = step if task == "copy" else letters - 1 - step
            near.append(abs(int(weights.argmax()) - place) <= 1)
    return sum(near) / len(near)
