"""Every line in is one line out, every stored pair comes back, every example has a seat."""

import gzip
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.core.pieces import END
from regard.data import (
    BatchPlan,
    Limits,
    Pair,
    ParallelFiles,
    TsvFile,
    in_order,
    open_store,
    read_lines,
    read_pairs,
)
from regard.data.splitting import TEST, TRAIN, VALIDATION, draw, split
from regard.text import TOKENIZERS

TOKENIZER = TOKENIZERS["bpe"](["some text to learn from"], vocabulary=300, normalization="none")

breaks = st.sampled_from(["\n", "\r", "\r\n", "\u2028", "\u0085", "\f", "\v", "\x1c", "\ufeff", "\t", ""])
content = st.lists(st.text(max_size=5) | breaks).map("".join)
lengths = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=80)


def expected_lines(text: str) -> list[str]:
    lines = text.removeprefix("\ufeff").split("\n")
    last = lines.pop()
    return [line.removesuffix("\r") for line in lines] + ([last] if last else [])


@settings(deadline=None)
@given(text=content, packed=st.booleans())
def test_every_line_in_is_one_line_out(text: str, packed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("x.gz" if packed else "x")
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        assert list(read_lines(path)) == list(enumerate(expected_lines(text), start=1))


one_line = st.text(st.characters(exclude_characters="\n\r\t\0\ufeff", exclude_categories=["Cs"]), max_size=9)


@settings(deadline=None)
@given(pairs=st.lists(st.builds(Pair, one_line, one_line, st.just(()), st.just(""))))
def test_pairs_come_back_from_both_kinds_of_text_file(pairs: list[Pair]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "x.tsv").write_bytes("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs).encode())
        (home / "x.a").write_bytes("".join(f"{pair.source}\r\n" for pair in pairs).encode())
        (home / "x.b").write_bytes("".join(f"{pair.target}\n" for pair in pairs).encode())
        files = [TsvFile(home / "x.tsv"), ParallelFiles(home / "x.a", home / "x.b")]
        assert list(read_pairs(files)) == pairs + pairs


@settings(deadline=None, max_examples=40)
@given(
    pairs=st.lists(
        st.builds(Pair, st.text(max_size=9), st.text(max_size=9), st.just(()), st.just("")), max_size=20
    )
)
def test_stored_pairs_come_back(pairs: list[Pair]) -> None:
    pairs = [Pair("first", "pair"), *pairs]
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder), lambda: pairs, TOKENIZER, TOKENIZER, Limits(1_000, 1_000))
        full = [pair for pair in pairs if pair.source.strip() and pair.target.strip()]
        assert store.report.kept == len(store) == len(full)
        assert store.report.total == len(pairs)
        for number, pair in enumerate(full):
            source, target = store.sources[number].tolist(), store.targets[number].tolist()
            assert (source[-1], target[-1]) == (END, END)
            assert Pair(TOKENIZER.decode(source), TOKENIZER.decode(target)) == pair
            assert store.source_lengths[number] == len(source)


@settings(deadline=None)
@given(pairs=lengths, budget=st.integers(1, 200), seed=st.integers(0, 2**40), epoch=st.integers(0, 1_000))
def test_a_plan_seats_everyone_once_within_the_budget(
    pairs: list[tuple[int, int]], budget: int, seed: int, epoch: int
) -> None:
    source, target = np.array(pairs).T
    sizes = np.maximum(source, target)
    plan = BatchPlan(source, target, budget=budget, seed=seed)
    for batches in (plan.epoch(epoch), in_order(sizes, budget)):
        assert sorted(np.concatenate(list(batches)).tolist()) == list(range(len(pairs)))
        assert all(len(batch) == 1 or len(batch) * sizes[batch].max() <= budget for batch in batches)
    again = BatchPlan(source, target, budget=budget, seed=seed)
    again.epoch(epoch + 1)
    assert [batch.tolist() for batch in again.epoch(epoch)] == [batch.tolist() for batch in plan.epoch(epoch)]


@settings(deadline=None)
@given(names=st.lists(st.text(max_size=2), min_size=1, max_size=40), seed=st.integers(0, 9))
def test_parts_share_nothing_and_lose_nothing(names: list[str], seed: int) -> None:
    single = [name for name in set(names) if names.count(name) == 1]
    if len(single) == len(set(names)):
        names = [*names, "one more"]  # someone has to stay for training
    validation, test = (len(single) + 1) // 2, len(single) // 2
    draws = np.array([draw(name, seed) for name in names], dtype=np.uint64)
    found = split(draws, validation=validation, test=test)
    parts = [
        [name for name, at in zip(names, found, strict=True) if at == part]
        for part in (TRAIN, VALIDATION, TEST)
    ]
    assert [len(part) for part in parts[1:]] == [validation, test]
    assert sorted(parts[0] + parts[1] + parts[2]) == sorted(names)
    assert not set(parts[1]) & set(parts[2])
    assert not set(parts[0]) & (set(parts[1]) | set(parts[2]))
