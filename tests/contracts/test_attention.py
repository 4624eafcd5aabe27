"""What all attention promises: every score with every scope, selection and number of heads, or every two of them."""

import itertools
import math

import numpy as np
import pytest
import torch
from meetings import pairwise
from small import LONGEST, attention

from regard.attention import SCOPES, SCORES, SELECTIONS, Attention
from regard.core.errors import UserError

B, T, S, D = 3, 4, 6, 8

EVERY = list(itertools.product(SCORES, SCOPES, SELECTIONS, (1, 2)))
PAIRS = pairwise(SCORES, SCOPES, SELECTIONS, (1, 2))
SMOOTH = pairwise(SCORES, SCOPES, ("soft", "sparse"), (1, 2))


def members(rows: list[tuple[object, ...]]) -> pytest.MarkDecorator:
    names = ("score", "scope", "selection", "heads")
    return pytest.mark.parametrize(names, rows, ids=["-".join(map(str, row)) for row in rows])


def make(score: str, scope: str, selection: str, heads: int) -> Attention:
    torch.manual_seed(0)
    look = attention(score, scope, selection, width=D, heads=heads).double()
    with torch.no_grad():  # the table of positions starts flat: a flat one would prove little
        for parameter in look.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return look.eval()


def data(source: int = S) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    query = torch.randn(B, T, D, dtype=torch.double, generator=generator)
    annotations = torch.randn(B, source, D, dtype=torch.double, generator=generator)
    mask = torch.arange(source) < torch.tensor([S, 5, 4])[:, None]
    return query, annotations, mask, torch.arange(T)[None]


@members(EVERY)
def test_weights_are_a_distribution_and_padding_gets_exactly_zero(
    score: str, scope: str, selection: str, heads: int
) -> None:
    look = make(score, scope, selection, heads)
    query, annotations, mask, steps = data()
    for training in (False, True):
        attended = look.train(training)(query, look.prepare(annotations, mask), steps)
        assert attended.weights is not None
        assert attended.weights.shape == (B, heads, T, S)
        assert attended.context.shape == (B, T, D)
        assert (attended.weights >= 0).all()
        torch.testing.assert_close(attended.weights.sum(-1), torch.ones(B, heads, T, dtype=torch.double))
        assert (attended.weights.masked_select(~mask[:, None, None]) == 0).all()


@members(PAIRS)
def test_more_padding_changes_nothing(score: str, scope: str, selection: str, heads: int) -> None:
    look = make(score, scope, selection, heads)
    query, annotations, mask, steps = data()
    noise = torch.full((B, 5, D), 1e3, dtype=torch.double)  # even if something stood in the padding
    longer = torch.cat([annotations, noise], dim=1)
    wider = torch.cat([mask, torch.zeros(B, 5, dtype=torch.bool)], dim=1)
    short = look(query, look.prepare(annotations, mask), steps)
    long = look(query, look.prepare(longer, wider), steps)
    torch.testing.assert_close(long.context, short.context)
    assert short.weights is not None
    assert long.weights is not None
    torch.testing.assert_close(long.weights[..., :S], short.weights)


@members(PAIRS)
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


@members(PAIRS)
def test_rows_that_look_at_the_same_see_what_each_would_see_alone(
    score: str, scope: str, selection: str, heads: int
) -> None:
    look = make(score, scope, selection, heads)
    _, annotations, mask, steps = data()
    rows = torch.tensor([2, 2, 0, 0, 1, 1])  # hypotheses of a beam, sources in another order
    query = torch.randn(len(rows), T, D, dtype=torch.double, generator=torch.Generator().manual_seed(3))
    keys = look.prepare(annotations, mask).select(rows)
    assert keys.share == 2
    assert len(keys.mask) == B
    together, apart = (look(query, one, steps) for one in (keys, keys.apart()))
    torch.testing.assert_close(together.weights, apart.weights)
    torch.testing.assert_close(together.context, apart.context)


def test_keys_are_shared_by_as_many_rows_as_all_sources_have() -> None:
    look = make("dot", "global", "soft", 1)
    _, annotations, mask, _ = data()
    whole = look.prepare(annotations, mask)
    for rows, share, kept in (
        ([0, 1, 2], 1, 3),
        ([0, 0, 0, 0, 2, 2], 2, 3),  # four hypotheses of one, two of another: as two and two, and two
        ([1, 1, 1], 3, 1),
        ([0, 0, 1], 1, 3),
        ([], 1, 0),
    ):
        keys = whole.select(torch.tensor(rows, dtype=torch.long))
        assert (keys.share, len(keys.mask)) == (share, kept)
        again = keys.select(torch.arange(len(rows)).flip(0))  # as if the beam had turned round
        torch.testing.assert_close(again.apart().keys, whole.keys[rows[::-1]])


