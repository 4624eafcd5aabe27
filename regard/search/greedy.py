"""Greedy search: the likeliest piece at every step."""

from typing import Any

import torch
from torch import Tensor

from regard.core.state import State
from regard.search.hypothesis import Hypothesis, Trail
from regard.search.ranks import LengthPenalty, Rank
from regard.search.stepper import Stepper


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
    state: State = stepper.begin(source)
    answers: list[Hypothesis | None] = [None] * len(limits)
    alive = torch.arange(len(limits), device=limits.device)  # which sources the rows belong to
    parents = alive
    tokens = torch.full_like(limits, begin)  # B
    scores = torch.zeros(len(limits), device=limits.device)  # B
    trail = Trail()
    for length in range(1, int(limits.max()) + 1):
        output = stepper.step(tokens, state)
        trail.step(parents, tokens, output.attention)
        log_probabilities = torch.log_softmax(output.logits, dim=-1)  # B V
        best, tokens = log_probabilities.max(dim=-1)  # B, B
        scores = scores + best
        leaving = (tokens == end) | (limits[alive] <= length)  # B
        ranks = rank(scores, length)
        for row in leaving.nonzero()[:, 0].tolist():
            token = int(tokens[row])
            path, attention = trail.trace(row, token)
            answers[int(alive[row])] = Hypothesis(
                path, float(scores[row]), float(ranks[row]), token == end, attention
            )
        parents = (~leaving).nonzero()[:, 0]
        if len(parents) == 0:
            break
        state = output.state
        if len(parents) < len(alive):
            alive, tokens, scores = alive[parents], tokens[parents], scores[parents]
            state = state.select(parents)
    return [answer for answer in answers if answer is not None]
