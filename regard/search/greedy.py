"""Greedy search: the likeliest piece at every step."""

from typing import Any

import torch
from torch import Tensor

from regard.core.state import State
from regard.search.hypothesis import Ending, Hypothesis, Trail
from regard.search.ranks import LengthPenalty, Rank
from regard.search.stepper import Stepper, check_numbers, log_probabilities


def greedy(
    stepper: Stepper[Any],
    source: Any,
    *,
    limits: Tensor,
    begin: int,
    end: int,
    rank: Rank | None = None,
) -> list[Hypothesis]:
    """One hypothesis for each row of the source. `limits` (B) is the greatest length of each row's answer.

    A row leaves the batch when it is finished.
    """
    rank = rank or LengthPenalty()
    bounds: list[int] = limits.tolist()
    endings: dict[int, Ending] = {}
    state: State = stepper.begin(source)
    alive = parents = list(range(len(bounds)))  # which source each row belongs to; its row one step before
    chosen = [begin] * len(bounds)
    tokens = torch.full_like(limits, begin)  # B
    scores = torch.zeros(len(bounds), device=limits.device, dtype=torch.float64)  # B, many small ones add up
    trail = Trail()
    for length in range(1, max(bounds) + 1):
        output = stepper.step(tokens, state)
        trail.step(parents, chosen, output.attention)
        best, tokens = log_probabilities(output.logits).max(dim=-1)  # B, B
        scores = scores + best
        # Lists, once for each step: a number asked of a GPU by itself waits for all that it has to do.
        chosen, totals, ranks = tokens.tolist(), scores.tolist(), rank(scores, length).tolist()
        check_numbers(totals)
        parents = []
        for row, number in enumerate(alive):
            finished = chosen[row] == end
            if finished or bounds[number] <= length:
                endings[number] = Ending(length, row, chosen[row], totals[row], ranks[row], finished)
            else:
                parents.append(row)
        if not parents:
            break
        state = output.state
        if len(parents) < len(alive):
            kept = torch.tensor(parents, device=limits.device)
            tokens, scores, state = tokens[kept], scores[kept], state.select(kept)
            alive, chosen = [alive[row] for row in parents], [chosen[row] for row in parents]
    assert len(endings) == len(bounds), "a row was not answered"
    return [trail.trace(endings[number]) for number in range(len(bounds))]
