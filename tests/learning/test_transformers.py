"""Small Transformers of a special make really learn."""

from pathlib import Path

import pytest
import torch
from small import VOCABULARY, built

from regard.core.batch import Batch, Tokens
from regard.core.pieces import END
from regard.layers import Experts
from regard.models import Seq2Seq
from regard.search import SearchPlan
from regard.training import SCHEDULES, Checkpoints, CrossEntropy, Loop, Plan, Validation


class Reversed:
    """Rows of pieces to be turned round, drawn anew for each batch."""

    def __init__(self, longest: int, rows: int):
        self.longest = longest
        self.rows = rows

    def length(self, epoch: int) -> int:
        return 100_000

    def batch(self, epoch: int, position: int) -> Batch:
        generator = torch.Generator().manual_seed(1_000_000 * epoch + position)
        lengths = torch.randint(2, self.longest + 1, (self.rows,), generator=generator).tolist()
        rows = [torch.randint(4, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]
        return Batch(
            Tokens.pad([[*row, END] for row in rows]), Tokens.pad([[*row[::-1], END] for row in rows])
        )


def learn(model: Seq2Seq, task: Reversed, folder: Path, *, steps: int, rate: float) -> None:
    plan = Plan(
        steps=steps,
        accumulate=1,
        learning_rate=rate,
        clip=1.0,
        precision="float32",
        log_every=100,
        validate_every=steps,
        save_every=steps,
        patience=None,
        higher_is_better=False,
    )
    loop = Loop(
        model,
        task,
        CrossEntropy(),
        torch.optim.Adam(model.parameters()),
        SCHEDULES["cosine"](warmup=50, steps=steps),
        plan,
        checkpoints=Checkpoints(folder),
        validate=lambda: Validation(0.0, {}, []),
        judge=lambda validation: validation.loss,
        device=torch.device("cpu"),
    )
    for _ in loop.run():
        pass


def right(model: Seq2Seq, unseen: Batch) -> float:
    """The share of rows that come out without a mistake."""
    with torch.inference_mode():
        found = SearchPlan(beam=1)(model.eval(), unseen.source, unseen.source.lengths)
    wanted = [
        tuple(row[:n].tolist()) for row, n in zip(unseen.target.ids, unseen.target.lengths, strict=True)
    ]
    return sum(one.tokens == row for one, row in zip(found, wanted, strict=True)) / len(wanted)


def loads(model: Seq2Seq, unseen: Batch) -> dict[str, torch.Tensor]:
    """Of each layer with experts, the share of the work that each of them is given."""
    found = {}

    def count(name: str, part: Experts, given: tuple[torch.Tensor, torch.Tensor]) -> None:
        vectors, mask = given
        chosen = part.route(vectors[mask]).chosen.flatten()
        found[name] = chosen.bincount(minlength=len(part.experts)) / len(chosen)

    parts = {name: part for name, part in model.named_modules() if isinstance(part, Experts)}
    hooks = [
        part.register_forward_pre_hook(lambda part, given, name=name: count(name, part, given))
        for name, part in parts.items()
    ]
    with torch.inference_mode():
        model.eval()(unseen)
    for hook in hooks:
        hook.remove()
    return found


def small(preset: str, *changes: str) -> Seq2Seq:
    """Two layers on each side, or as `changes` say; `both.` stands for encoder and decoder."""
    both = ["both.width=32", "both.layers=2", "both.heads=4", "both.pre_norm=true"]
    settings = ["attention.heads=4", "dropout=0", "tie=none"]
    for change in (*both, *changes):
        sides = ("encoder.", "decoder.") if change.startswith("both.") else ("",)
        settings += [side + change.removeprefix("both.") for side in sides]
    return built(f"model.preset={preset}", *(f"model.{setting}" for setting in settings))


@pytest.mark.parametrize("balance", [0.01, 0.0])
def test_experts_learn_to_reverse_and_the_penalty_shares_the_work_among_them(
    balance: float, tmp_path: Path
) -> None:
    experts = ["both.feed_forward=32", "both.experts=4", f"both.balance={balance}"]
    model = small("transformer_tiny", *experts)
    learn(model, Reversed(8, rows=32), tmp_path, steps=300, rate=0.008)
    unseen = Reversed(8, rows=128).batch(9, 9)
    assert right(model, unseen) >= 0.9
    shares = torch.stack(list(loads(model, unseen).values()))  # L E
    assert shares.shape == (4, 4)
    fair = bool(((shares > 0.5 / 4) & (shares < 2 / 4)).all())  # between half and twice an equal share
    assert fair == (balance > 0), shares


def test_local_and_compressed_looks_in_turn_learn_to_reverse_what_is_longer_than_a_block(
    tmp_path: Path,
) -> None:
    sizes = ["both.feed_forward=64", "encoder.layers=3", "encoder.block=5", "encoder.compression=3"]
    model = small("transformer_dmca", *sizes)
    learn(model, Reversed(20, rows=32), tmp_path, steps=600, rate=0.01)
    assert right(model, Reversed(20, rows=128).batch(9, 9)) >= 0.95
