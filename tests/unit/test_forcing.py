import logging
import math

import numpy as np
import pytest
import torch
from small import VOCABULARY, attention, recurrent, transformer

from regard.attention import FixedVector
from regard.core.errors import UserError
from regard.core.kinds import CONTEXT, KINDS, NOTHING
from regard.core.words import Words
from regard.data import Limits
from regard.forcing import force, left_out
from regard.models import Seq2Seq
from regard.predictor import Predictor
from regard.search import SearchPlan
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS
from regard.viewing import TextView


def predictor(model: Seq2Seq | None = None, batch_tokens: int = 60) -> Predictor:
    tokenizer = TOKENIZERS["characters"](["abc de "], vocabulary=VOCABULARY)
    codec = TextCodec(tokenizer, tokenizer, Limits(source=20, target=6), TextView())
    return Predictor(
        [model or recurrent()],
        codec,
        search=SearchPlan(),
        batch_tokens=batch_tokens,
        device=torch.device("cpu"),
    )


def test_a_prediction_says_the_target_as_it_was_given() -> None:
    (found,) = force(predictor(), ["ab c"], ["a ?b"])
    assert (found.source, found.text, found.finished) == ("ab c", "a ?b", True)
    assert found.pieces == ("a", "▁", "<unk>", "b")
    assert found.attention.target_pieces == (*found.pieces, "</s>")
    assert found.attention.target_words == Words(("a", "?b"), ((0,), (), (1,), (1,), None))
    assert found.attention.in_words().source_pieces == ("ab", "c", "</s>")
    np.testing.assert_allclose(found.attention.cross().sum(1), 1, atol=1e-5)
    assert found.score < 0


def test_only_what_is_wanted_is_recorded() -> None:
    model = predictor(transformer())
    assert set(force(model, ["a"], ["b"], wanted=KINDS)[0].attention.kinds) == KINDS - {CONTEXT}
    assert force(model, ["a"], ["b"])[0].attention.kinds == ("cross",)
    assert force(model, ["a"], ["b"], wanted=NOTHING)[0].attention.kinds == ()
    with_looks, without = (force(model, ["a"], ["b"], wanted=kinds)[0].score for kinds in (KINDS, NOTHING))
    assert with_looks == pytest.approx(without, abs=1e-5)


def test_a_model_without_attention_can_be_forced() -> None:
    fixed = recurrent(look=lambda: FixedVector(width=16))
    (found,) = force(predictor(fixed), ["a"], ["b"])
    assert found.attention.kinds == ()
    assert found.score < 0


def test_a_target_that_is_too_long_is_cut_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="regard"):
        (found,) = force(predictor(), ["a"], ["abc abcd"])
    assert "A target of 8 pieces was cut to 6 (data.max_target): abc abcd" in caplog.text
    assert not found.finished
    assert found.text == "abc abcd"
    assert found.attention.target_pieces == ("a", "b", "c", "▁", "a", "b")
    assert found.attention.in_words().target_pieces == ("abc", "abcd")


def test_what_is_cut_off_a_target_is_counted() -> None:
    told = predictor()
    assert [left_out(told, target) for target in ("abc abcd", "abc ab", "")] == [2, 0, 0]


def test_nothing_is_answered_with_nothing_for_certain() -> None:
    certain, impossible = force(predictor(), ["", "  "], [" ", "a"])
    assert (certain.score, certain.text, certain.source) == (0.0, " ", "")
    assert (impossible.score, impossible.text) == (-math.inf, "a")
    assert certain.attention.in_words().cross().shape == (0, 0)


def test_an_empty_target_is_the_end_mark() -> None:
    (found,) = force(predictor(), ["a"], [""])
    assert found.attention.target_pieces == ("</s>",)
    assert found.pieces == ()
    assert -math.inf < found.score < 0


def test_no_pairs_are_no_trouble() -> None:
    assert force(predictor(), [], []) == []


def test_as_many_targets_as_sources_are_needed() -> None:
    with pytest.raises(UserError, match="2 sources but 1 targets"):
        force(predictor(), ["a", "b"], ["a"])


def test_a_model_that_gives_no_numbers_is_told_to_the_person() -> None:
    model = recurrent(look=attention)
    with torch.no_grad():
        model.decoder.head.weight.fill_(math.nan)
    with pytest.raises(UserError, match="NaN"):
        force(predictor(model), ["a"], ["b"])


def test_batches_stay_within_the_budget_by_the_longer_side(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = predictor(batch_tokens=24)
    shapes = []
    unroll = type(asked.models[0].decoder).unroll

    def noting(decoder, memory, target):
        shapes.append((len(target), max(target.shape[1], memory.mask.shape[1])))
        return unroll(decoder, memory, target)

    monkeypatch.setattr(type(asked.models[0].decoder), "unroll", noting)
    force(asked, ["a"] * 9 + ["abcdeabcde"] * 4, ["abcde"] * 9 + ["a"] * 4)
    assert sum(rows for rows, _ in shapes) == 13
    assert all(rows * longest <= 24 for rows, longest in shapes)
    assert len(shapes) < 13
