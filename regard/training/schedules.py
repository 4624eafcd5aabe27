"""Schedules: the learning rate at a step, as a share of the highest one. Pure functions of the step."""

import math
from collections.abc import Callable

Schedule = Callable[[int], float]


def constant(*, warmup: int, steps: int) -> Schedule:  # noqa: ARG001 (all schedules are made alike)
    """Rises linearly for `warmup` steps, then stays."""
    return lambda step: _rise(step, warmup)


def inverse_sqrt(*, warmup: int, steps: int) -> Schedule:  # noqa: ARG001
    """Rises linearly, then falls with 1/√step (Vaswani et al. 2017, section 5.3)."""
    return lambda step: _rise(step, warmup) * math.sqrt(max(warmup, 1) / max(step, warmup, 1))


def linear(*, warmup: int, steps: int) -> Schedule:
    """Rises linearly, then falls linearly to zero at the last step."""
    return lambda step: _rise(step, warmup) * (1 - _fall(step, warmup, steps))


def cosine(*, warmup: int, steps: int) -> Schedule:
    """Rises linearly, then falls to zero at the last step along half a cosine (Loshchilov & Hutter 2017)."""
    return lambda step: _rise(step, warmup) * (1 + math.cos(math.pi * _fall(step, warmup, steps))) / 2


def _rise(step: int, warmup: int) -> float:
    return min(1.0, step / warmup) if warmup else 1.0


def _fall(step: int, warmup: int, steps: int) -> float:
    """How much of the way from the end of the warm-up to the last step is done, 0 to 1."""
    return min(1.0, max(0.0, (step - warmup) / max(1, steps - warmup)))


SCHEDULES = {"constant": constant, "inverse_sqrt": inverse_sqrt, "linear": linear, "cosine": cosine}
