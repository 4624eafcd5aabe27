"""The local and the compressed look against plain second roads."""

import math
from collections.abc import Callable

import pytest
import torch
from small import score, selection
from torch import Tensor, nn
from torch.nn import functional

from regard.attention import (
    LOOKS,
    SCORES,
    SELECTIONS,
    Allowed,
    Attention,
    Block,
    Cache,
    CompressedSelfAttention,
    LocalSelfAttention,
    Places,
    Scope,
    SelfAttention,
)
from regard.attention.block import Wanted
from regard.attention.scopes import Causal, Global
from regard.layers import POSITIONS, FeedForward, Positions, Residual

D, H, S = 8, 2, 11
LENGTHS = (11, 8, 3, 1)
CONTENT = [name for name in SCORES if name not in ("location", "position")]


class SameBlock(nn.Module):
    """The scope that makes a full look local."""

    def __init__(self, block: int):
        super().__init__()
        self.block = block

    def forward(self, steps: Tensor, query: Tensor, mask: Tensor) -> Allowed:
        place = torch.arange(mask.shape[1])
        same = place[:, None] // self.block == place // self.block  # S S
        return Allowed((same & mask[:, None])[:, None])


def look(
    kind: Callable[..., SelfAttention] = SelfAttention,
    scope: Scope | None = None,
    *,
    score_name: str = "scaled_dot",
    selection_name: str = "soft",
    dropout: float = 0.0,
    projected: bool = True,
    **options: int,
) -> SelfAttention:
    torch.manual_seed(0)
    parts = score(score_name, D, heads=H), scope or Global(), selection(selection_name)
    made = kind(Attention(*parts, width=D, heads=H, dropout=dropout), D, projected=projected, **options)
    return made.double().eval()


def data(length: int = S) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    vectors = torch.randn(len(LENGTHS), length, D, dtype=torch.double, generator=generator)
    return vectors, torch.arange(length) < torch.tensor(LENGTHS)[:, None]


def positions(name: str) -> Positions:
    torch.manual_seed(2)
    return POSITIONS[name](D, heads=H, longest=50, causal=False).double()


def places(length: int = S, name: str = "none") -> Places:
    standing = torch.arange(length)[None]
    return Places.of(positions(name), standing, standing)


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("block", [1, 3, 4, 11, 256])
@pytest.mark.parametrize("where", POSITIONS)
def test_the_local_look_is_the_full_look_at_its_own_block(where: str, block: int, wanted: bool) -> None:
    local, full = look(LocalSelfAttention, block=block), look(scope=SameBlock(block))
    full.load_state_dict(local.state_dict())
    vectors, mask = data()
    found, _ = local(vectors, mask, places(name=where), wanted=wanted)
    expected, _ = full(vectors, mask, places(name=where), wanted=True)
    torch.testing.assert_close(found.context[mask], expected.context[mask], rtol=0, atol=1e-12)
    if wanted:
        torch.testing.assert_close(found.weights, expected.weights, rtol=0, atol=1e-12)
    else:
        assert found.weights is None


@pytest.mark.parametrize("selected", [name for name in SELECTIONS if name != "hard"])
@pytest.mark.parametrize("scored", CONTENT)
def test_the_local_look_goes_with_every_score_and_selection(scored: str, selected: str) -> None:
    options = {"score_name": scored, "selection_name": selected}
    local, full = look(LocalSelfAttention, block=4, **options), look(scope=SameBlock(4), **options)
    full.load_state_dict(local.state_dict())
    vectors, mask = data()
    found, _ = local(vectors, mask, places(), wanted=True)
    expected, _ = full(vectors, mask, places(), wanted=True)
    torch.testing.assert_close(found.context[mask], expected.context[mask], rtol=0, atol=1e-12)
    torch.testing.assert_close(found.weights, expected.weights, rtol=0, atol=1e-12)


