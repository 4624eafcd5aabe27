"""Two roads, one result: a training step as it is taken, and one written out without anything that makes it fast."""

import pytest
import torch
from small import MODELS, batch
from torch import Tensor

from regard import build
from regard.config import load_config
from regard.core import rows
from regard.core.batch import Batch
from regard.layers import Pointer, packed, unrolled
from regard.models import Seq2Seq
from regard.training import CrossEntropy

SMOOTHING = 0.1


def taken(model: Seq2Seq, examples: Batch, smoothing: float) -> Tensor:
    """Unrolled where that is possible, without padding, by fused kernels, with the loss in chunks."""
    total: Tensor = CrossEntropy(label_smoothing=smoothing)(model, examples).total
    return total


def written_out(model: Seq2Seq, examples: Batch, smoothing: float) -> Tensor:
    """Step by step, padding and all, with every weight of every look, and a whole matrix of log-probabilities."""
    state, logits = model.begin(examples.source), []
    for tokens in examples.target.fed.unbind(1):
        output = model.step(tokens, state)
        state = output.state
        logits.append(output.logits)
    likely = torch.stack(logits, dim=1).log_softmax(-1)[examples.target.mask]  # N V
    wanted = likely.gather(1, examples.target.standing[:, None])
    total = -(1 - smoothing) * wanted.sum()
    return total - smoothing * likely.mean(-1).sum() if smoothing else total


@pytest.mark.parametrize("name", MODELS)
def test_loss_and_gradients_are_those_of_a_step_written_out(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, examples = MODELS[name]().eval(), batch()  # nothing is dropped or drawn
    assert all(rows.Rows.of(side.mask) is not None for side in (examples.source, examples.target))
    # A pointer's smoothing falls on what its head says before it is mixed with what is copied.
    smoothing = 0.0 if isinstance(model.decoder.head, Pointer) else SMOOTHING
    found = []
    for road in (taken, written_out):
        model.zero_grad()
        monkeypatch.setattr(rows, "WORTH", rows.WORTH if road is taken else 0.0)
        monkeypatch.setattr(packed, "WIDE", 1 if road is taken else 10**9)
        monkeypatch.setattr(unrolled, "WORTH", 1 if road is taken else 10**9)
        loss = road(model, examples, smoothing)
        loss.backward()
        found.append((loss.item(), [p.grad.clone() for p in model.parameters() if p.grad is not None]))
    (fast, quick), (slow, plain) = found
    assert fast == pytest.approx(slow, rel=1e-6)
    for one, other in zip(quick, plain, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ["adam", "adamw"])
def test_the_optimizer_takes_the_steps_of_the_paper(kind: str) -> None:
    """Kingma & Ba 2015, algorithm 1, in float64; with decoupled decay, Loshchilov & Hutter 2019, algorithm 2."""
    settings = [f"training.optimizer={kind}", "training.betas=[0.8, 0.95]", "training.learning_rate=0.01"]
    decay = 0.1 if kind == "adamw" else 0.0
    config = load_config("dates", [*settings, f"training.weight_decay={decay}"])
    model, examples = MODELS["look_then_step, gru, 2"]().eval(), batch()
    optimizer = build.optimizer(config, model)
    weights = [weight.detach().double() for weight in model.parameters()]
    means, squares = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))
    for step in range(1, 4):
        optimizer.zero_grad()
        taken(model, examples, SMOOTHING).backward()
        for place, parameter in enumerate(model.parameters()):
            gradient = (torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).double()
            means[place] = 0.8 * means[place] + 0.2 * gradient
            squares[place] = 0.95 * squares[place] + 0.05 * gradient**2
            change = means[place] / (1 - 0.8**step) / ((squares[place] / (1 - 0.95**step)).sqrt() + 1e-8)
            if parameter.grad is not None:
                weights[place] = weights[place] * (1 - 0.01 * decay) - 0.01 * change
        optimizer.step()
        for parameter, weight in zip(model.parameters(), weights, strict=True):
            torch.testing.assert_close(parameter.detach().double(), weight, atol=1e-5, rtol=1e-5)
