"""Who shares a batch with whom."""

import asyncio
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from regard.core.prediction import Request
from regard.search import SearchPlan
from regard.server.problems import Problem
from regard.server.settings import Limits
from regard.server.work import Job, Line, Way

GREEDY = Way("model", SearchPlan(), "none")  # type: ignore[arg-type]
BEAM = replace(GREEDY, plan=SearchPlan(beam=4))


def in_loop(test: Any) -> Any:
    async def run() -> None:
        test()

    return lambda: asyncio.run(run())


def jobs(way: Way, count: int, *, age: float = 1.0) -> list[Job]:
    made = [Job(way, Request(str(n)), deadline=time.monotonic() + 60) for n in range(count)]
    for job in made:
        job.since -= age
    return made


@in_loop
def test_what_is_asked_the_same_way_shares_a_batch_and_the_oldest_comes_first() -> None:
    line = Line(Limits(batch=3))
    first, second, third = jobs(BEAM, 1), jobs(GREEDY, 4), jobs(BEAM, 1)
    for some in (first, second, third):
        line.put(some)
    assert line.take() == first + third
    assert line.take() == second[:3]
    assert line.take() == second[3:]
    assert len(line) == 0


@in_loop
def test_a_new_job_waits_a_little_for_others_and_not_for_ever() -> None:
    line = Line(Limits(batch=3, batch_seconds=0.5))
    first, later = jobs(GREEDY, 1, age=0), jobs(GREEDY, 2, age=0)
    line.put(first)
    threading.Timer(0.05, line.put, [later]).start()
    assert line.take() == first + later
    line.put(first)
    assert line.take() == first


@in_loop
def test_one_that_was_forgotten_is_not_taken() -> None:
    line = Line(Limits())
    some = jobs(GREEDY, 3)
    line.put(some)
    line.forget(some[:1])
    assert line.take() == some[1:]


@in_loop
def test_a_full_line_says_when_to_come_back() -> None:
    line = Line(Limits(queue=4))
    line.rate = 2.0
    line.put(jobs(GREEDY, 4))
    with pytest.raises(Problem) as refused:
        line.put(jobs(GREEDY, 1))
    assert refused.value.status == 429
    assert refused.value.headers == {"Retry-After": "2"}


@in_loop
def test_a_closed_line_gives_what_is_left_and_then_nothing() -> None:
    line = Line(Limits(batch=2))
    some = jobs(GREEDY, 3, age=0)
    line.put(some)
    line.close()
    assert line.take() == some[:2]
    assert line.take() == some[2:]
    assert line.take() == []


@in_loop
def test_a_job_is_wanted_until_it_is_left_or_late() -> None:
    (job,) = jobs(GREEDY, 1)
    assert job.wanted()
    job.deadline = time.monotonic()
    assert not job.wanted()
    (job,) = jobs(GREEDY, 1)
    job.leave()
    assert not job.wanted()
