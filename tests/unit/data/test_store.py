import errno
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from regard.core.errors import UserError
from regard.core.pieces import BEGIN, END
from regard.data import (
    Filters,
    Limits,
    Pair,
    PairReport,
    SelectedPairs,
    TokenStore,
    TsvFile,
    Wanted,
    lines,
    open_store,
    select,
    store,
)
from regard.data.rows import RowsWriter
from regard.text import TOKENIZERS

SOURCE = TOKENIZERS["characters"](["abc def"], vocabulary=20)
TARGET = TOKENIZERS["bpe"](["ABC DEF"], vocabulary=300)
LIMITS = Limits(source=5, target=8)
PAIRS = [
    Pair("abc", "ABC DEF"),
    Pair(" \t\u2028", "ABC"),
    Pair("abc", ""),
    Pair("abcdef", "ABC"),
    Pair("abcdef", "A" * 99),
    Pair("abc", "x" * 99),
    Pair("fed", "D"),
]


def opened(cache: Path, pairs: Iterable[Pair] = tuple(PAIRS), limits: Limits = LIMITS) -> TokenStore:
    return open_store(cache, lambda: pairs, SOURCE, TARGET, limits)


def rows(found: TokenStore) -> list[tuple[list[int], list[int]]]:
    return [(found.sources[number].tolist(), found.targets[number].tolist()) for number in range(len(found))]


KEPT = [
    ([*SOURCE.encode(source), END], [*TARGET.encode(target), END])
    for source, target in (PAIRS[0].sides, PAIRS[6].sides)
]


def test_kept_pairs_are_stored_in_order_with_the_end_mark(tmp_path: Path) -> None:
    found = opened(tmp_path / "deep" / "cache")
    assert rows(found) == KEPT
    assert found.source_lengths.tolist() == [4, 4]
    assert found.target_lengths.tolist() == [len(target) for _, target in KEPT]


def test_every_pair_left_out_is_counted_once(tmp_path: Path) -> None:
    assert opened(tmp_path).report == PairReport(kept=2, empty=2, source_too_long=2, target_too_long=1)


def test_limits_leave_the_end_mark_out_of_the_count(tmp_path: Path) -> None:
    pairs = [Pair("abcde", "A"), Pair("abcdef", "A")]
    assert opened(tmp_path, pairs).report == PairReport(kept=1, source_too_long=1)


def test_a_batch_is_padded_and_fed_with_the_begin_mark(tmp_path: Path) -> None:
    found = opened(tmp_path, [Pair("a", "ABC"), Pair("abc", "A")])
    batch = found.batch(np.array([1, 0]))
    assert batch.source.ids.tolist() == [[*SOURCE.encode("abc"), END], [*SOURCE.encode("a"), END, 0, 0]]
    assert batch.source.lengths.tolist() == [4, 2]
    assert batch.target.lengths.tolist() == [len(TARGET.encode("A")) + 1, len(TARGET.encode("ABC")) + 1]
    assert batch.target.fed[:, 0].tolist() == [BEGIN, BEGIN]


def test_chunks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [Pair("abc"[: number % 3 + 1], f"{number}") for number in range(50)]
    whole = rows(opened(tmp_path / "whole", pairs))
    monkeypatch.setattr(store, "_CHUNK_PAIRS", 7)
    monkeypatch.setattr(store, "_CHUNK_CHARACTERS", 12)
    assert rows(opened(tmp_path / "chunked", pairs)) == whole


def counting(pairs: list[Pair]) -> tuple[Callable[[], Iterable[Pair]], list[int]]:
    calls: list[int] = []

    def read() -> Iterable[Pair]:
        calls.append(1)
        return iter(pairs)

    return read, calls


def test_a_store_is_built_once(tmp_path: Path) -> None:
    read, calls = counting(PAIRS)
    first = open_store(tmp_path, read, SOURCE, TARGET, LIMITS)
    assert len(calls) == 2
    second = open_store(tmp_path, read, SOURCE, TARGET, LIMITS)
    assert len(calls) == 3
    assert (rows(second), second.report, second.fingerprint) == (rows(first), first.report, first.fingerprint)
    assert [folder.name for folder in tmp_path.iterdir()] == [first.fingerprint]


def test_whatever_went_in_changes_the_fingerprint(tmp_path: Path) -> None:
    other = TOKENIZERS["characters"](["abc defg"], vocabulary=20)
    pairs = tuple(PAIRS)
    fingerprints = [
        opened(tmp_path).fingerprint,
        opened(tmp_path, pairs[::-1]).fingerprint,
        opened(tmp_path, [*pairs, Pair("a", "b")]).fingerprint,
        opened(tmp_path, limits=Limits(5, 9)).fingerprint,
        open_store(tmp_path, lambda: pairs, other, TARGET, LIMITS).fingerprint,
        # The same letters, cut elsewhere.
        opened(tmp_path, [Pair("ab", "c")]).fingerprint,
        opened(tmp_path, [Pair("a", "bc")]).fingerprint,
    ]
    assert len(set(fingerprints)) == len(fingerprints)


def cut(folder: Path) -> None:
    path = folder / "target.ids.npy"
    path.write_bytes(path.read_bytes()[:-1])


def lose(folder: Path) -> None:
    (folder / "source.offsets.npy").unlink()


def garble(folder: Path) -> None:
    (folder / "store.json").write_text("{")


def overwrite(folder: Path) -> None:
    path = folder / "source.ids.npy"
    path.write_bytes(b"\0" * path.stat().st_size)


