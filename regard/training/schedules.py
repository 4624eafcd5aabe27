"""Schedules: the learning rate at a step of so many, as a share of the highest one. Pure functions of both."""

import math
from collections.abc import Callable

Schedule = Callable[[float, float], float]  # step, steps in all


def constant(*, warmup: int) -> Schedule:
    """Rises linearly for `warmup` steps, then stays."""
    return lambda step, steps: _rise(step, warmup)


def inverse_sqrt(*, warmup: int) -> Schedule:
    """Rises linearly, then falls with 1/√step (Vaswani et al. 2017, section 5.3)."""
    return lambda step, steps: _rise(step, warmup) * math.sqrt(max(warmup, 1) / max(step, warmup, 1))


def linear(*, warmup: int) -> Schedule:
    """Rises linearly, then falls linearly to zero at the last step."""
    return lambda step, steps: _rise(step, warmup) * (1 - _fall(step, warmup, steps))


def cosine(*, warmup: int) -> Schedule:
    """Rises linearly, then falls to zero at the last step along half a cosine (Loshchilov & Hutter 2017)."""
    return lambda step, steps: _rise(step, warmup) * (1 + math.cos(math.pi * _fall(step, warmup, steps))) / 2


def _rise(step: float, warmup: int) -> float:
    return min(1.0, step / warmup) if warmup else 1.0


def _fall(step: float, warmup: int, steps: float) -> float:
    """How much of the way from the end of the warm-up to the last step is done, 0 to 1."""
    return min(1.0, max(0.0, (step - warmup) / max(1, steps - warmup)))


SCHEDULES = {"constant": constant, "inverse_sqrt": inverse_sqrt, "linear": linear, "cosine": cosine}
