import math
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from small import VOCABULARY, recurrent, transformer

from regard.core.batch import Tokens
from regard.core.errors import UserError
from regard.core.prediction import Request
from regard.data import Limits
from regard.layers import Dropout
from regard.layers.positions import Learned
from regard.metrics import UTILITIES, expected
from regard.predictor import Predictor
from regard.search import SearchPlan, Watch
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


def test_the_next_best_answers_are_alternatives(predictor: Predictor) -> None:
    best, only = predictor.predict("abc", beam=4, best=4), predictor.predict("abc", beam=4)
    assert best.text == only.text
    assert only.alternatives == ()
    assert len(best.alternatives) == 3
    ranks = [one.rank for one in (best, *best.alternatives)]
    assert ranks == sorted(ranks, reverse=True)
    assert len({one.pieces for one in (best, *best.alternatives)}) == 4
    for one in best.alternatives:
        assert one.attention.cross().shape[0] == len(one.attention.target_pieces)


def test_the_same_source_twice_is_answered_once(predictor: Predictor, asked: list[tuple[int, int]]) -> None:
    found = predictor.predict(["abc", "bb", "abc", "abc"])
    assert sum(rows for rows, _ in asked) == 2
    assert found[0] is found[2] is found[3]


def test_requests_are_kept_to(predictor: Predictor) -> None:
    free = predictor.predict("abc", beam=3, min_length=2).text
    begun = predictor.predict(Request("abc", prefix="hhg"), beam=3)
    assert begun.text.startswith("hhg")
    without = predictor.predict(Request("abc", forbid=[free[0]]), beam=3, min_length=2)
    assert free[0] not in without.text
    found = predictor.predict(Request("abc", require=["gh", "c"]), beam=3)
    assert "gh" in found.text
    assert "c" in found.text


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (Request("abc", require=["abcdef"]), "and the end are 7 pieces, but the answer can have only 6"),
        (Request("abc", require=["xyz"]), "the model has no pieces for 'xyz'"),
        (Request("abc", prefix="a", forbid=["a"]), "no answer keeps all the rules"),
    ],
)
def test_what_cannot_be_kept_is_a_problem_of_its_own_source_alone(
    predictor: Predictor, request_: Request, problem: str
) -> None:
    expected = predictor.predict("bb", beam=2)
    bad, good = predictor.predict([request_, "bb"], beam=2)
    assert problem in bad.problem
    assert bad.text == ""
    assert good.text == expected.text
    assert good.problem is None


def test_consensus_chooses_the_answer_most_like_the_others(predictor: Predictor) -> None:
    usual = predictor.predict("abc", sample=True, best=8)
    found = predictor.predict("abc", sample=True, best=8, mbr="chrf")
    everyone = [one.text for one in (usual, *usual.alternatives)]
    assert sorted(one.text for one in (found, *found.alternatives)) == sorted(everyone)
    worth = expected(everyone, [1.0] * 8, UTILITIES["chrf"]())
    assert found.text == everyone[worth.index(max(worth))]


def test_two_models_answer_together_and_one_with_itself_as_alone(predictor: Predictor) -> None:
    settings = {"search": predictor.search, "batch_tokens": 24, "device": torch.device("cpu")}
    (one,) = predictor.models
    other = transformer()
    twice = Predictor([one, one], predictor.codec, **settings).predict(TEXTS, beam=3)
    mixed = Predictor([one, other], predictor.codec, **settings).predict(TEXTS, beam=3, attention="all")
    for text, alone, double, both in zip(TEXTS, predictor.predict(TEXTS, beam=3), twice, mixed, strict=True):
        assert double.text == alone.text
        assert double.score == pytest.approx(alone.score, abs=1e-5)
        if text:
            assert set(both.attention.kinds) == {"cross.1", "cross.2", "encoder.2", "decoder.2"}
            assert both.attention.cross().sum(axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beem": 3}, "no option 'beem'. Did you mean 'beam'"),
        ({"sample": True, "temperature": 1e-300}, "temperature is 1e-300, but must be from 1e-6"),
        ({"top_p": 0.5}, "top_p is for sampling"),
        ({"sample": True, "top_p": 0.0}, "top_p is 0.0, but must be above 0"),
        ({"penalty": "gnm"}, "penalty is gnm, but must be gnmt or average"),
        ({"sample": True, "record": True}, "Sampling has no beam"),
        ({"mbr": "chrf"}, "mbr chooses among several answers"),
        ({"mbr": "bleurt", "best": 3}, "no likeness 'bleurt' for mbr. Did you mean 'bleu'"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    predictor: Predictor, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        predictor.predict("abc", **options)


def test_wishes_of_a_neighbour_widen_no_other_beam(predictor: Predictor) -> None:
    alone = predictor.predict(TEXTS, beam=1)
    beside = predictor.predict([*TEXTS, Request("abc", require=["gh"])], beam=1)
    assert [one.pieces for one in beside[:-1]] == [one.pieces for one in alone]
    assert [one.score for one in beside[:-1]] == pytest.approx([one.score for one in alone], abs=1e-5)
    assert "gh" in beside[-1].text


def test_a_request_that_nobody_waits_for_is_given_up_and_the_others_are_answered(
    predictor: Predictor,
) -> None:
    requests = [Request(text) for text in ("abc", "hgfe", "abc", "bb")]
    nobody, somebody = Watch(lambda: False), Watch()
    watches = [nobody, nobody, somebody, somebody]
    found = predictor.answer(requests, predictor.search, watches=watches)
    expected = predictor.predict(["abc", "bb"])
    assert [one.text for one in found] == [expected[0].text, "", expected[0].text, expected[1].text]
    assert [one.problem for one in found] == [None, "nobody waits for it any more", None, None]


def test_who_gives_up_during_the_search_is_told_no_other_reason(predictor: Predictor) -> None:
    patience = iter([True, True, True])
    watch = Watch(lambda: next(patience, False))
    (answer,) = predictor.answer([Request("abc")], predictor.search, watches=[watch])
    assert answer.problem == "nobody waits for it any more"


def test_the_likeliest_pieces_have_names_and_probabilities(predictor: Predictor) -> None:
    answer = predictor.predict("abc", likeliest=3)
    assert len(answer.likeliest) == len(answer.piece_scores) == len(answer.attention.target_pieces)
    said = [
        [one for one in step if one[0] not in ("<pad>", "<s>")] for step in answer.likeliest
    ]  # never searched
    for (best, probability), piece, score in zip(
        (step[0] for step in said),
        answer.attention.target_pieces,
        answer.piece_scores,
        strict=True,
    ):
        assert best == piece  # greedy
        assert probability == pytest.approx(math.exp(score), rel=1e-5)


def test_where_a_model_has_no_room_for_one_source_the_others_are_answered(predictor: Predictor) -> None:
    narrow = transformer("both.positions=learned").eval()
    known = next(one.table.num_embeddings for one in narrow.modules() if isinstance(one, Learned))
    predictor.models = [narrow]
    predictor.codec = replace(predictor.codec, limits=Limits(source=10 * known, target=50))
    found = predictor.predict(["abc", "a" * (known + 5), "b"])
    assert [bool(one.problem) for one in found] == [False, True, False]
    assert f"This model has learned {known} positions" in str(found[1].problem)
    assert found[0].score == pytest.approx(predictor.predict("abc").score)
