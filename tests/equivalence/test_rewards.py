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
    """In the place of chance. The end mark is likely enough that some answers are short."""
    said = said.index_fill(-1, torch.tensor([PAD, BEGIN]), -torch.inf)
    said[:, END] += 0.5
    return said.argmax(-1)


@pytest.mark.parametrize("name", MODELS)
def test_rows_go_on_as_if_none_had_ended(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, examples = MODELS[name]().eval(), batch()
    monkeypatch.setattr(model.decoder.head, "draw", likeliest)
    with torch.inference_mode():
        memory = model.encoder.encode(examples.source, NOTHING)
        answers = draw(model, memory, DRAWS, LONGEST)
        state, fed, steps = model.decoder.begin(memory), torch.full((len(memory.mask),), BEGIN), []
        for _ in range(LONGEST):
            output = model.step(fed, state)
            fed, state = likeliest(output.logits), output.state
            steps.append(fed)
    said = torch.stack(steps, dim=1).repeat(DRAWS, 1)  # K·B T
    mask = answers.mask
    assert answers.ids[mask].equal(said[:, : answers.ids.shape[1]][mask])
    ended = (said == END).any(1)
    lengths = torch.where(ended, (said == END).float().argmax(1) + 1, LONGEST)
    assert answers.lengths.equal(lengths)


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
