"""Two roads, one result: unrolling a target at once, and stepping through it."""

import pytest
import torch
from small import MODELS, batch


@pytest.mark.parametrize("name", MODELS)
def test_unroll_equals_repeated_steps(name: str) -> None:
    model, examples = MODELS[name](), batch()
    with torch.inference_mode():
        unrolled = model(examples)
        logits = model.decoder.head(unrolled.features)  # B T V
        state = model.begin(examples.source)
        for t, tokens in enumerate(examples.target.fed.unbind(1)):
            output = model.step(tokens, state)
            state = output.state
            torch.testing.assert_close(output.logits, logits[:, t])
            assert output.attention.keys() == unrolled.attention.keys()
            for kind, looked in output.attention.items():
                at_once = unrolled.attention[kind][:, :, :, t]
                seen = looked.shape[-1]  # of itself, a step has seen only what was there
                torch.testing.assert_close(looked, at_once[..., :seen])
                assert (at_once[..., seen:] == 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_selected_rows_step_as_if_they_had_been_alone(name: str) -> None:
    model, examples = MODELS[name](), batch()
    rows = torch.tensor([2, 0, 2])
    with torch.inference_mode():
        first = model.step(examples.target.fed[:, 0], model.begin(examples.source))
        all_rows = model.step(examples.target.ids[:, 0], first.state)
        selected = model.step(examples.target.ids[rows, 0], first.state.select(rows))
    torch.testing.assert_close(selected.logits, all_rows.logits[rows])
