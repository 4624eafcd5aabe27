"""The promises hold for pictures and series as they do for texts."""

import pytest
import torch
from others import OTHERS, some_of

from regard.core.batch import Tokens
from regard.core.kinds import plain_kind
from regard.models import Seq2Seq
from regard.search import Draw, Finder, Question, Rollout, SearchPlan
from regard.training import CrossEntropy

STEPS = 5
PLANS: dict[str, Finder] = {
    "pieces": SearchPlan(max_length=STEPS),
    "pieces, beam": SearchPlan(max_length=STEPS, beam=3, best=2),
    "points": Rollout(steps=STEPS),
    "points, drawn": Rollout(steps=STEPS, best=3, draw=Draw()),
}


def plans(name: str) -> list[str]:
    if isinstance(OTHERS[name].examples().target, Tokens):
        return ["pieces", "pieces, beam"]
    return ["points", "points, drawn"] if OTHERS[name]().decoder.head.draws else ["points"]


ASKED = [(name, plan) for name in OTHERS for plan in plans(name)]


@pytest.mark.parametrize("name", OTHERS)
def test_unroll_equals_repeated_steps(name: str) -> None:
    model, examples = OTHERS[name](), OTHERS[name].examples()
    with torch.inference_mode():
        unrolled = model(examples)
        said = model.decoder.head(unrolled.features)  # B T V
        state = model.begin(examples.source)
        for t, fed in enumerate(examples.target.fed.unbind(1)):
            output = model.step(fed, state)
            state = output.state
            here = examples.target.mask[:, t]
            torch.testing.assert_close(output.logits[here], said[here, t])
            assert output.attention.keys() == unrolled.attention.keys()
            for kind, looked in output.attention.items():
                at_once = unrolled.attention[kind][:, :, :, t]
                seen = looked.shape[-1]
                torch.testing.assert_close(looked[here], at_once[here][..., :seen])


@pytest.mark.parametrize("name", OTHERS)
def test_the_looks_are_shares_of_what_stands_there(name: str) -> None:
    model, examples = OTHERS[name](), OTHERS[name].examples()
    with torch.inference_mode():
        looks = model(examples).attention
    assert ("cross" in looks) == ("without attention" not in name)
    assert ("context" in looks) == name.startswith("context")
    for kind, weights in looks.items():
        if plain_kind(kind) != "decoder" and "stream" not in name:
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


@pytest.mark.parametrize("name", OTHERS)
def test_selected_rows_step_as_if_they_had_been_alone(name: str) -> None:
    model, examples = OTHERS[name](), OTHERS[name].examples()
    rows = torch.tensor([2, 0, 2])
    with torch.inference_mode():
        first = model.step(examples.target.fed[:, 0], model.begin(examples.source))
        all_rows = model.step(examples.target.items[:, 0], first.state)
        selected = model.step(examples.target.items[rows, 0], first.state.select(rows))
    torch.testing.assert_close(selected.logits, all_rows.logits[rows])


@pytest.mark.parametrize(("name", "plan"), ASKED)
def test_neighbours_padding_and_order_change_no_answer(name: str, plan: str) -> None:
    model, examples = OTHERS[name](), OTHERS[name].examples()
    everyone = [0, 1, 2, 3]
    together = answers(model, examples.source, everyone, PLANS[plan])
    for rows in ([0], [1], [2], [3], [3, 1], [2, 0, 3]):
        alone = answers(model, some_of(examples.source, rows), rows, PLANS[plan])
        for row, found in zip(rows, alone, strict=True):
            assert_same(found, together[row])


def answers(model: Seq2Seq, source: object, rows: list[int], plan: Finder) -> list[object]:
    with torch.inference_mode():
        memory = model.encoder.encode(source)
        questions = [Question(int(memory.mask[place].sum()), b"%d" % row) for place, row in enumerate(rows)]
        return [one.hypotheses for one in plan(model.decoder, memory, questions, memory.mask)]


def assert_same(found: object, others: object) -> None:
    for one, other in zip(found, others, strict=True):  # type: ignore[call-overload]
        assert one.score == pytest.approx(other.score, abs=1e-4)
        if hasattr(one, "tokens"):
            assert one.tokens == other.tokens
        else:
            torch.testing.assert_close(one.points, other.points, rtol=1e-4, atol=1e-5)
        for kind, weights in one.attention.items():
            columns = min(weights.shape[-1], other.attention[kind].shape[-1])
            torch.testing.assert_close(
                weights[..., :columns], other.attention[kind][..., :columns], rtol=1e-4, atol=1e-5
            )
            for rest in (weights[..., columns:], other.attention[kind][..., columns:]):
                assert (rest == 0).all()


@pytest.mark.parametrize("name", OTHERS)
def test_everything_learns(name: str) -> None:
    """Each parameter has a gradient, and padding and what is missing give none that is not a number."""
    model, examples = OTHERS[name]().train(), OTHERS[name].examples()
    loss = CrossEntropy()(model, examples)
    loss.total.backward()
    assert loss.total.isfinite()
    for label, parameter in model.named_parameters():
        assert parameter.grad is not None, label
        assert parameter.grad.isfinite().all(), label
