import math
import operator
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.core.cores import cores, mapped
from regard.core.errors import UserError

THREADS = ["OMP_NUM_THREADS", "MKL_NUM_THREADS"]


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CORES", "2")


def test_results_come_in_the_order_of_the_items() -> None:
    numbers = list(range(60))
    assert list(mapped(math.factorial, numbers)) == [math.factorial(number) for number in numbers]


def test_the_work_is_done_elsewhere_if_there_is_much_of_it() -> None:
    def numbers(items: int) -> set[str]:
        return set(mapped(os.readlink, ["/proc/self"] * items))

    assert str(os.getpid()) not in numbers(40)
    assert numbers(3) == {str(os.getpid())}


def test_each_process_has_one_thread_whatever_this_one_has(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in THREADS:
        monkeypatch.setenv(name, "2")
    assert set(mapped(os.getenv, THREADS * 20)) == {"1"}


def test_one_core_works_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CORES", "1")
    assert set(mapped(os.readlink, ["/proc/self"] * 40)) == {str(os.getpid())}


def test_no_more_is_taken_than_is_soon_needed() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = mapped(math.sqrt, items())
    next(results)
    assert len(taken) < 20
    results.close()  # type: ignore[attr-defined]


def test_an_error_is_raised_where_its_result_would_come() -> None:
    results = mapped(math.sqrt, [1.0] * 20 + [-1.0] + [1.0] * 20)
    assert [next(results) for _ in range(20)] == [1.0] * 20
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        next(results)


def test_a_result_that_cannot_be_sent_is_told_as_that_and_not_as_a_lack_of_memory() -> None:
    with pytest.raises(Exception, match=r"[Pp]ickle.*lambda"):
        list(mapped(eval, ["lambda: 1"] * 20))


def test_an_error_that_cannot_be_sent_is_told_with_where_it_was() -> None:
    code = "class Odd(Exception): pass\nraise Odd('of a class that nobody else has')"
    with pytest.raises(RuntimeError, match=r"Traceback(.|\n)*Odd: of a class that nobody else has"):
        list(mapped(exec, [code] * 20))


def test_an_error_that_cannot_be_read_again_is_told_with_where_it_was() -> None:
    """It is read by calling its class with its message, which is not what this class is made of."""
    code = "import tarfile\nraise tarfile.AbsolutePathError(tarfile.TarInfo('/etc'))"
    with pytest.raises(RuntimeError, match=r"Traceback(.|\n)*'/etc' has an absolute path"):
        list(mapped(exec, [code] * 20))


def test_a_process_that_is_killed_is_told_to_the_person() -> None:
    results = mapped(operator.methodcaller("__call__"), [_Suicide()] * 20)
    with pytest.raises(UserError, match="ended from outside"):
        list(results)


class _Suicide:
    """Sent as a call that kills whoever reads it."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("__import__('os').kill(__import__('os').getpid(), 9)",)


def test_workers_end_with_the_one_that_started_them() -> None:
    code = (
        "import time, os\n"
        "from regard.core.cores import mapped\n"
        "results = mapped(os.readlink, ['/proc/self'] * 1000)\n"
        "print(*{next(results) for _ in range(50)}, flush=True)\n"
        "time.sleep(60)\n"
    )
    started = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    workers = started.stdout.readline().split()
    assert workers
    assert all(Path(f"/proc/{number}").exists() for number in workers)
    started.send_signal(signal.SIGKILL)
    started.wait()
    started.stdout.close()
    for _ in range(600):
        if not any(_is_alive(number) for number in workers):
            return
        time.sleep(0.1)
    pytest.fail(f"still there: {workers}")


def _is_alive(number: str) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", ["0", "many", "-1", "²", ""])
def test_a_number_of_cores_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    monkeypatch.setenv("REGARD_CORES", number)
    with pytest.raises(UserError, match="REGARD_CORES is"):
        cores()


def test_workers_need_no_torch() -> None:
    code = (
        "import sys, regard.core.worker, regard.data.encoding, regard.data.sifting, regard.data.selected\n"
        "import regard.tasks.directions\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
