"""Folders of a cache that appear whole or not at all, whoever else builds the same."""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from regard.core.files import locked, sync

_UNFINISHED = ".unfinished-"


@contextmanager
def workshop(cache: Path) -> Iterator[Path]:
    """A folder to build in, which is gone afterwards. Those that killed processes left behind go too."""
    cache.mkdir(parents=True, exist_ok=True)
    room = cache / f"{_UNFINISHED}{secrets.token_hex(8)}"
    with locked(cache):  # so that nobody takes the new one for one that was left behind
        for other in cache.glob(f"{_UNFINISHED}*"):
            with suppress(OSError), locked(other, wait=False):
                shutil.rmtree(other, ignore_errors=True)
        room.mkdir()
        stack = ExitStack()
        stack.enter_context(locked(room))
    with stack:
        try:
            yield room
        finally:
            shutil.rmtree(room, ignore_errors=True)


def publish(room: Path, home: Path, is_whole: Callable[[Path], bool]) -> None:
    """Give the finished folder its name, unless another process was quicker with the same content."""
    if home.exists() and not is_whole(home):
        damaged = home.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
        with suppress(FileNotFoundError):  # another process may be mending it too
            home.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    try:
        room.rename(home)
    except OSError:
        if not home.exists():
            raise
    sync(home.parent)
