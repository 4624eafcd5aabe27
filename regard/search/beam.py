"""Beam search over a whole batch."""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from regard.core.state import State
from regard.search.hypothesis import Hypothesis, Trail
from regard.search.ranks import LengthPenalty, Rank
from regard.search.stepper import Stepper


@dataclass
class _Pool:
    """The best finished hypotheses of one source so far."""

    size: int
    found: list[Hypothesis] = field(default_factory=list)

    def add(self, hypothesis: Hypothesis) -> None:
        self.found = sorted([*self.found, hypothesis], key=lambda one: -one.rank)[: self.size]

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
    pools = [_Pool(best) for _ in limits]
    state: State = stepper.begin(source)
    alive = torch.arange(len(limits), device=limits.device)  # N, which sources are still searched
    tokens = torch.full_like(limits, begin)  # rows: N times the live hypotheses of each
    parents = alive
    scores = torch.zeros(len(limits), 1, device=limits.device)  # N K
    trail = Trail()
    for length in range(1, int(limits.max()) + 1):
        output = stepper.step(tokens, state)
        trail.step(parents, tokens, output.attention)
        log_probabilities = torch.log_softmax(output.logits.float(), dim=-1)  # rows V
        vocabulary = log_probabilities.shape[-1]
        candidates = (scores[..., None] + log_probabilities.view(*scores.shape, vocabulary)).flatten(
            1
        )  # N K*V

        # Twice the width: even if half of them end, `width` remain to go on.
        scores, places = candidates.topk(min(2 * width, candidates.shape[1]), dim=1)  # N C
        tokens = places % vocabulary
        rows = (
            torch.arange(len(alive), device=alive.device)[:, None] * (len(parents) // len(alive))
            + places // vocabulary
        )
        ended = (tokens == end) & scores.isfinite()
        ended[:, width:] = False
        at_limit = limits[alive] <= length  # N
        ranks = rank(scores, length)
        for n, c in ended.nonzero().tolist():
            path, attention = trail.trace(int(rows[n, c]), end)
            hypothesis = Hypothesis(path, float(scores[n, c]), float(ranks[n, c]), True, attention)
            pools[int(alive[n])].add(hypothesis)

        scores = scores.masked_fill(tokens == end, -torch.inf)
        scores, order = scores.topk(min(width, scores.shape[1]), dim=1)  # N K
        tokens, rows = tokens.gather(1, order), rows.gather(1, order)
        attainable = rank(scores[:, 0], limits[alive]).tolist()
        staying = []
        for n, number in enumerate(alive.tolist()):
            pool = pools[number]
            if at_limit[n] and not pool.found:
                for k in scores[n].isfinite().nonzero()[:best, 0].tolist():
                    path, attention = trail.trace(int(rows[n, k]), int(tokens[n, k]))
                    score, place = scores[n, k], rank(scores[n, k], length)
                    pool.add(Hypothesis(path, float(score), float(place), False, attention))
            if not at_limit[n] and not pool.beats(attainable[n]):
                staying.append(n)
        if not staying:
            break
        kept = torch.tensor(staying, device=alive.device)
        alive, scores = alive[kept], scores[kept]
        tokens, parents = tokens[kept].flatten(), rows[kept].flatten()
        state = output.state.select(parents)
    return [pool.found for pool in pools]
