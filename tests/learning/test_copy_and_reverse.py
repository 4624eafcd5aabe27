"""Small models really learn."""

from pathlib import Path

import pytest
import torch
from small import VOCABULARY

from regard.attention import SCOPES, SCORES, SELECTIONS, Attention
from regard.core.batch import Batch, Tokens
from regard.core.pieces import END
from regard.decoders import RecurrentDecoder
from regard.encoders import RecurrentEncoder
from regard.layers import Embedding
from regard.models import Seq2Seq
from regard.search import SearchPlan
from regard.training import SCHEDULES, Checkpoints, CrossEntropy, Loop, Plan, Validation

TASKS = {"copy": lambda row: row, "reverse": lambda row: row[::-1]}
STEPS = 500


class Sequences:
    """Rows of 2 to 10 pieces, drawn anew for each batch."""

    def __init__(self, task: str):
        self.answer = TASKS[task]

    def length(self, epoch: int) -> int:
        return STEPS

    def batch(self, epoch: int, position: int) -> Batch:
        generator = torch.Generator().manual_seed(1000 * epoch + position)
        lengths = torch.randint(2, 11, (64,), generator=generator).tolist()
        rows = [torch.randint(4, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]
        return Batch(
            Tokens.pad([[*row, END] for row in rows]), Tokens.pad([[*self.answer(row), END] for row in rows])
        )


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_additive_model_learns_to(task: str, cell: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    encoder = RecurrentEncoder(Embedding(VOCABULARY, 32), cell=cell, width=32)
    look = Attention(SCORES["additive"](64, encoder.width), SCOPES["global"](), SELECTIONS["soft"]())
    decoder = RecurrentDecoder(Embedding(VOCABULARY, 32), look, memory_width=64, cell=cell, width=64)
    model = Seq2Seq(encoder, decoder)
    plan = Plan(
        steps=STEPS,
        accumulate=1,
        learning_rate=0.01,
        clip=1.0,
        precision="float32",
        log_every=100,
        validate_every=STEPS,
        save_every=STEPS,
        patience=None,
        higher_is_better=False,
    )
    loop = Loop(
        model,
        Sequences(task),
        CrossEntropy(),
        torch.optim.Adam(model.parameters()),
        SCHEDULES["cosine"](warmup=20, steps=STEPS),
        plan,
        checkpoints=Checkpoints(tmp_path),
        validate=lambda: Validation(0.0, {}, []),
        judge=lambda validation: validation.loss,
        device=torch.device("cpu"),
    )
    for _ in loop.run():
        pass
    unseen = Sequences(task).batch(9, 9)
    model.eval()
    with torch.inference_mode():
        found = SearchPlan(beam=1)(model, unseen.source, unseen.source.lengths)
    wanted = [
        tuple(row[:n].tolist()) for row, n in zip(unseen.target.ids, unseen.target.lengths, strict=True)
    ]
    right = sum(one.tokens == row for one, row in zip(found, wanted, strict=True))
    assert right >= 62, f"{right} of 64"  # 97 %
