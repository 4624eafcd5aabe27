"""Positions say where pieces stand."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.attention import SCORES
from regard.core.errors import UserError
from regard.layers import POSITIONS, Embedding, PlacedEmbedding, Positions


def positions(name: str, *, width: int = 16, heads: int = 2, causal: bool = False) -> Positions:
    torch.manual_seed(0)
    return POSITIONS[name](width, heads=heads, longest=10, causal=causal)


def test_sinusoids_follow_the_formula() -> None:
    found = positions("sinusoidal").vectors(torch.arange(50)[None])[0]
    for place in (0, 1, 17, 49):
        for i in range(8):
            angle = place / 10_000 ** (2 * i / 16)
            assert float(found[place, 2 * i]) == pytest.approx(math.sin(angle), abs=1e-5)
            assert float(found[place, 2 * i + 1]) == pytest.approx(math.cos(angle), abs=1e-5)


def test_an_odd_width_has_sinusoids_too() -> None:
    assert positions("sinusoidal", width=7, heads=1).vectors(torch.arange(3)[None]).shape == (1, 3, 7)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))
def test_rotary_products_depend_on_the_distance_alone(query: int, key: int, shift: int) -> None:
    rotary = positions("rotary")
    generator = torch.Generator().manual_seed(1)
    asked, answered = torch.randn(2, 1, 2, 1, 8, generator=generator, dtype=torch.float64).unbind(0)

    def product(one: int, other: int) -> torch.Tensor:
        turned = rotary.double().turn(asked, torch.tensor([[one]]))
        return (turned * rotary.turn(answered, torch.tensor([[other]]))).sum(-1)

    torch.testing.assert_close(product(query, key), product(query + shift, key + shift), atol=1e-4, rtol=1e-4)


def test_turning_keeps_lengths() -> None:
    heads = torch.randn(1, 2, 5, 8)
    turned = positions("rotary").turn(heads, torch.arange(5)[None])
    torch.testing.assert_close(turned.norm(dim=-1), heads.norm(dim=-1))
    torch.testing.assert_close(turned[:, :, 0], heads[:, :, 0])  # nothing is turned at place 0


@pytest.mark.parametrize("causal", [True, False])
def test_relative_bias_depends_on_the_distance_alone(causal: bool) -> None:
    relative, places = positions("relative", causal=causal), torch.arange(40)[None]
    bias = relative.bias(places, places)[0]  # H T S
    torch.testing.assert_close(bias, relative.bias(places + 7, places + 7)[0])
    for distance in (-20, -3, 0, 5):
        along = bias.diagonal(distance, dim1=1, dim2=2)
        assert (along == along[:, :1]).all()
    assert (bias[:, 5, 4] != bias[:, 5, 3]).all()  # near distances are told apart
    assert (bias[:, 5, 6] == bias[:, 5, 5]).all() == causal  # the future has a bias only where it is seen


def test_far_distances_share_a_bucket() -> None:
    relative = positions("relative")
    buckets = relative.bucket(torch.tensor([-500, -128, 0, 1, 128, 500]))
    assert buckets.tolist() == [15, 15, 0, 17, 31, 31]


def test_learned_positions_end_with_a_clear_error() -> None:
    with pytest.raises(UserError, match="learned 10 positions, but 11 pieces"):
        positions("learned").vectors(torch.arange(11)[None])


@pytest.mark.parametrize("name", ["dot", "scaled_dot", "general", "cosine", "rbf"])
def test_scores_of_turned_queries_and_keys_depend_on_the_distance_alone(name: str) -> None:
    """All scores that rotary positions may stand beside."""
    torch.manual_seed(0)
    score, rotary, vectors = SCORES[name](16, 16, heads=2), positions("rotary"), torch.randn(1, 5, 16)
    asked, answered = score.queries(vectors, torch.arange(5)[None]), score.keys(vectors.flip(1))
    here, far = (torch.arange(first, first + 5)[None] for first in (0, 7))
    found = [score(rotary.turn(asked, places), rotary.turn(answered, places)) for places in (here, far)]
    torch.testing.assert_close(*found, atol=1e-4, rtol=1e-4)


def test_places_are_added_or_stand_beside() -> None:
    ids, places = torch.tensor([[4, 5]]), torch.arange(2)[None]
    pieces = Embedding(8, 16)
    added = PlacedEmbedding(pieces, positions("sinusoidal"))
    torch.testing.assert_close(added(ids, places), pieces(ids) + added.positions.vectors(places))
    beside = PlacedEmbedding(pieces, positions("sinusoidal", width=4), beside=4)
    assert beside.width == 20
    torch.testing.assert_close(beside(ids, places)[..., :16], pieces(ids))
    torch.testing.assert_close(beside(ids, places)[..., 16:], beside.positions.vectors(places))


def test_narrow_numbers_are_turned_by_angles_that_are_exact() -> None:
    torch.manual_seed(1)
    rotary, heads = positions("rotary"), torch.randn(1, 2, 1, 8)
    place = torch.tensor([[399]])  # no number of bfloat16
    wide, narrow = rotary.turn(heads, place), rotary.turn(heads.bfloat16(), place)
    torch.testing.assert_close(narrow.float(), wide, atol=0.03, rtol=0.03)
