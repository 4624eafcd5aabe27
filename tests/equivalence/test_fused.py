"""Whether somebody wants to see the weights changes what is recorded, and no number besides.

Where nobody does, looks that torch's fused kernel knows go through it; in training on a CPU, if they are `short`, not.
"""

import pytest
import torch
from small import FEW, MODELS, batch, search, transformer
from torch import Tensor

from regard.attention import Attention, short
from regard.attention.scopes import Global
from regard.attention.scores import ScaledDot
from regard.attention.selections import Soft
from regard.core.kinds import KINDS, NOTHING
from regard.models import Seq2Seq
from regard.search import Hypothesis, SearchPlan


def answers(model: Seq2Seq, wanted: frozenset[str], beam: int) -> list[Hypothesis]:
    source = batch((5, 2, 7, 1, 12)).source
    with torch.inference_mode():
        memory = model.encoder.encode(source, wanted)
    found = search(
        model.decoder, source, SearchPlan(beam=beam, length_penalty=0.6, max_length=12), memory=memory
    )
    return [best for (best,) in found]


@pytest.mark.parametrize(("name", "beam"), [*((name, 4) for name in MODELS), *((name, 1) for name in FEW)])
def test_answers_and_their_scores_are_the_same_with_all_weights_wanted_and_with_none(
    name: str, beam: int
) -> None:
    model = MODELS[name]()
    for seen, unseen in zip(answers(model, KINDS, beam), answers(model, NOTHING, beam), strict=True):
        assert unseen.tokens == seen.tokens
        assert unseen.score == pytest.approx(seen.score, abs=1e-5)
        assert not unseen.attention


@pytest.mark.parametrize("name", MODELS)
def test_an_unrolled_target_is_the_same_with_all_weights_wanted_and_with_none(name: str) -> None:
    model, examples = MODELS[name](), batch()
    with torch.inference_mode():
        seen, unseen = model(examples, KINDS), model(examples, NOTHING)
        said = [model.decoder.head(one.features[examples.target.mask]) for one in (unseen, seen)]
    torch.testing.assert_close(*said)
    assert not unseen.attention


class Twice(ScaledDot):
    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return 2 * super().forward(queries, keys)


def test_a_score_with_a_formula_of_its_own_is_not_fused() -> None:
    torch.manual_seed(0)
    look = Attention(Twice(8, 8), Global(), Soft(), width=8)
    memory, steps = torch.randn(2, 5, 8), torch.arange(3)[None]
    keys = look.prepare(memory, torch.ones(2, 5, dtype=torch.bool))
    query = torch.randn(2, 3, 8)
    seen, unseen = (look(query, keys, steps, wanted=wanted).context for wanted in (True, False))
    torch.testing.assert_close(unseen, seen)


@pytest.mark.parametrize("most", [0, short.MOST], ids=["fused", "short"])
@pytest.mark.parametrize("name", [name for name in MODELS if "positions" in name])
def test_gradients_of_looks_that_nobody_wants_to_see_are_those_of_the_formula(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short, "MOST", most)
    model, examples = MODELS[name](), batch()
    gradients = []
    for kinds in (KINDS, NOTHING):
        model.zero_grad()
        model.decoder.head(model(examples, kinds).features)[examples.target.mask].square().sum().backward()
        gradients.append([one.grad.clone() for one in model.parameters() if one.grad is not None])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_looks_of_a_cpu_stay_in_float32_beside_multiplications_in_bfloat16(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There the kernel's way back takes several times as long with narrow numbers."""
    monkeypatch.setattr(short, "MOST", 0)
    kinds = []
    fused = torch.nn.functional.scaled_dot_product_attention

    def noted(queries: torch.Tensor, *others: torch.Tensor, **options: object) -> torch.Tensor:
        kinds.append(queries.dtype)
        context: torch.Tensor = fused(queries, *others, **options)
        kinds.append(context.dtype)
        return context

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", noted)
    model, examples = transformer(), batch()
    with torch.autocast("cpu", torch.bfloat16):
        narrow = model.decoder.head(model(examples, NOTHING).features)
    wide = model.decoder.head(model(examples, NOTHING).features)
    assert narrow.dtype == torch.bfloat16
    assert set(kinds) == {torch.float32}
    torch.testing.assert_close(narrow.float(), wide, atol=0.1, rtol=0.1)
