"""Files that appear whole or not at all."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, content: bytes | str) -> None:
    with _whole(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def copy_whole(source: Path, path: Path) -> None:
    with source.open("rb") as original, _whole(path) as file:
        shutil.copyfileobj(original, file)


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """Written under a temporary name, synced and renamed: a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.writing")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """The lock goes with its process, however that ends. An OSError where another has it and nobody waits."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to write into, which then appears under its name, in the place of an older one, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writing, old = (path.with_name(f".{path.name}.{os.getpid()}.{word}") for word in ("writing", "old"))
    shutil.rmtree(writing, ignore_errors=True)  # of a process that had this number and was killed
    try:
        writing.mkdir()
        yield writing
        for part in writing.rglob("*"):
            sync(part)
        sync(writing)
        if path.exists():
            path.rename(old)
        try:
            writing.rename(path)
        except BaseException:  # Ctrl-C too
            if old.exists() and not path.exists():
                old.rename(path)
            raise
        sync(path.parent)
    finally:
        shutil.rmtree(writing, ignore_errors=True)
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)


def sync(path: Path) -> None:
    """Makes sure that a file or the names in a folder are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