def compressed_by_hand(
    part: CompressedSelfAttention, vectors: Tensor, where: Positions
) -> tuple[Tensor, Tensor]:
    """One source without padding (S D): torch's convolution, then each head by itself."""
    length, factor = len(vectors), part.compression
    query, keys, values = part.project(vectors).chunk(3, dim=-1)  # S D each

    def convolved(given: Tensor, matrix: nn.Linear) -> Tensor:
        kernel = matrix.weight.view(D, factor, D).transpose(1, 2)  # out, in, place
        filled = functional.pad(given, (0, 0, 0, -length % factor))
        return functional.conv1d(filled.T[None], kernel, matrix.bias, stride=factor)[0].T  # C D

    keys, values = convolved(keys, part.compress_keys), convolved(values, part.compress_values)
    standing, cells = torch.arange(length)[None], torch.arange(0, length, factor)[None]
    bias = where.bias(standing, cells)  # 1 H S C
    contexts, weights = [], []
    for head in range(H):
        own = slice(head * D // H, (head + 1) * D // H)
        turned_query = where.turn(query[None, None, :, own], standing)[0, 0]
        turned_keys = where.turn(keys[None, None, :, own], cells)[0, 0]
        scores = turned_query @ turned_keys.T / math.sqrt(D // H)  # S C
        weights.append(torch.softmax(scores if bias is None else scores + bias[0, head], dim=-1))
        contexts.append(weights[-1] @ values[:, own])
    return part.output(torch.cat(contexts, dim=-1)), torch.stack(weights)  # S D, H S C


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("factor", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("where", POSITIONS)
def test_the_compressed_look_is_a_look_at_a_strided_convolution(
    where: str, factor: int, wanted: bool
) -> None:
    part = look(CompressedSelfAttention, compression=factor)
    vectors, mask = data()
    found, _ = part(vectors, mask, places(name=where), wanted=wanted)
    for row, length in enumerate(LENGTHS):
        context, weights = compressed_by_hand(part, vectors[row, :length], positions(where))
        torch.testing.assert_close(found.context[row, :length], context)
        if not wanted:
            continue
        for cell in range(weights.shape[-1]):  # each key's weight, shared out among what it stands for
            covered = range(cell * factor, min((cell + 1) * factor, length))
            for place in covered:
                shown = found.weights[row, :, :length, place]
                torch.testing.assert_close(shown, weights[:, :, cell] / len(covered))


@pytest.mark.parametrize("scored", CONTENT)
def test_the_compressed_look_goes_with_every_score(scored: str) -> None:
    part = look(CompressedSelfAttention, compression=3, score_name=scored, selection_name="sparse")
    vectors, mask = data()
    attended, cache = part(vectors, mask, places(), wanted=True)
    assert cache.mask.tolist() == [[True] * n + [False] * (4 - n) for n in (4, 3, 1, 1)]
    assert attended.context.isfinite().all()


LONG = {"local": {"block": 4}, "compressed": {"compression": 3}}


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("kind", LONG)
def test_padding_changes_nothing_whatever_stands_in_it(kind: str, wanted: bool) -> None:
    part = look(LOOKS[kind], **LONG[kind])
    vectors, mask = data()
    more = 9  # whole blocks of padding
    noise = torch.where(mask[..., None], vectors, 1e6)
    longer = functional.pad(noise, (0, 0, 0, more), value=-1e6).requires_grad_()
    found, _ = part(vectors, mask, places(), wanted=wanted)
    padded, _ = part(longer, functional.pad(mask, (0, more)), places(S + more), wanted=wanted)
    torch.testing.assert_close(padded.context[:, :S][mask], found.context[mask])
    if wanted:
        assert padded.weights.shape == (len(LENGTHS), H, S + more, S + more)
        shown = padded.weights[:, :, :S].movedim(1, 2)[mask]  # N H S
        torch.testing.assert_close(shown[..., :S], found.weights.movedim(1, 2)[mask])
        torch.testing.assert_close(shown.sum(-1), torch.ones_like(shown[..., 0]))
        assert (padded.weights.masked_select(~functional.pad(mask, (0, more))[:, None, None]) == 0).all()
    padded.context[:, :S][mask].sum().backward()
    assert longer.grad.isfinite().all()
    assert (longer.grad[:, :S][~mask] == 0).all()


@pytest.mark.parametrize("kind", LONG)
def test_a_block_of_padding_alone_gives_numbers_forwards_and_backwards(kind: str) -> None:
    part = look(LOOKS[kind], **LONG[kind])
    vectors = torch.ones(1, 8, D, dtype=torch.double, requires_grad=True)
    mask = torch.arange(8)[None] < 2
    for wanted in (True, False):
        attended, _ = part(vectors, mask, places(8), wanted=wanted)
        assert attended.context.isfinite().all()
        attended.context.sum().backward()
        assert vectors.grad.isfinite().all()


@pytest.mark.parametrize("kind", LONG)
def test_what_a_position_sees_has_the_gradient_of_finite_differences(kind: str) -> None:
    part = look(LOOKS[kind], **LONG[kind])
    vectors, mask = (one[1:3] for one in data(6))

    def context(given: Tensor) -> Tensor:
        return part(given, mask, places(6, "relative"), wanted=True)[0].context

    assert torch.autograd.gradcheck(context, vectors.requires_grad_())


def numbers_kept(kind: str, length: int) -> int:
    """How many numbers a layer in training keeps for its way back, weights unwanted, dropout on them."""
    part = look(LOOKS[kind], dropout=0.1, **LONG.get(kind, {})).train()
    block = Block(part, FeedForward(D, 2 * D).double(), Residual(D).double(), Residual(D).double())
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    vectors = torch.randn(1, length, D, dtype=torch.double, requires_grad=True)
    alive = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda one: alive.append(one) or keep(one), lambda one: one
    ):
        block(vectors, torch.ones(1, length, dtype=torch.bool), places(length), wanted=Wanted())
    return sum(kept.values())


def test_what_training_keeps_grows_with_the_length_and_not_with_its_square_in_the_local_look() -> None:
    full, local = ([numbers_kept(kind, length) for length in (240, 480)] for kind in ("full", "local"))
    assert full[1] > 3.5 * full[0]
    assert local[1] < 2.1 * local[0]


def test_what_training_keeps_is_a_third_in_the_compressed_look() -> None:
    assert numbers_kept("compressed", 480) < 0.4 * numbers_kept("full", 480)


def after_a_source(kind: str, where: str) -> tuple[SelfAttention, Cache, Tensor, Tensor, Places]:
    """A look, what it kept of a source, and a target (B T D) that follows it in one stream."""
    part = look(LOOKS[kind], Causal(), **LONG[kind])
    source, mask = data()
    standing, steps = torch.arange(S)[None], mask.sum(1, keepdim=True) + torch.arange(5)
    begun = Places.of(positions(where), standing, standing)
    following = Places.of(
        positions(where), steps, torch.cat([standing.expand(len(mask), -1), steps], 1), start=S, source=mask
    )
    target = torch.randn(len(mask), 5, D, dtype=torch.double, generator=torch.Generator().manual_seed(3))
    return part, part.remember(source, mask, begun), target, mask, following


@pytest.mark.parametrize("where", POSITIONS)
def test_by_the_local_look_a_target_sees_its_own_past_alone(where: str) -> None:
    part, kept, target, _, following = after_a_source("local", where)
    real = torch.ones(target.shape[:2], dtype=torch.bool)
    found, _ = part(target, real, following, kept, wanted=True)
    full = look(scope=Causal())
    full.load_state_dict(part.state_dict())
    alone = Places.of(positions(where), following.queries, following.queries)
    expected, _ = full(target, real, alone, wanted=True)
    torch.testing.assert_close(found.context, expected.context)
    torch.testing.assert_close(found.weights, functional.pad(expected.weights, (S, 0)))


@pytest.mark.parametrize("where", POSITIONS)
def test_by_the_compressed_look_a_target_sees_the_compressed_source_and_its_own_past(where: str) -> None:
    part, kept, target, mask, following = after_a_source("compressed", where)
    real = torch.ones(target.shape[:2], dtype=torch.bool)
    found, longer = part(target, real, following, kept, wanted=True)
    unseen, _ = part(target, real, following, kept, wanted=False)
    torch.testing.assert_close(unseen.context, found.context)
    places_of_keys = torch.cat([torch.arange(0, S, 3).expand(len(mask), -1), following.queries], 1)
    bias = positions(where).bias(following.queries, places_of_keys)  # B H T (C + T)
    query = part.project(target)[..., :D]
    turned = positions(where).turn(part.attention.score.queries(query, following.index), following.queries)
    for row, length in enumerate(LENGTHS):
        cells = math.ceil(length / 3)
        seen = [*range(cells), *range(4, 9)]  # the source's cells fill four places in every row
        for step in range(5):
            now = seen[: cells + step + 1]
            scores = (longer.keys[row][:, now] @ turned[row, :, step, :, None])[..., 0]  # H n
            scores = scores if bias is None else scores + bias[row, :, step, now]
            weights = torch.softmax(scores, dim=-1)
            context = part.output((weights[:, None] @ longer.values[row][:, now]).flatten())
            torch.testing.assert_close(found.context[row, step], context)
            shown = found.weights[row, :, step]  # H (S + T)
            torch.testing.assert_close(shown[:, S : S + step + 1], weights[:, cells:])
            by_cell = functional.pad(shown[:, :S], (0, 1)).view(H, 4, 3).sum(-1)
            torch.testing.assert_close(by_cell[:, :cells], weights[:, :cells])
            assert (shown[:, length:S] == 0).all()
            assert (shown[:, S + step + 1 :] == 0).all()
