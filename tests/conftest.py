"""Shared by all tests: each of pytest's workers has a thread, a core and a cache folder of its own, and no network."""

import signal
import sys
from pathlib import Path

import hypothesis
import pytest
import torch
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers beside this file

from offline import go_offline

go_offline()

# On a busy machine an example takes as long as it takes.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


@pytest.fixture(autouse=True, scope="session")
def _signals() -> None:
    """Tests press Ctrl-C and hang up. What a shell starts in the background ignores the one, what nohup starts the
    other, and so would all that is started from there.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(autouse=True)
def _one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CORES", "1")


class Shares(LoadScopeScheduling):
    """The tests of a file share what they set up, so that one worker gets them all; those that learn share nothing."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if "/learning/" in nodeid else nodeid.split("::", 1)[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Shares:
    return Shares(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no worker is left with it when the others are done."""
    slow = ("learning", "documents", "journeys")
    items.sort(
        key=lambda item: next((n for n, kind in enumerate(slow) if kind in item.path.parts), len(slow))
    )
