"""Positions: how a model that reads all pieces at once knows where each one stands."""

import math

import torch
from torch import Tensor, nn

from regard.core.errors import TooLongError


class Positions(nn.Module):
    """No positions at all, and what the others have in common.

    A kind of position says something in one of three ways: by a vector for each place (`vectors`), by
    turning queries and keys (`turn`), or by a bias on the scores (`bias`). Places are numbers, B T or 1 T.
    """

    def __init__(self, width: int, *, heads: int, longest: int, causal: bool):
        super().__init__()

    def vectors(self, places: Tensor) -> Tensor | None:
        """B T D, to be added to the pieces' vectors or to stand beside them."""
        return None

    def turn(self, heads: Tensor, places: Tensor) -> Tensor:
        """B H T K, queries or keys."""
        return heads

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        """B H T S, from the places of queries (B T) and keys (B S)."""
        return None


class Sinusoidal(Positions):
    """sin and cos of place / 10000^(2i/D) in turn (Vaswani et al. 2017, section 3.5)."""

    rates: Tensor

    def __init__(self, width: int, *, heads: int, longest: int, causal: bool):
        super().__init__(width, heads=heads, longest=longest, causal=causal)
        self.width = width
        self.register_buffer("rates", _rates(width), persistent=False)

    def vectors(self, places: Tensor) -> Tensor:
        angles = places[..., None] * self.rates  # B T D/2
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., : self.width]


class Learned(Positions):
    """A learned vector for each place (Gehring et al. 2017, section 3.1), up to the longest known."""

    def __init__(self, width: int, *, heads: int, longest: int, causal: bool):
        super().__init__(width, heads=heads, longest=longest, causal=causal)
        self.table = nn.Embedding(longest, width)
        nn.init.normal_(self.table.weight, std=width**-0.5)

    def vectors(self, places: Tensor) -> Tensor:
        known = self.table.num_embeddings
        if places.numel() and int(places.max()) >= known:
            raise TooLongError(
                f"This model has learned {known} positions, but {int(places.max()) + 1} pieces stand in a row. "
                "Shorten the text, or train with greater data.max_source, data.max_target and search.max_length."
            )
        found: Tensor = self.table(places)
        return found


class Rotary(Positions):
    """Queries and keys are turned by angles that grow with their place (Su et al. 2021).

    A product of the two then depends on how far apart they stand, not on where.
    """

    rates: Tensor

    def __init__(self, width: int, *, heads: int, longest: int, causal: bool):
        super().__init__(width, heads=heads, longest=longest, causal=causal)
        assert width // heads % 2 == 0, "heads are turned in pairs of numbers"
        self.register_buffer("rates", _rates(width // heads), persistent=False)

    def turn(self, heads: Tensor, places: Tensor) -> Tensor:
        # In wide numbers whatever the heads' are.
        angles = (places[..., None] * self.rates)[:, None]  # B 1 T K/2
        first, second = heads.chunk(2, dim=-1)  # B H T K/2 each
        sine, cosine = angles.sin().to(heads.dtype), angles.cos().to(heads.dtype)
        return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


class Relative(Positions):
    """A learned bias for each distance, far ones in wider buckets (Raffel et al. 2020, section 2.1)."""

    BUCKETS, FARTHEST = 32, 128

    def __init__(self, width: int, *, heads: int, longest: int, causal: bool):
        super().__init__(width, heads=heads, longest=longest, causal=causal)
        self.causal = causal
        self.table = nn.Embedding(self.BUCKETS, heads)
        nn.init.normal_(self.table.weight, std=width**-0.5)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        buckets = self.bucket(keys[:, None] - queries[..., None])  # B T S
        found: Tensor = self.table(buckets).movedim(-1, 1)  # B H T S
        return found

    def bucket(self, distance: Tensor) -> Tensor:
        """Half of the buckets for one place each, half for ever wider stretches; a sign each where both come up."""
        buckets, behind = self.BUCKETS, 0 * distance
        if self.causal:
            far = (-distance).clamp(min=0)
        else:
            buckets //= 2
            behind = (distance > 0).long() * buckets
            far = distance.abs()
        exact = buckets // 2
        wide = torch.log(far.clamp(min=1) / exact) / math.log(self.FARTHEST / exact) * (buckets - exact)
        return behind + torch.where(far < exact, far, (exact + wide.long()).clamp(max=buckets - 1))


def _rates(width: int) -> Tensor:
    return 10_000 ** -(torch.arange(0, width, 2, dtype=torch.float32) / width)  # ⌈D/2⌉


POSITIONS: dict[str, type[Positions]] = {
    "sinusoidal": Sinusoidal,
    "learned": Learned,
    "rotary": Rotary,
    "relative": Relative,
    "none": Positions,
}
