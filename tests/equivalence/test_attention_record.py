"""What you see is what it did: the attention of an answer is that of forcing the same answer."""

import pytest
import torch
from small import MODELS, batch

from regard.core.batch import Batch, Tokens
from regard.search import SearchPlan


@pytest.mark.parametrize("beam", [1, 8])
@pytest.mark.parametrize("name", MODELS)
def test_the_attention_of_an_answer_is_that_of_forcing_it(name: str, beam: int) -> None:
    model, source = MODELS[name](), batch().source
    with torch.inference_mode():
        found = SearchPlan(beam=beam, length_penalty=0.6)(model, source, source.lengths)
        forced = model(Batch(source, Tokens.pad([one.tokens for one in found])))
        log_probabilities = model.decoder.head(forced.features).log_softmax(-1)  # B T V
    for row, one in enumerate(found):
        steps = len(one.tokens)
        for kind, weights in one.attention.items():
            columns = weights.shape[-1]  # of itself, an answer has seen no more than itself
            torch.testing.assert_close(weights, forced.attention[kind][row, :, :, :steps, :columns])
        score = log_probabilities[row, torch.arange(steps), torch.tensor(one.tokens)].sum()
        assert one.score == pytest.approx(float(score), abs=1e-4)
