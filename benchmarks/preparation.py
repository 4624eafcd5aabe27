"""How fast a big corpus is prepared, in how much memory, on how many cores; and how soon a second start is ready.

    python benchmarks/preparation.py --pairs 2000000

Makes a corpus of made-up words (some pairs come twice, some are too long), reads, filters and splits it, learns the
pieces, writes the store, and then does all that again in a new process, as a second `regard train` would. `elsewhere`
is the share of the processor seconds that other processes spent, one for each core; pieces are learned on all cores by
threads. Memory is the highest of all processes together (what they share is counted once), less that of one which has
imported everything and done nothing. The corpus stays in --folder for the next time.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regard import build
from regard.config import Config, parse_config
from regard.core.cores import VARIABLE, cores
from regard.data import cache_folder, open_store

WORDS = 200_000  # different ones on each side
CHUNK = 50_000  # pairs that are made at once
MEBIBYTE = 2**20
EVERY = 0.25  # seconds between two looks at the memory


def made(path: Path, pairs: int) -> None:
    """Sentences of words that are as rare as words are (Zipf), the target about as long as the source."""
    chance = np.random.default_rng(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]

    def lexicon() -> np.ndarray[Any, Any]:
        drawn = chance.integers(0, len(syllables), (WORDS, 4)).tolist()
        counts = chance.integers(1, 5, WORDS).tolist()
        words = [
            "".join(syllables[one] for one in row[:count]) for row, count in zip(drawn, counts, strict=True)
        ]
        return np.array(words, dtype=object)

    sources, targets = lexicon(), lexicon()
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        for start in range(0, pairs, CHUNK):
            lengths = np.minimum(chance.poisson(11, min(CHUNK, pairs - start)) + 1, 60)
            words = np.minimum(chance.zipf(1.2, int(lengths.sum())), WORDS) - 1
            ends = np.cumsum(lengths)
            lines = [
                f"{' '.join(sources[words[end - length : end]])}\t{' '.join(targets[words[end - length : end]])}\n"
                for end, length in zip(ends, lengths, strict=True)
            ]
            file.writelines(lines)
    part.rename(path)


@dataclass(frozen=True)
class Stage:
    name: str
    seconds: float
    processor: float  # seconds on all cores together
    elsewhere: float  # of these, in other processes
    mebibytes: float  # above the interpreter


class Memory(threading.Thread):
    """The highest memory of this process and those it started, looked at again and again."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.base = _memory()
        self.most = self.base

    def run(self) -> None:
        while True:
            self.most = max(self.most, _memory())
            time.sleep(EVERY)

    def since(self) -> float:
        """Above the interpreter, since it was last asked."""
        found, self.most = max(self.most, _memory()), _memory()
        return (found - self.base) / MEBIBYTE


def _memory() -> int:
    """Bytes; pages that several processes share are counted once."""
    found, waiting = 0, [os.getpid()]
    while waiting:
        number = waiting.pop()
        try:
            for thread in Path(f"/proc/{number}/task").iterdir():
                waiting += map(int, (thread / "children").read_text().split())
            rollup = Path(f"/proc/{number}/smaps_rollup").read_text()
        except OSError:  # it has just ended
            continue
        found += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) * 1024
    return found


def prepared(config: Config) -> tuple[list[Stage], str]:
    """What `regard train` does before its first step, in this process; and what became of the pairs."""
    memory = Memory()
    memory.start()
    stages: list[Stage] = []

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        started, (here, elsewhere) = time.perf_counter(), _processor()
        yield
        seconds, (here_now, elsewhere_now) = time.perf_counter() - started, _processor()
        others = elsewhere_now - elsewhere
        stages.append(Stage(name, seconds, here_now - here + others, others, memory.since()))

    with stage("read, filter, split"):
        examples = build.task(config).examples()
    with stage("learn the pieces"):
        codec = build.learn_codec(config, examples)
    with stage("encode, store"):
        stores = cache_folder() / "stores"
        store = open_store(
            stores, examples.train, codec.source, codec.target, build.limits(config), codec.tags
        )
    said = [*examples.reports(), f"store: {store.report}, {store.fingerprint}"]
    return stages, "\n".join(said)


def _processor() -> tuple[float, float]:
    """Seconds of processor time, of this process and of those it started that have ended."""
    found = os.times()
    return found.user + found.system, found.children_user + found.children_system


def configuration(corpus: Path, pairs: int) -> Config:
    document = {
        "task": {"name": "translation"},
        "data": {
            "train": str(corpus),
            "validation_size": min(1000, pairs // 20),
            "test_size": min(2000, pairs // 10),
            "filter": {
                "empty": True,
                "identical": True,
                "duplicates": True,
                "max_characters": 400,
                "max_ratio": 3.0,
                "source_scripts": ["Latin"],
                "target_scripts": ["Latin"],
            },
        },
        "text": {"shared": True, "source": {"kind": "bpe", "vocabulary": 16_000}},
    }
    return parse_config(document, origin="the benchmark")


def in_new_process(work: Callable[..., Any], *arguments: Any) -> Any:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--cores", type=int, default=cores(), help="default: all (%(default)s)")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "regard-preparation")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    corpus = asked.folder / f"{asked.pairs}.tsv"
    if not corpus.exists():
        made(corpus, asked.pairs)
    with tempfile.TemporaryDirectory(dir=asked.folder) as cache:
        os.environ |= {"REGARD_CACHE": cache, VARIABLE: str(asked.cores)}
        config = configuration(corpus, asked.pairs)
        stages, said = in_new_process(prepared, config)
        again, said_again = in_new_process(prepared, config)
    assert said == said_again, "a second start finds what the first one made"
    lines = [
        f"{asked.pairs:,} pairs, {corpus.stat().st_size / MEBIBYTE:.0f} MiB, {asked.cores} cores",
        "",
        "| stage | seconds | pairs per second | processor seconds | processor / seconds | elsewhere | MiB |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *(row(stage, asked.pairs) for stage in (*stages, total("all", stages), total("second start", again))),
        "",
        said,
    ]
    sys.stdout.write("\n".join(lines) + "\n")


def row(stage: Stage, pairs: int) -> str:
    busy = f"{stage.processor:.1f} | {stage.processor / stage.seconds:.2f}"
    rate = f"{pairs / stage.seconds:,.0f}"
    elsewhere = (
        f"{stage.elsewhere / stage.processor:.0%}" if stage.processor else "0%"
    )  # its clock has coarse ticks
    return f"| {stage.name} | {stage.seconds:.1f} | {rate} | {busy} | {elsewhere} | {stage.mebibytes:.0f} |"


def total(name: str, stages: Sequence[Stage]) -> Stage:
    return Stage(
        name,
        sum(stage.seconds for stage in stages),
        sum(stage.processor for stage in stages),
        sum(stage.elsewhere for stage in stages),
        max(stage.mebibytes for stage in stages),
    )


if __name__ == "__main__":
    main()
