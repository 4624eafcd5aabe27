"""Marian, through its Python package: whole trainings, timed by their own log, and answers of several workers.

A training of Marian is one call that reads files, so that no single step can be asked for. Each batch becomes two files
that are an epoch; a short training, which starts anew, goes over them a few times, and the rate that Marian writes into
its log after every update is taken, without the first. Its threads are workers that share out the sentences of a batch.

Of answers, a worker takes whole batches. Their bound goes by the longest source of a batch, so each batch is a call of
its own, in one of several processes with a thread each.
"""

import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contract import LONGEST, MARKS, TRANSFORMER_NAMES, VOCABULARY, Batch, Decode, Shape, Step, Timed, chunks

TITLE = "Marian 1.12.42"
ENVIRONMENT = "marian"
TRAINS = TRANSFORMER_NAMES
LACKS = "its recurrent decoder looks in the midst of a step, which is another model"
DECODERS = ("float32, workers",)
MARKED = ("</s>", "<unk>", "<2>", "<3>")
END = 0
WARM, TIMED = 1, 2  # updates on each batch
NEVER = "1000000u"
UPDATE = re.compile(r" : Cost ([0-9.]+) .* : ([0-9.]+) words/s")
assert len(MARKED) == MARKS


def start() -> None:
    import pymarian  # noqa: F401


def _threads() -> int:
    return int(os.environ["OMP_NUM_THREADS"])


def _words(folder: Path) -> Path:
    """The vocabulary as it wants it: a line for each piece."""
    path = folder / "vocabulary.yml"
    names = [*MARKED, *(f"p{number}" for number in range(MARKS, VOCABULARY))]
    path.write_text("".join(f'"{name}": {number}\n' for number, name in enumerate(names)))
    return path


def _lines(rows: Sequence[Sequence[int]]) -> list[str]:
    return [" ".join(f"p{piece}" for piece in row) for row in rows]


def _training(shape: Shape, folder: Path, batch: Batch, updates: int) -> str:
    """What to call its training with."""
    for name, rows in (("source", batch.sources), ("target", batch.targets)):
        (folder / name).write_text("\n".join(_lines(rows)) + "\n")
    words = _words(folder)
    return f"""--type transformer --model {folder / "model.npz"} --no-reload --overwrite --seed 1
        --train-sets {folder / "source"} {folder / "target"} --vocabs {words} {words} --max-length {LONGEST}
        --dim-emb {shape.width} --enc-depth {shape.layers} --dec-depth {shape.layers} --tied-embeddings-all
        --transformer-heads {shape.heads} --transformer-dim-ffn {shape.inner} --transformer-ffn-activation relu
        --transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n
        --transformer-postprocess-emb d --transformer-dropout {shape.dropout}
        --transformer-dropout-attention 0 --transformer-dropout-ffn 0
        --label-smoothing {shape.smoothing} --cost-type ce-mean-words --clip-norm {shape.clip}
        --optimizer adam --optimizer-params {shape.betas[0]} {shape.betas[1]} --learn-rate {shape.learning_rate}
        --mini-batch {len(batch.sources)} --maxi-batch 1 --shuffle none --sync-sgd --cpu-threads {_threads()}
        --after {updates}u --disp-freq 1u --save-freq {NEVER} --quiet --log {folder / "log"}"""


def trainer(shape: Shape) -> Step:
    from pymarian import Trainer

    folder = _folder()

    def step(batch: Batch) -> Timed:
        log = folder / "log"  # which it goes on with
        known = log.stat().st_size if log.exists() else 0
        Trainer(" ".join(_training(shape, folder, batch, WARM + TIMED).split())).train()
        found = UPDATE.findall(log.read_text()[known:])
        assert len(found) == WARM + TIMED, "an update for each epoch"
        rates = [float(rate) for _, rate in found[WARM:]]
        return Timed(float(found[-1][0]), sum(batch.tokens / rate for rate in rates) / TIMED)

    return step


def decoder(shape: Shape, way: str) -> Decode:
    folder = Path(os.environ["REGARD_BENCH_FOLDER"]) / f"model-{shape.name}-marian"
    if not (folder / "endless.npz").is_file():
        folder.mkdir(exist_ok=True)
        _write_model(shape, folder)
    lines = [_worker(folder) for _ in range(_threads())]

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        jobs = [(_lines(some), _bound(some, beam, steps)) for some in chunks(sources, batch)]
        for number, line in enumerate(lines):
            line.send(jobs[number :: len(lines)])
        answers: list[list[str]] = [[]] * len(jobs)
        for number, line in enumerate(lines):
            answers[number :: len(lines)] = line.recv()
        return [len(answer.split()) for some in answers for answer in some]

    return decode


def _bound(sources: Sequence[Sequence[int]], beam: int, steps: int) -> dict[str, Any]:
    """The longest answer is told as a multiple of the longest source, with its end."""
    longest = max(len(row) + 1 for row in sources)
    return {"beam-size": beam, "max-length-factor": (steps - 0.5) / longest}


def _write_model(shape: Shape, folder: Path) -> None:
    """A model after one update that never ends by itself."""
    import numpy

    batch = Batch([[MARKS]], [[MARKS]])
    command = [sys.executable, "-m", "pymarian", "train", *_training(shape, folder, batch, 1).split()]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    weights = dict(numpy.load(folder / "model.npz"))
    weights["decoder_ff_logit_out_b"][0, END] -= 1000
    numpy.savez(folder / "endless.npz", **weights)


def _worker(folder: Path) -> Any:
    """A process that answers what it is sent, batch by batch; the line to it."""
    context = multiprocessing.get_context("fork")
    line, its = context.Pipe()
    process = context.Process(target=_serve, args=(folder, its), daemon=True)
    process.start()
    line.recv()  # when it is ready
    started.append(process)
    return line


def _serve(folder: Path, line: Any) -> None:
    from pymarian import Translator

    words = folder / "vocabulary.yml"
    translator = Translator(
        f"--models {folder / 'endless.npz'} --vocabs {words} {words} --cpu-threads 1 --normalize 0.6 "
        f"--mini-batch 1000 --maxi-batch 1 --max-length {LONGEST} --quiet --quiet-translation"
    )
    line.send(None)
    while True:
        line.send([translator.translate(texts, **bound) for texts, bound in line.recv()])


started: list[Any] = []  # processes that answer
folders: list[Any] = []  # where trainings write


def _folder() -> Path:
    folders.append(tempfile.TemporaryDirectory(prefix="marian"))
    return Path(folders[-1].name)


def close() -> None:
    for process in started:
        process.terminate()
    for folder in folders:
        folder.cleanup()