@members(SMOOTH)
def test_gradients_are_right(score: str, scope: str, selection: str, heads: int) -> None:
    look = make(score, scope, selection, heads)
    query, annotations, mask, steps = data()

    def context(query: torch.Tensor, annotations: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
        return look(query, look.prepare(annotations, mask), steps).context

    inputs = (query.requires_grad_(), annotations.requires_grad_(), *look.parameters())
    assert torch.autograd.gradcheck(context, inputs, fast_mode=heads > 1)


@members(PAIRS)
@pytest.mark.parametrize("training", [False, True])
def test_a_row_with_nothing_to_look_at_gives_zeros_and_no_nan_backwards(
    score: str, scope: str, selection: str, heads: int, training: bool
) -> None:
    look = make(score, scope, selection, heads).train(training)
    query, annotations, _, steps = data()
    query.requires_grad_()
    annotations.requires_grad_()
    nothing = torch.zeros(B, S, dtype=torch.bool)
    attended = look(query, look.prepare(annotations, nothing), steps)
    assert (attended.weights == 0).all()
    assert (attended.context == 0).all()
    attended.context.sum().backward()
    for leaf in (query, annotations):
        assert leaf.grad is None or leaf.grad.isfinite().all()


@members(PAIRS)
def test_it_looks_at_itself_too(score: str, scope: str, selection: str, heads: int) -> None:
    """Self-attention is the same module with its own annotations as queries."""
    look = make(score, scope, selection, heads)
    _, annotations, mask, _ = data()
    attended = look(annotations, look.prepare(annotations, mask), torch.arange(S)[None])
    assert attended.context.shape == annotations.shape
    if scope == "causal":
        assert (attended.weights.triu(1) == 0).all()
    if scope == "window":
        assert (attended.weights.triu(3) == 0).all()
        assert (attended.weights.tril(-3) == 0).all()


# Each formula once more, position by position, in NumPy.
def _head(vector: np.ndarray, head: int, heads: int) -> np.ndarray:
    return np.split(vector, heads)[head]


def _softplus(value: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(value))


def _cosine(q: np.ndarray, k: np.ndarray) -> float:
    return float(q @ k / np.linalg.norm(q) / np.linalg.norm(k))


REFERENCES = {
    "dot": lambda q, k, t, s, p, h, n: _head(q, h, n) @ _head(k, h, n),
    "scaled_dot": lambda q, k, t, s, p, h, n: _head(q, h, n) @ _head(k, h, n) / math.sqrt(len(q) / n),
    "general": lambda q, k, t, s, p, h, n: _head(q, h, n) @ _head(p["weight.weight"] @ k, h, n),
    "additive": lambda q, k, t, s, p, h, n: (
        p["scorer"][h]
        @ np.tanh(
            _head(p["from_query.weight"] @ q, h, n)
            + _head(p["from_memory.weight"] @ k + p["from_memory.bias"], h, n)
        )
    ),
    "cosine": lambda q, k, t, s, p, h, n: (
        _softplus(p["sharpness"][h]) * _cosine(_head(q, h, n), _head(k, h, n))
    ),
    "rbf": lambda q, k, t, s, p, h, n: (
        -_softplus(p["raw_gamma"][h]) * np.sum((_head(q, h, n) - _head(k, h, n)) ** 2)
    ),
    "location": lambda q, k, t, s, p, h, n: (p["weight.weight"] @ q + p["weight.bias"])[h * LONGEST + s],
    "position": lambda q, k, t, s, p, h, n: p["table"][t, h, s],
}


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("name", SCORES)
def test_a_score_equals_its_formula(name: str, heads: int) -> None:
    score = make(name, "global", "soft", heads).score
    query, annotations, _, steps = data()
    with torch.no_grad():
        scores = score(score.queries(query, steps), score.keys(annotations))  # B H T S
    parameters = {key: value.detach().numpy() for key, value in score.named_parameters()}
    for b, h, t, s in itertools.product(range(B), range(heads), range(T), range(S)):
        q, k = query[b, t].numpy(), annotations[b, s].numpy()
        assert float(scores[b, h, t, s]) == pytest.approx(REFERENCES[name](q, k, t, s, parameters, h, heads))


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


def test_self_attention_without_parameters_is_the_softmax_of_all_products() -> None:
    look = make("dot", "global", "soft", 1)
    assert list(look.parameters()) == []
    _, x, mask, _ = data()
    attended = look(x, look.prepare(x, mask), torch.arange(S)[None])
    for b, length in enumerate((S, 5, 4)):
        row = x[b, :length]
        torch.testing.assert_close(attended.context[b, :length], torch.softmax(row @ row.T, -1) @ row)


@pytest.mark.parametrize("name", ["location", "position"])
def test_a_source_beyond_the_positions_that_a_score_knows_is_refused(name: str) -> None:
    score = make(name, "global", "soft", 1).score
    with pytest.raises(UserError, match=f"{LONGEST} source positions.*{LONGEST + 1} pieces"):
        score.keys(torch.zeros(1, LONGEST + 1, D))


def test_a_step_beyond_the_table_of_positions_is_refused() -> None:
    score = make("position", "global", "soft", 1).score
    with pytest.raises(UserError, match=f"{LONGEST} target positions"):
        score.queries(torch.zeros(1, 1, D), torch.tensor([[LONGEST]]))


def test_gamma_can_be_fixed() -> None:
    score = SCORES["rbf"](4, 4, gamma=0.5)
    assert not any(parameter.requires_grad for parameter in score.parameters())
    q, k = torch.randn(1, 1, 4), torch.randn(1, 1, 4)
    steps = torch.zeros(1, 1, dtype=torch.long)
    scores = score(score.queries(q, steps), score.keys(k))
    assert float(scores) == pytest.approx(-0.5 * float((q - k).square().sum()), rel=1e-4)
