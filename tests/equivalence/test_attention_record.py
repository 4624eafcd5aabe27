"""What you see is what it did: the attention of an answer is that of forcing the same answer."""

from collections.abc import Mapping

import pytest
import torch
from small import FEW, MODELS, batch, search

from regard.core.batch import Batch, Tokens
from regard.core.kinds import member_kind
from regard.core.state import Looks
from regard.models import Seq2Seq
from regard.search import Draw, Ensemble, Groups, Hypothesis, SearchPlan

STEPS = 12  # models that have learned nothing would talk on
PLANS = {
    "greedy": SearchPlan(max_length=STEPS),
    "beam": SearchPlan(max_length=STEPS, beam=8, best=3, length_penalty=0.6),
    "groups": SearchPlan(max_length=STEPS, beam=4, best=4, groups=Groups(2)),
    "sampling": SearchPlan(max_length=STEPS, best=3, draw=Draw()),
}
PAIRS = [(FEW[0], FEW[1]), (FEW[1], FEW[2]), (FEW[3], FEW[0])]


def force(model: Seq2Seq, source: Tokens, answers: list[Hypothesis]) -> tuple[torch.Tensor, Looks]:
    """Log-probabilities (B T V) and looks of the answers, one for each row of the source."""
    with torch.inference_mode():
        forced = model(Batch(source, Tokens.pad([one.tokens for one in answers])))
        return model.decoder.head(forced.features).log_softmax(-1), forced.attention


def assert_seen(row: int, seen: Mapping[str, torch.Tensor], forced: Looks, steps: int) -> None:
    assert seen
    for kind, weights in seen.items():
        columns = weights.shape[-1]  # of itself, an answer has seen no more than itself
        torch.testing.assert_close(weights, forced[kind][row, :, :, :steps, :columns], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_the_attention_of_an_answer_is_that_of_forcing_it(name: str) -> None:
    check(name, "beam")


@pytest.mark.parametrize("plan", ["greedy", "groups", "sampling"])
@pytest.mark.parametrize("name", FEW)
def test_it_is_so_under_other_searches_too(name: str, plan: str) -> None:
    check(name, plan)


def check(name: str, plan: str) -> None:
    model, source = MODELS[name](), batch().source
    for answers in zip(*search(model, source, PLANS[plan]), strict=False):
        log_probabilities, forced = force(model, source, list(answers))
        for row, one in enumerate(answers):
            steps = len(one.tokens)
            if one.attention:
                assert_seen(row, one.attention, forced, steps)
            score = log_probabilities[row, torch.arange(steps), torch.tensor(one.tokens)].sum()
            assert one.score == pytest.approx(float(score), abs=1e-5 * max(1, steps / 10))


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("names", PAIRS, ids=str)
def test_every_member_of_an_ensemble_saw_what_it_sees_when_the_answer_is_forced(
    names: tuple[str, str], plan: str
) -> None:
    members, source = [MODELS[name]() for name in names], batch().source
    found = search(Ensemble(members), source, PLANS[plan], memory=[source, source])
    for answers in zip(*found, strict=False):
        probabilities = []
        for number, member in enumerate(members, start=1):
            log_probabilities, forced = force(member, source, list(answers))
            probabilities.append(log_probabilities.exp())
            for row, one in enumerate(answers):
                own = {
                    kind: one.attention[member_kind(kind, number)]
                    for kind in forced
                    if member_kind(kind, number) in one.attention
                }
                assert_seen(row, own, forced, len(one.tokens))
        together = torch.stack(probabilities).mean(0).log()  # B T V
        for row, one in enumerate(answers):
            steps = len(one.tokens)
            score = together[row, torch.arange(steps), torch.tensor(one.tokens)].sum()
            assert one.score == pytest.approx(float(score), abs=1e-4)
