"""A target that is forced: the same alone and in a batch, and what a search says that finds it."""

import numpy as np
import pytest
import torch
from small import MODELS, VOCABULARY, recurrent, transformer

from regard.core.kinds import KINDS
from regard.core.pieces import BEGIN, END, UNKNOWN
from regard.core.prediction import Prediction, Request
from regard.data import Limits
from regard.forcing import force
from regard.models import Seq2Seq
from regard.predictor import Predictor
from regard.search import SPACES, SearchPlan
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS
from regard.viewing import TextView

SOURCES = ["abc", "", "hgfedcba", "a", "bb", "cdefg", "abc"]
TARGETS = ["cba", "", "abcdefgh", "", "bbbbbbbbb", "g", "hh"]


def predictor(*models: Seq2Seq, space: str = "probability") -> Predictor:
    tokenizer = TOKENIZERS["characters"](["abcdefgh"], vocabulary=VOCABULARY)
    codec = TextCodec(tokenizer, tokenizer, Limits(source=12, target=12), TextView())
    search = SearchPlan(max_length=8)
    return Predictor(models, codec, search=search, batch_tokens=60, device=torch.device("cpu"), space=space)


def assert_same(one: Prediction, other: Prediction) -> None:
    assert (one.source, one.text, one.pieces, one.finished) == (
        other.source,
        other.text,
        other.pieces,
        other.finished,
    )
    assert one.score == pytest.approx(other.score, abs=1e-5)
    assert set(one.attention.kinds) == set(other.attention.kinds)
    assert one.attention.target_pieces == other.attention.target_pieces
    for kind in one.attention.kinds:
        np.testing.assert_allclose(
            one.attention.weights[kind], other.attention.weights[kind], rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("name", MODELS)
def test_what_else_is_forced_changes_nothing(name: str) -> None:
    asked = predictor(MODELS[name]())
    together = force(asked, SOURCES, TARGETS, wanted=KINDS)
    for found, source, target in zip(together, SOURCES, TARGETS, strict=True):
        assert_same(force(asked, [source], [target], wanted=KINDS)[0], found)
    order = [3, 6, 0, 5, 1, 4, 2]
    shuffled = force(
        asked, [SOURCES[number] for number in order], [TARGETS[number] for number in order], wanted=KINDS
    )
    for number, found in zip(order, shuffled, strict=True):
        assert_same(found, together[number])


@pytest.mark.parametrize("name", MODELS)
def test_forcing_an_answer_says_what_the_search_said(name: str) -> None:
    asked = predictor(MODELS[name]())
    answers = [answer for answer in asked.predict(SOURCES, beam=3, attention="all") if answer.finished]
    forced = force(asked, [one.source for one in answers], [one.text for one in answers], wanted=KINDS)
    compared = 0
    for answer, found in zip(answers, forced, strict=True):
        if found.attention.target_pieces == answer.attention.target_pieces:  # no special piece was said
            assert_same(found, answer)
            compared += 1
    assert compared > 0


@pytest.mark.parametrize("make", [recurrent, transformer])
def test_the_score_is_the_sum_over_the_steps_with_the_end_mark(make: object) -> None:
    asked = predictor(make())  # type: ignore[operator]
    (found,) = force(asked, ["abc"], ["fed"])
    ids = [*asked.codec.target.encode("fed"), END]
    with torch.inference_mode():
        state = asked.models[0].begin(asked.codec.collate(asked.codec.read([Request("abc")])))
        score, fed = 0.0, BEGIN
        for wanted in ids:
            output = asked.models[0].step(torch.tensor([fed]), state)
            score += float(output.logits.log_softmax(-1)[0, wanted])
            state, fed = output.state, wanted
    assert found.score == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("space", SPACES)
def test_an_ensemble_is_forced_as_it_searches(space: str) -> None:
    asked = predictor(recurrent(), transformer(), recurrent(decoder="step_then_look"), space=space)
    for model in asked.models:  # untrained ones like unknown pieces, which no target has
        model.decoder.head.bias.data[UNKNOWN] -= 20
    answers = [one for one in asked.predict(SOURCES, beam=3, attention="all") if one.finished and one.source]
    forced = force(asked, [one.source for one in answers], [one.text for one in answers], wanted=KINDS)
    compared = [
        (found, answer)
        for found, answer in zip(forced, answers, strict=True)
        if found.attention.target_pieces == answer.attention.target_pieces
    ]
    assert compared
    for found, answer in compared:
        assert {"cross.1", "cross.2", "decoder.2", "encoder.2", "cross.3"} == set(found.attention.kinds)
        assert_same(found, answer)
        assert found.attention.in_words().weights["cross.3"].shape[-1] == 2
