"""Beam search over a whole batch."""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from regard.core.state import State
from regard.search.hypothesis import Ending, Hypothesis, Trail
from regard.search.ranks import LengthPenalty, Rank
from regard.search.stepper import Stepper, check_numbers, log_probabilities


@dataclass
class _Pool:
    """Where the best hypotheses of one source ended so far."""

    size: int
    found: list[Ending] = field(default_factory=list)

    def add(self, ending: Ending) -> None:
        self.found = sorted([*self.found, ending], key=lambda one: -one.rank)[: self.size]

    def beats(self, attainable: float) -> bool:
        """True when nothing that still can come would enter."""
        full = len(self.found) == self.size
        return attainable == -math.inf or (full and self.found[-1].rank >= attainable)


def beam(
    stepper: Stepper[Any],
    source: Any,
    *,
    limits: Tensor,
    begin: int,
    end: int,
    width: int = 5,
    best: int = 1,
    rank: Rank | None = None,
) -> list[list[Hypothesis]]:
    """The `best` hypotheses for each row of the source, best first. `limits` (B) bounds each row's length.

    Every source keeps `width` live hypotheses. One that ends is set aside, if it is among the
    `width` best candidates of its step. A source leaves the batch when no live hypothesis can
    still enter its `best`, or at its limit: then, if it finished none at all, it gives its best
    unfinished ones.
    """
    assert 1 <= best <= width, (best, width)
    rank = rank or LengthPenalty()
    bounds: list[int] = limits.tolist()
    pools = [_Pool(best) for _ in bounds]
    state: State = stepper.begin(source)
    alive = parents = list(range(len(bounds)))  # N, which sources are still searched; rows one step before
    fed = [begin] * len(bounds)  # rows: N times the live hypotheses of each
    tokens = torch.full_like(limits, begin)  # rows
    scores = torch.zeros(
        len(bounds), 1, device=limits.device, dtype=torch.float64
    )  # N K, many small ones add up
    trail = Trail()
    for length in range(1, max(bounds) + 1):
        output = stepper.step(tokens, state)
        trail.step(parents, fed, output.attention)
        following = log_probabilities(output.logits)  # rows V
        (sources, live), vocabulary = scores.shape, following.shape[1]
        following = following.view(sources, live * vocabulary)  # N K*V
        candidates = following + scores.float().repeat_interleave(vocabulary, dim=1)  # N K*V

        # Twice the width: even if half of them end, `width` remain to go on.
        places = candidates.topk(min(2 * width, live * vocabulary), dim=1).indices  # N C
        scores = scores.gather(1, places // vocabulary) + following.gather(1, places)  # N C
        check_numbers(scores[:, 0].tolist())
        tokens = places % vocabulary
        rows = torch.arange(sources, device=limits.device)[:, None] * live + places // vocabulary
        ended = (tokens == end) & scores.isfinite()
        ended[:, width:] = False
        for (n, _), row, score, place in zip(
            ended.nonzero().tolist(),
            rows[ended].tolist(),
            scores[ended].tolist(),
            rank(scores, length)[ended].tolist(),
            strict=True,
        ):
            pools[alive[n]].add(Ending(length, row, end, score, place, finished=True))

        scores = scores.masked_fill(tokens == end, -torch.inf)
        scores, order = scores.topk(min(width, scores.shape[1]), dim=1)  # N K
        tokens, rows = tokens.gather(1, order), rows.gather(1, order)
        attainable = rank(scores[:, 0], limits).tolist()
        # Lists, once for each step: a number asked of a GPU by itself waits for all that it has to do.
        origins, chosen, totals = rows.tolist(), tokens.tolist(), scores.tolist()
        ranks = rank(scores, length).tolist()
        staying = []
        for n, number in enumerate(alive):
            pool = pools[number]
            if bounds[number] > length:
                if not pool.beats(attainable[n]):
                    staying.append(n)
            elif not pool.found:
                cut_off = zip(origins[n], chosen[n], totals[n], ranks[n], strict=True)
                for row, token, score, place in cut_off:
                    if math.isfinite(score):
                        pool.add(Ending(length, row, token, score, place, finished=False))
        if not staying:
            break
        kept = torch.tensor(staying, device=limits.device)
        limits, scores, tokens = limits[kept], scores[kept], tokens[kept].flatten()
        state = output.state.select(rows[kept].flatten())
        alive = [alive[n] for n in staying]
        parents = [row for n in staying for row in origins[n]]
        fed = [token for n in staying for token in chosen[n]]
    assert all(pool.found for pool in pools), "a row was not answered"
    return [[trail.trace(ending) for ending in pool.found] for pool in pools]
