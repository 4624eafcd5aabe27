"""The command line as a person uses it: real processes."""

import os
import subprocess
import sys
from pathlib import Path

import forked

TINY = """
[task]
name = "dates"
locales = ["en", "fr"]
pairs = 400

[data]
validation_size = 12
test_size = 20

[text.source]
kind = "characters"
vocabulary = 100

[text.target]
kind = "characters"
vocabulary = 20

[model]
embedding = 8
dropout = 0.2
encoder.width = 8
decoder.width = 16

[training]
steps = 24
batch_tokens = 512
warmup = 4
log_every = 4
validate_every = 8
save_every = 3
samples = 2
tensorboard = false

[search]
max_length = 14

[evaluation]
metrics = ["exact_match", "character_error_rate"]
"""


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "regard", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", "PYTHONWARNINGS": "error"}


def regard(
    *arguments: str | Path, folder: Path, stdin: bytes = b"", code: int | None = 0
) -> subprocess.CompletedProcess[bytes]:
    """Runs `regard` in a folder; checks its exit code and that nobody is ever shown a traceback."""
    words = command(*arguments)[1:]
    done = forked.run(words, folder=folder, stdin=stdin, environment=environment(), timeout=300)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert code is None or done.returncode == code, (done.returncode, done.stderr.decode())
    return done


def start(*arguments: str | Path, folder: Path) -> forked.Started:
    return forked.Started(command(*arguments)[1:], folder=folder, environment=environment())


def sentence(done: subprocess.CompletedProcess[bytes]) -> str:
    """What an error said: one line, which starts with 'Error:'."""
    text = done.stderr.decode()
    lines = [line for line in text.splitlines() if line.startswith("Error:")]
    assert len(lines) == 1, text
    return lines[0]
