"""Copying and reversing: what a small model must be able to learn."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from small import search

from regard.core.batch import Batch, Tokens
from regard.core.pieces import END
from regard.models import Seq2Seq
from regard.search import Hypothesis, SearchPlan
from regard.training import SCHEDULES, CrossEntropy

FIRST = END + 1  # the pieces up to it are marks
TASKS: dict[str, Callable[[list[int]], list[int]]] = {
    "copy": lambda row: row,
    "reverse": lambda row: row[::-1],
}


@dataclass(frozen=True)
class Strings:
    """Rows of 1 to `longest` letters, drawn anew for each batch, to be copied or reversed."""

    task: str
    letters: int = 8
    longest: int = 10
    rows: int = 64

    @property
    def vocabulary(self) -> int:
        return FIRST + self.letters

    def batch(self, seed: int, longest: int | None = None) -> Batch:
        generator = torch.Generator().manual_seed(seed)
        most = min(longest or self.longest, self.longest)
        lengths = torch.randint(1, most + 1, (self.rows,), generator=generator).tolist()
        drawn = [torch.randint(FIRST, self.vocabulary, (n,), generator=generator).tolist() for n in lengths]
        answers = [TASKS[self.task](row) for row in drawn]
        return Batch(Tokens.pad([[*row, END] for row in drawn]), Tokens.pad([[*row, END] for row in answers]))


def train(
    net: Seq2Seq,
    strings: Strings,
    *,
    steps: int,
    rate: float = 0.005,
    growing: bool = True,
    enough: float = 1.01,
    objective: CrossEntropy | None = None,
) -> None:
    """Growing strings reach their full length at half of the steps: most models learn them sooner that way.

    From then on it may end early: when a share that is `enough` of other strings is right.
    """
    objective = objective or CrossEntropy()
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = SCHEDULES["cosine"](warmup=steps // 10)
    net.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * schedule(step + 1, steps)
        longest = 2 + 2 * step * strings.longest // steps if growing else None
        loss = objective(net, strings.batch(step, longest))
        optimizer.zero_grad()
        (loss.total / loss.tokens).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if enough <= 1 and step >= steps // 2 and step % (steps // 10) == 0:
            if share_right(net, replace(strings, rows=256), seed=2_000_000) >= enough:
                return
            net.train()


def answers(net: Seq2Seq, strings: Strings, seed: int = 1_000_000) -> tuple[Batch, list[Hypothesis]]:
    """Strings that were not trained on, and what the model makes of them."""
    unseen = strings.batch(seed)
    net.eval()
    with torch.inference_mode():
        return unseen, [found[0] for found in search(net, unseen.source, SearchPlan())]


def share_right(net: Seq2Seq, strings: Strings, seed: int = 1_000_000) -> float:
    unseen, found = answers(net, strings, seed)
    wanted = [row[:n].tolist() for row, n in zip(unseen.target.ids, unseen.target.lengths, strict=True)]
    return sum(list(one.tokens) == row for one, row in zip(found, wanted, strict=True)) / len(found)
