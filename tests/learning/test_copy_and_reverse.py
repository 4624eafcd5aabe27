"""Small models really learn."""

from pathlib import Path

import pytest
import torch
from small import VOCABULARY, attention, built

from regard.core.batch import Batch, Tokens
from regard.core.pieces import END
from regard.decoders import BRIDGES, LookThenStep, Stack
from regard.encoders import RecurrentEncoder
from regard.layers import READOUTS, Embedding
from regard.models import Seq2Seq
from regard.search import Hypothesis, SearchPlan
from regard.training import SCHEDULES, Checkpoints, CrossEntropy, Loop, Plan, Validation

TASKS = {"copy": lambda row: row, "reverse": lambda row: row[::-1]}


class Sequences:
    """Rows of 2 to `longest` pieces, drawn anew for each batch."""

    def __init__(self, task: str, *, longest: int):
        self.answer = TASKS[task]
        self.longest = longest

    def length(self, epoch: int) -> int:
        return 1000

    def batch(self, epoch: int, position: int) -> Batch:
        generator = torch.Generator().manual_seed(1000 * epoch + position)
        lengths = torch.randint(2, self.longest + 1, (64,), generator=generator).tolist()
        rows = [torch.randint(4, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]
        return Batch(
            Tokens.pad([[*row, END] for row in rows]), Tokens.pad([[*self.answer(row), END] for row in rows])
        )


def model(cell: str) -> Seq2Seq:
    torch.manual_seed(1)
    encoder = RecurrentEncoder(Embedding(VOCABULARY, 32), cell=cell, width=64)
    look = attention("additive", width=64)
    stack = Stack(32, 64, late=64, cell=cell)
    bridge = BRIDGES["projection"](64, stack.state_width, layers=1)
    readout = READOUTS["maxout"](32, 64, 64, width=64)
    return Seq2Seq(encoder, LookThenStep(Embedding(VOCABULARY, 32), look, stack, bridge, readout))


def convolutional() -> Seq2Seq:
    sizes = [f"model.{side}.{size}" for side in ("encoder", "decoder") for size in ("width=48", "layers=3")]
    return built("model.preset=convs2s", "model.embedding=48", "model.dropout=0", *sizes)


def learn(net: Seq2Seq, examples: Sequences, *, steps: int, folder: Path) -> None:
    plan = Plan(
        steps=steps,
        accumulate=1,
        learning_rate=0.01,
        clip=1.0,
        precision="float32",
        log_every=100,
        validate_every=steps,
        save_every=steps,
        patience=None,
        higher_is_better=False,
    )
    loop = Loop(
        net.train(),
        examples,
        CrossEntropy(),
        torch.optim.Adam(net.parameters()),
        SCHEDULES["cosine"](warmup=20, steps=steps),
        plan,
        checkpoints=Checkpoints(folder),
        validate=lambda: Validation(0.0, {}, []),
        judge=lambda validation: validation.loss,
        device=torch.device("cpu"),
    )
    for _ in loop.run():
        pass


def answers(net: Seq2Seq, unseen: Batch) -> list[Hypothesis]:
    net.eval()
    with torch.inference_mode():
        return SearchPlan(beam=1)(net, unseen.source, unseen.source.lengths)


def right(found: list[Hypothesis], unseen: Batch) -> int:
    wanted = [
        tuple(row[:n].tolist()) for row, n in zip(unseen.target.ids, unseen.target.lengths, strict=True)
    ]
    return sum(one.tokens == row for one, row in zip(found, wanted, strict=True))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_additive_model_learns_to(task: str, cell: str, tmp_path: Path) -> None:
    net, examples = model(cell), Sequences(task, longest=10)
    learn(net, examples, steps=500, folder=tmp_path)
    unseen = examples.batch(9, 9)
    found = answers(net, unseen)
    assert right(found, unseen) >= 62  # of 64: 97 %
    if task == "reverse":
        assert anti_diagonal(found, unseen.source.lengths.tolist()) > 0.9


@pytest.mark.parametrize("task", TASKS)
def test_the_convolutional_model_learns_to(task: str, tmp_path: Path) -> None:
    """Its three layers see seven pieces: what stands farther away, attention must bring home."""
    net, examples = convolutional(), Sequences(task, longest=20)
    learn(net, examples, steps=300, folder=tmp_path)
    unseen = examples.batch(9, 9)
    found = answers(net, unseen)
    assert right(found, unseen) >= 62  # of 64: 97 %
    if task == "reverse":
        assert anti_diagonal(found, unseen.source.lengths.tolist()) > 0.9


def anti_diagonal(found: list[Hypothesis], lengths: list[int]) -> float:
    """The share of steps whose looks, all layers together, were hardest at the piece to give or right beside it."""
    near = [
        abs(int(weights.argmax()) - (length - 2 - step)) <= 1
        for one, length in zip(found, lengths, strict=True)
        for step, weights in enumerate(one.attention["cross"].mean((0, 1))[: length - 1])
    ]
    return sum(near) / len(near)
