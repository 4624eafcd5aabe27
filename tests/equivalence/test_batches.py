"""The answer for a source does not depend on its neighbours, padding, order or batch size."""

import pytest
import torch
from small import MODELS, batch

from regard.core.batch import Tokens
from regard.core.memory import CROSS
from regard.core.pieces import PAD
from regard.models import Seq2Seq
from regard.search import Hypothesis, SearchPlan

LENGTHS = (5, 2, 7, 1, 12, 3, 3, 9)


def answers(model: Seq2Seq, source: Tokens, beam: int) -> list[Hypothesis]:
    with torch.inference_mode():
        return SearchPlan(beam=beam, length_penalty=0.6)(model, source, source.lengths)


def assert_same(one: Hypothesis, other: Hypothesis, length: int) -> None:
    assert one.tokens == other.tokens
    assert one.score == pytest.approx(other.score, abs=1e-5)
    for kind, weights in one.attention.items():
        columns = length if kind == CROSS else len(one.tokens)
        torch.testing.assert_close(weights[..., :columns], other.attention[kind][..., :columns])
        assert (other.attention[kind][..., columns:] == 0).all()


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("name", MODELS)
def test_batch_size_order_and_padding_change_no_answer(name: str, beam: int) -> None:
    model, source = MODELS[name](), batch(LENGTHS).source
    together = answers(model, source, beam)

    padded = Tokens(torch.nn.functional.pad(source.ids, (0, 6), value=PAD), source.lengths)
    order = torch.tensor([3, 7, 0, 5, 1, 6, 2, 4])
    shuffled = Tokens(source.ids[order], source.lengths[order])
    for row, (length, found) in enumerate(zip(source.lengths.tolist(), together, strict=True)):
        alone = Tokens(source.ids[row : row + 1, :length], source.lengths[row : row + 1])
        assert_same(answers(model, alone, beam)[0], found, length)
    for found, other, length in zip(
        together, answers(model, padded, beam), source.lengths.tolist(), strict=True
    ):
        assert_same(found, other, length)
    for place, other in zip(order.tolist(), answers(model, shuffled, beam), strict=True):
        assert_same(together[place], other, int(source.lengths[place]))
