"""A head that says some pieces says of them what the whole one says."""

from collections.abc import Callable

import pytest
import torch
from small import MODELS, VOCABULARY, batch, search
from torch import nn

from regard.core.batch import Tokens
from regard.layers import Head, Pointer, pack, round_to_int8, with_narrow_head
from regard.layers.int8 import Int8
from regard.layers.packed import Packed
from regard.models import Seq2Seq
from regard.search import Hypothesis, Question, SearchPlan, Shortlist, ShortStepper

PLAN = SearchPlan(max_length=8, beam=3, best=2)


def short_answers(model: Seq2Seq, source: Tokens, shortlist: Shortlist) -> list[tuple[Hypothesis, ...]]:
    short = shortlist.of(source.ids, source.mask)
    stepper = ShortStepper(with_narrow_head(model.decoder, short.pieces), short)
    questions = [Question(int(length)) for length in source.lengths]
    with torch.inference_mode():
        found = PLAN(stepper, model.encoder.encode(source), questions, source.mask)
    return [short.back(one).hypotheses for one in found]


@pytest.mark.parametrize("name", MODELS)
def test_with_all_pieces_in_the_list_answers_are_the_usual_ones(name: str) -> None:
    model = MODELS[name]()
    if isinstance(model.decoder.head, Pointer):
        assert not model.decoder.head.can_narrow
        return
    source = batch((5, 2, 7)).source
    everything = Shortlist(torch.full((VOCABULARY, 1), -1), torch.arange(VOCABULARY))
    kept = dict(model.named_parameters())
    short = short_answers(model, source, everything)
    for usual, found in zip(search(model, source, PLAN), short, strict=True):
        for one, other in zip(usual, found, strict=True):
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(other.score, abs=1e-5)
            for kind, weights in one.attention.items():
                torch.testing.assert_close(other.attention[kind], weights)
    assert all(own is kept[name] for name, own in model.named_parameters())  # the model is as it was


@pytest.mark.parametrize(("computing", "kind"), [(pack, Packed), (round_to_int8, Int8)])
def test_a_narrow_head_computes_as_the_whole_one_does(
    computing: Callable[[nn.Module], None], kind: type[Packed | Int8]
) -> None:
    torch.manual_seed(1)
    head, vectors, pieces = Head(48, 300), torch.randn(3, 48), torch.tensor([0, 1, 2, 3, 17, 130, 299] * 8)
    nn.init.normal_(head.bias)
    computing(head)
    assert isinstance(head.product, kind)
    narrow = head.narrowed(pieces)
    assert isinstance(narrow.product, kind)
    with torch.inference_mode():
        torch.testing.assert_close(narrow(vectors), head(vectors)[:, pieces])
