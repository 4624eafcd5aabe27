"""One hypothesis at a time for each row: the walk that greedy search and sampling share."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from regard.core.state import State
from regard.search.frame import Frame
from regard.search.hypothesis import Ending, Found, Trail, best_first
from regard.search.ranks import LengthPenalty, Rank
from regard.search.rules import after
from regard.search.stepper import Stepper, check_numbers, log_probabilities


class Choose(Protocol):
    def __call__(self, following: Tensor, walkers: Sequence[int], length: int) -> Tensor:
        """A piece for each row, from log-probabilities (rows V). `walkers` are the rows' own numbers."""
        ...


def walk(
    stepper: Stepper[Any],
    source: Any,
    frame: Frame,
    choose: Choose,
    *,
    walkers: int = 1,
    rank: Rank | None = None,
) -> list[Found]:
    """`walkers` hypotheses for each row of the source, best first. A row leaves the batch when it is finished.

    One that comes to where no piece is allowed is given up, and so is a source that nobody waits for.
    """
    rank = rank or LengthPenalty()
    state: State = stepper.begin(source)
    sources = [number for number in range(len(frame)) for _ in range(walkers)]  # of each walker
    if walkers > 1:
        state = state.select(torch.tensor(sources, device=frame.limits.device))
    endings: list[list[Ending]] = [[] for _ in range(len(frame))]
    alive = parents = list(range(len(sources)))  # rows: which walker each is; its row one step before
    rules = [frame.rules_of(number) for number in sources]  # rows
    chosen = [frame.begin] * len(sources)
    tokens = frame.limits.new_full((len(sources),), frame.begin)  # rows
    scores = torch.zeros(len(sources), device=tokens.device, dtype=torch.float64)  # many small ones add up
    totals = [0.0] * len(sources)
    trail = Trail()
    for length in range(1, max(frame.bounds) + 1):
        output = stepper.step(tokens, state)
        following = log_probabilities(output.logits)  # rows V
        trail.step(parents, chosen, totals, output.attention, frame.tops(following))
        allowed = frame.restrict(following, length, [sources[one] for one in alive], rules)
        tokens = choose(allowed, alive, length)  # rows
        scores = scores + allowed.gather(1, tokens[:, None])[:, 0]
        # Lists, once for each step: a number asked of a GPU by itself waits for all that it has to do.
        chosen, totals, ranks = tokens.tolist(), scores.tolist(), rank(scores, length).tolist()
        check_numbers(totals)
        parents = []
        for row, one in enumerate(alive):
            finished, number = chosen[row] == frame.end, sources[one]
            watch = frame.watch(number)
            if totals[row] == -torch.inf or not watch.wanted():
                continue
            if watch.hear and walkers == 1:  # of several nobody knows yet which will be best
                watch.hear(trail.tokens(length, row, chosen[row]))
            if finished or frame.bounds[number] <= length:
                ending = Ending(length, row, chosen[row], totals[row], ranks[row], finished)
                endings[number].append(ending)
            else:
                parents.append(row)
        if not parents:
            break
        state = output.state
        rules = [after(rules[row], chosen[row]) for row in parents]
        if len(parents) < len(alive):
            kept = torch.tensor(parents, device=tokens.device)
            tokens, scores, state = tokens[kept], scores[kept], state.select(kept)
            alive, chosen = [alive[row] for row in parents], [chosen[row] for row in parents]
            totals = [totals[row] for row in parents]
    return [Found(tuple(map(trail.trace, best_first(some)))) for some in endings]
