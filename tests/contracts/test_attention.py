"""Every score with every scope, selection and number of heads: what all attention promises."""

import itertools
import math

import numpy as np
import pytest
import torch

from regard.attention import SCOPES, SCORES, SELECTIONS, Attention

B, T, S, D = 3, 4, 6, 8

MEMBERS = [
    pytest.param(*names, id="-".join(map(str, names)))
    for names in itertools.product(SCORES, SCOPES, SELECTIONS, (1, 2))
]


def make(score: str, scope: str, selection: str, heads: int) -> Attention:
    torch.manual_seed(0)
    look = Attention(SCORES[score](D, D, heads=heads), SCOPES[scope](), SELECTIONS[selection](), heads=heads)
    return look.double()


def data(source: int = S) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    query = torch.randn(B, T, D, dtype=torch.double, generator=generator)
    annotations = torch.randn(B, source, D, dtype=torch.double, generator=generator)
    mask = torch.arange(source) < torch.tensor([S, 3, 1])[:, None]
    return query, annotations, mask, torch.arange(T)[None]


@pytest.mark.parametrize(("score", "scope", "selection", "heads"), MEMBERS)
def test_weights_are_a_distribution_and_padding_gets_exactly_zero(
    score: str, scope: str, selection: str, heads: int
) -> None:
    look = make(score, scope, selection, heads)
    query, annotations, mask, steps = data()
    attended = look(query, look.prepare(annotations, mask), steps)
    assert attended.weights.shape == (B, heads, T, S)
    assert attended.context.shape == (B, T, D)
    assert (attended.weights >= 0).all()
    torch.testing.assert_close(attended.weights.sum(-1), torch.ones(B, heads, T, dtype=torch.double))
    assert (attended.weights.masked_select(~mask[:, None, None]) == 0).all()


@pytest.mark.parametrize(("score", "scope", "selection", "heads"), MEMBERS)
def test_more_padding_changes_nothing(score: str, scope: str, selection: str, heads: int) -> None:
    look = make(score, scope, selection, heads)
    query, annotations, mask, steps = data()
    noise = torch.full((B, 5, D), 1e3, dtype=torch.double)  # even if something stood in the padding
    longer = torch.cat([annotations, noise], dim=1)
    wider = torch.cat([mask, torch.zeros(B, 5, dtype=torch.bool)], dim=1)
    short = look(query, look.prepare(annotations, mask), steps)
    long = look(query, look.prepare(longer, wider), steps)
    torch.testing.assert_close(long.context, short.context)
    torch.testing.assert_close(long.weights[..., :S], short.weights)


@pytest.mark.parametrize(("score", "scope", "selection", "heads"), MEMBERS)
def test_one_row_alone_equals_the_same_row_among_others(
    score: str, scope: str, selection: str, heads: int
) -> None:
    look = make(score, scope, selection, heads)
    query, annotations, mask, steps = data()
    keys = look.prepare(annotations, mask)
    together = look(query, keys, steps)
    for row in range(B):
        one = torch.tensor([row])
        alone = look(query[one], keys.select(one), steps)
        torch.testing.assert_close(alone.weights, together.weights[one])
        torch.testing.assert_close(alone.context, together.context[one])


@pytest.mark.parametrize(("score", "scope", "selection", "heads"), MEMBERS)
def test_gradients_are_right(score: str, scope: str, selection: str, heads: int) -> None:
    look = make(score, scope, selection, heads)
    query, annotations, mask, steps = data()

    def context(query: torch.Tensor, annotations: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
        return look(query, look.prepare(annotations, mask), steps).context

    inputs = (query.requires_grad_(), annotations.requires_grad_(), *look.parameters())
    assert torch.autograd.gradcheck(context, inputs)


@pytest.mark.parametrize(("score", "scope", "selection", "heads"), MEMBERS)
def test_a_row_with_nothing_to_look_at_gives_zeros_and_no_nan_backwards(
    score: str, scope: str, selection: str, heads: int
) -> None:
    look = make(score, scope, selection, heads)
    query, annotations, _, steps = data()
    query.requires_grad_()
    nothing = torch.zeros(B, S, dtype=torch.bool)
    attended = look(query, look.prepare(annotations, nothing), steps)
    assert (attended.weights == 0).all()
    assert (attended.context == 0).all()
    attended.context.sum().backward()
    assert query.grad is not None
    assert query.grad.isfinite().all()


# Each formula once more, position by position, in NumPy.
def _heads(vector: np.ndarray, heads: int) -> list[np.ndarray]:
    return np.split(vector, heads)


REFERENCES = {
    "dot": lambda q, k, p, h, n: _heads(q, n)[h] @ _heads(k, n)[h],
    "scaled_dot": lambda q, k, p, h, n: _heads(q, n)[h] @ _heads(k, n)[h] / math.sqrt(len(q) / n),
    "general": lambda q, k, p, h, n: _heads(q, n)[h] @ _heads(p["weight.weight"] @ k, n)[h],
    "additive": lambda q, k, p, h, n: (
        p["scorer"][h]
        @ np.tanh(
            _heads(p["from_query.weight"] @ q, n)[h]
            + _heads(p["from_memory.weight"] @ k + p["from_memory.bias"], n)[h]
        )
    ),
}


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("name", SCORES)
def test_a_score_equals_its_formula(name: str, heads: int) -> None:
    score = make(name, "global", "soft", heads).score
    query, annotations, _, _ = data()
    with torch.no_grad():
        scores = score(score.queries(query), score.keys(annotations))  # B H T S
    parameters = {key: value.detach().numpy() for key, value in score.named_parameters()}
    for b, h, t, s in itertools.product(range(B), range(heads), range(T), range(S)):
        q, k = query[b, t].numpy(), annotations[b, s].numpy()
        assert float(scores[b, h, t, s]) == pytest.approx(REFERENCES[name](q, k, parameters, h, heads))


def test_scaled_dot_agrees_with_torch() -> None:
    look = make("scaled_dot", "global", "soft", 2)
    query, annotations, mask, steps = data()
    keys = look.prepare(annotations, mask)
    queries = query.unflatten(-1, (2, -1)).transpose(1, 2)
    expected = torch.nn.functional.scaled_dot_product_attention(
        queries, keys.keys, keys.values, attn_mask=mask[:, None, None]
    )
    context = look(query, keys, steps).context
    torch.testing.assert_close(context, expected.transpose(1, 2).flatten(2))
