"""Budgets: how much a training may take, in steps, in target pieces and on the clock."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Spent:
    """What a training has taken so far."""

    steps: int
    tokens: int = 0  # target pieces
    seconds: float = 0.0  # in its steps, over all sittings; validating and saving do not count


@dataclass(frozen=True)
class Budget:
    """Training ends when the first of these is used up."""

    steps: int
    tokens: int | None = None
    seconds: float | None = None

    def over(self, spent: Spent) -> str | None:
        """Why training is over, if it is."""
        if spent.steps >= self.steps:
            return f"all {self.steps} steps are done"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"all {self.tokens:,} target pieces are seen"
        if self.seconds is not None and spent.seconds >= self.seconds:
            return f"all {self.seconds / 60:g} minutes are spent"
        return None

    def promised(self, spent: Spent) -> float:
        """How many steps there will be in all, at the pace so far; never fewer than the next one."""
        shares = [
            done / most
            for done, most in ((spent.tokens, self.tokens), (spent.seconds, self.seconds))
            if most is not None
        ]
        share = max(shares, default=0.0)
        if share == 0 or spent.steps == 0:
            return self.steps
        return min(self.steps, max(spent.steps + 1, spent.steps / share))