@pytest.mark.parametrize("damage", [cut, lose, garble, overwrite])
def test_a_damaged_store_is_built_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    fingerprint = opened(tmp_path).fingerprint
    damage(tmp_path / fingerprint)
    assert rows(opened(tmp_path)) == KEPT
    read, calls = counting(PAIRS)
    open_store(tmp_path, read, SOURCE, TARGET, LIMITS)
    assert len(calls) == 1, "it was mended"
    assert [folder.name for folder in tmp_path.iterdir()] == [fingerprint]


def test_another_process_may_be_quicker(tmp_path: Path) -> None:
    calls = []

    def read() -> Iterable[Pair]:
        calls.append(1)
        if len(calls) == 2:
            opened(tmp_path)
        return PAIRS

    found = open_store(tmp_path, read, SOURCE, TARGET, LIMITS)
    assert rows(found) == KEPT
    assert [folder.name for folder in tmp_path.iterdir()] == [found.fingerprint]


def test_many_may_build_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: rows(opened(tmp_path)), range(16)))
    assert found == [KEPT] * 16
    assert len(list(tmp_path.iterdir())) == 1


def test_an_open_store_outlives_its_folder(tmp_path: Path) -> None:
    found = opened(tmp_path)
    shutil.rmtree(tmp_path / found.fingerprint)
    assert rows(found) == KEPT


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(writer: RowsWriter, rows: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(RowsWriter, "append", full)
    with pytest.raises(OSError, match="No space left"):
        opened(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_pairs_that_change_while_they_are_read_are_refused(tmp_path: Path) -> None:
    versions = iter([PAIRS, PAIRS[:-1]])
    with pytest.raises(UserError, match="changed while they were read"):
        open_store(tmp_path, lambda: next(versions), SOURCE, TARGET, LIMITS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("pairs", [[], [Pair(" ", "a")], [Pair("abcdef", "a")]])
def test_nothing_to_work_with_is_told_to_the_person(tmp_path: Path, pairs: list[Pair]) -> None:
    with pytest.raises(UserError, match="Nothing is left to work with"):
        opened(tmp_path, pairs)
    assert list(tmp_path.iterdir()) == []


def selected(folder: Path, monkeypatch: pytest.MonkeyPatch, pairs: list[Pair]) -> SelectedPairs:
    monkeypatch.setenv("REGARD_CACHE", str(folder / "cache"))
    path = folder / "x.tsv"
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
    asked = Wanted([TsvFile(path)], Filters(), skip=False, validation=0, test=0, seed=1, key="source")
    return select(asked).train


MANY = [Pair("abcdef"[: number % 7], f"A{number}") for number in range(300)]


def test_pairs_from_files_make_the_same_store_on_any_number_of_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_BLOCK_LINES", 23)
    pairs = selected(tmp_path, monkeypatch, MANY)
    plain = opened(tmp_path / "plain", MANY)
    for cores in ("1", "2"):
        monkeypatch.setenv("REGARD_CORES", cores)
        found = open_store(tmp_path / cores, pairs, SOURCE, TARGET, LIMITS)
        assert found.fingerprint == plain.fingerprint
        assert (rows(found), found.report) == (rows(plain), plain.report)
        folders = [tmp_path / cache / plain.fingerprint for cache in ("plain", cores)]
        for name in ("source.ids.npy", "source.offsets.npy", "target.ids.npy", "target.offsets.npy"):
            assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_the_store_of_pairs_from_files_is_found_without_reading_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = selected(tmp_path, monkeypatch, MANY)
    first = open_store(tmp_path / "stores", pairs, SOURCE, TARGET, LIMITS)
    (tmp_path / "x.tsv").unlink()
    assert rows(open_store(tmp_path / "stores", pairs, SOURCE, TARGET, LIMITS)) == rows(first)
    with pytest.raises(UserError, match="no such file"):
        open_store(tmp_path / "stores", pairs, SOURCE, TARGET, Limits(9, 9))


@pytest.mark.parametrize("content", ["", "../../etc", "0" * 32, "\0"])
def test_a_name_that_leads_nowhere_builds_the_store_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    pairs = selected(tmp_path, monkeypatch, MANY)
    first = open_store(tmp_path / "stores", pairs, SOURCE, TARGET, LIMITS)
    (remembered,) = (tmp_path / "stores").glob("*.name")
    remembered.write_text(content)
    assert open_store(tmp_path / "stores", pairs, SOURCE, TARGET, LIMITS).fingerprint == first.fingerprint
    assert remembered.read_text().strip() == first.fingerprint


def test_a_killed_preparation_leaves_no_half_store(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from regard.data import Limits, Pair, open_store
from regard.text import TOKENIZERS
from regard.data.rows import RowsWriter

def killed(writer, rows):
    os.kill(os.getpid(), signal.SIGKILL)

RowsWriter.append = killed
tokenizer = TOKENIZERS["characters"](["abc"], vocabulary=20)
open_store(Path({str(tmp_path)!r}), lambda: [Pair("a", "b")], tokenizer, tokenizer, Limits(9, 9))
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".unfinished-")
    found = opened(tmp_path)
    assert rows(found) == KEPT
    assert [folder.name for folder in tmp_path.iterdir()] == [found.fingerprint], "what it left is swept away"


def test_what_another_process_is_building_is_left_alone(tmp_path: Path) -> None:
    built = []

    def read() -> Iterable[Pair]:
        if not built:
            built.append(1)
            return PAIRS
        inner = opened(tmp_path, [Pair("a", "b")])  # in the middle of building
        return PAIRS if len(inner) else []

    assert rows(open_store(tmp_path, read, SOURCE, TARGET, LIMITS)) == KEPT


def test_half_characters_can_be_stored(tmp_path: Path) -> None:
    found = opened(tmp_path, [Pair("a\ud800", "\udc00")])
    assert found.targets[0].tolist() == [*TARGET.encode("\ufffd"), END]
