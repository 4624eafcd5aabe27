"""The same pieces and the same batches for everybody: Multi30k, German to English, joint BPE."""

import json
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contract import MARKS, VOCABULARY, Batch

from regard.text import TOKENIZERS, Tokenizer

LONGEST_PIECES = 100
POOL = 20  # batches whose rows are sorted together
SEED = 1


def multi30k() -> Path:
    folder = Path(os.environ.get("REGARD_DATA", "")) / "multi30k"
    if not (folder / "train.de").is_file():
        raise SystemExit("Multi30k is not here. `regard data multi30k` fetches it; then set REGARD_DATA.")
    return folder


def lines(name: str) -> list[str]:
    return (multi30k() / name).read_text(encoding="utf-8").splitlines()


def prepare(folder: Path, batch_tokens: int, count: int) -> Path:
    """Pieces, `count` batches to train on and sources to answer, in a file that every worker reads."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"batches-{batch_tokens}-{count}.json"
    if path.is_file():
        return path
    tokenizer = pieces(folder)
    sides = [[tokenizer.encode(line) for line in lines(f"train.{side}")] for side in ("de", "en")]
    pairs = [pair for pair in zip(*sides, strict=True) if all(map(_fits, pair))]
    made = batches(pairs, batch_tokens, random.Random(SEED))[:count]
    asked = {line: tokenizer.encode(line) for line in lines("test2016.de")}
    asked = {line: row for line, row in asked.items() if _fits(row)}
    (folder / "sources.txt").write_text("\n".join(asked) + "\n")
    sources = list(asked.values())
    told: dict[str, Any] = {
        "batches": [[batch.sources, batch.targets] for batch in made],
        "sources": sources,
    }
    path.write_text(json.dumps(told))
    return path


def _fits(row: Sequence[int]) -> bool:
    return 0 < len(row) <= LONGEST_PIECES and min(row) >= MARKS


def pieces(folder: Path) -> Tokenizer:
    """The tokenizer, learned once."""
    path = folder / "tokenizer.json"
    if path.is_file():
        return Tokenizer.load(path)
    both = [line for side in ("de", "en") for line in lines(f"train.{side}")]
    tokenizer = TOKENIZERS["bpe"](both, vocabulary=VOCABULARY)
    tokenizer.save(path)
    return tokenizer


Pair = tuple[Sequence[int], Sequence[int]]


def batches(pairs: Sequence[Pair], tokens: int, chance: random.Random) -> list[Batch]:
    """Each of about so many target pieces, of rows that are alike in length, in an order by chance."""
    order = list(pairs)
    chance.shuffle(order)
    made: list[Batch] = []
    size = POOL * tokens
    pool: list[Pair] = []
    held = 0
    for pair in order:
        pool.append(pair)
        held += len(pair[1]) + 1
        if held >= size:
            made.extend(_cut(pool, tokens))
            pool, held = [], 0
    made = made or _cut(pool, tokens)
    chance.shuffle(made)
    return made


def _cut(pool: Sequence[Pair], tokens: int) -> list[Batch]:
    made: list[Batch] = []
    rows: list[Pair] = []
    held = 0
    for pair in sorted(pool, key=lambda pair: (len(pair[1]), len(pair[0]))):
        rows.append(pair)
        held += len(pair[1]) + 1
        if held >= tokens:
            made.append(Batch([source for source, _ in rows], [target for _, target in rows]))
            rows, held = [], 0
    return made
