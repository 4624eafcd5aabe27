from collections.abc import Iterator

import pytest
import torch
from small import VOCABULARY, recurrent

from regard.core.batch import Tokens
from regard.core.errors import UserError
from regard.data import Limits
from regard.layers import Dropout
from regard.predictor import Predictor
from regard.search import SearchPlan
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS
from regard.viewing import TextView

TEXTS = ["abc", "", "hgfedcba", "a", "bb", "cdefg"]


@pytest.fixture
def predictor() -> Predictor:
    tokenizer = TOKENIZERS["characters"](["abcdefgh"], vocabulary=VOCABULARY)
    assert len(tokenizer) == VOCABULARY
    codec = TextCodec(tokenizer, tokenizer, Limits(source=50, target=50), TextView())
    search = SearchPlan(max_length=6)
    return Predictor([recurrent()], codec, search=search, batch_tokens=24, device=torch.device("cpu"))


@pytest.fixture
def asked(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Rows and columns of every batch of sources that the model is asked."""
    shapes: list[tuple[int, int]] = []
    collate = TextCodec.collate

    def noting(codec: TextCodec, rows: list[list[int]]) -> Tokens:
        tokens = collate(codec, rows)
        shapes.append((tokens.ids.shape[0], tokens.ids.shape[1]))
        return tokens

    monkeypatch.setattr(TextCodec, "collate", noting)
    return shapes


@pytest.mark.parametrize("beam", [1, 2, 3, 100])
def test_all_hypotheses_of_a_batch_together_stay_within_the_budget(
    predictor: Predictor, asked: list[tuple[int, int]], beam: int
) -> None:
    assert len(predictor.predict(TEXTS, beam=beam)) == len(TEXTS)
    assert sum(rows for rows, _ in asked) == len(TEXTS) - 1
    for rows, columns in asked:
        assert rows * beam * columns <= 24 or rows == 1


@pytest.mark.parametrize("beam", [0, -1])
def test_a_beam_of_nothing_is_refused(predictor: Predictor, beam: int) -> None:
    with pytest.raises(UserError, match=str(beam)):
        predictor.predict("abc", beam=beam)
    with pytest.raises(UserError, match=str(beam)):
        list(predictor.stream(["abc"], beam=beam))


def test_inputs_may_come_from_anything_that_can_be_iterated(predictor: Predictor) -> None:
    def generator() -> Iterator[str]:
        yield from TEXTS

    expected = [answer.score for answer in predictor.predict(TEXTS)]
    assert len(set(expected)) == len(TEXTS)
    assert [answer.score for answer in predictor.predict(generator())] == expected
    assert [answer.score for answer in predictor.predict(tuple(TEXTS))] == expected
    assert predictor.predict(()) == []


def test_dropout_is_off_when_predicting_whatever_mode_the_model_was_left_in(predictor: Predictor) -> None:
    for module in predictor.models[0].modules():
        if isinstance(module, Dropout):
            module.rate = 0.5
    expected = [answer.score for answer in predictor.predict(TEXTS)]
    predictor.models[0].train()
    assert [answer.score for answer in predictor.predict(TEXTS)] == expected
    assert not predictor.models[0].training
