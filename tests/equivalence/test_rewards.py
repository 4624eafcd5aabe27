"""Answers that are drawn together, some of which end early, are those of sources that were asked one by one."""

import pytest
import torch
from small import MODELS, batch
from torch import Tensor

from regard.core.batch import Tokens
from regard.core.kinds import NOTHING
from regard.core.pieces import BEGIN, END, PAD
from regard.training import ExpectedReward
from regard.training.rewards import draw

DRAWS, LONGEST = 3, 6


def likeliest(said: Tensor) -> Tensor:
    """Of the pieces that end nothing."""
    return said.index_fill(-1, torch.tensor([PAD, BEGIN, END]), -torch.inf).argmax(-1)


class Ending:
    """In the place of chance: the likeliest piece, until a row's step to end has come."""

    def __init__(self, ends: Tensor):
        self.ends = ends
        self.step = 0

    def __call__(self, said: Tensor) -> Tensor:
        self.step += 1
        over = self.ends == self.step
        self.ends = self.ends[~over]
        return torch.where(over, END, likeliest(said))


@pytest.mark.parametrize("name", MODELS)
def test_rows_go_on_as_if_none_had_ended(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, examples = MODELS[name]().eval(), batch()
    count = len(examples.source.ids)
    ends = torch.tensor([3, 7, 1, 4, 6, 2, 7, 5, 4, 1, 2, 7])  # at step 7 is never: there are six
    monkeypatch.setattr(model.decoder.head, "draw", Ending(ends))
    with torch.inference_mode():
        memory = model.encoder.encode(examples.source, NOTHING)
        answers = draw(model, memory, DRAWS, LONGEST)
        state, fed, steps = model.decoder.begin(memory), torch.full((count,), BEGIN), []
        for _ in range(LONGEST):
            output = model.step(fed, state)
            fed, state = likeliest(output.logits), output.state
            steps.append(fed.tolist())
    for row, end in enumerate(ends.tolist()):
        whole = [step[row % count] for step in steps]
        said = [*whole[: end - 1], END] if end <= LONGEST else whole
        assert answers.lengths[row] == len(said)
        assert answers.ids[row].tolist() == said + [PAD] * (LONGEST - len(said))


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_as_likely_as_when_each_is_asked_with_all_sources(name: str) -> None:
    torch.manual_seed(1)
    model, examples = MODELS[name]().eval(), batch()
    count = len(examples.source.ids)
    with torch.no_grad():
        memory = model.encoder.encode(examples.source, NOTHING)
        answers = draw(model, memory, DRAWS, LONGEST)
        found = ExpectedReward()._likely(model, memory, answers).view(DRAWS, count)
        for number in range(DRAWS):
            rows = slice(number * count, (number + 1) * count)
            one = Tokens(answers.ids[rows], answers.lengths[rows])
            logs = model.decoder.head(model.decoder.unroll(memory, one.fed).features).log_softmax(-1)  # B T V
            each = logs.gather(-1, one.ids[..., None])[..., 0] * one.mask  # B T
            torch.testing.assert_close(found[number], each.sum(1), atol=1e-5, rtol=1e-5)
