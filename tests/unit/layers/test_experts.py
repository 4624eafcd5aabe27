import pytest
import torch
from small import batch, built, stream, transformer
from torch import Tensor

from regard.core.load import Load
from regard.layers import Dropout, Experts, FeedForward
from regard.models import Seq2Seq
from regard.training import CrossEntropy

WIDTH, EXPERTS = 6, 4


def experts(*, number: int = EXPERTS, used: int = 2, balance: float = 0.01) -> Experts:
    torch.manual_seed(0)

    def make() -> FeedForward:
        return FeedForward(WIDTH, 10)

    return Experts(make, WIDTH, experts=number, used=used, balance=balance).double()


def data() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    mask = torch.arange(7) < torch.tensor([7, 3, 1])[:, None]  # B T
    return torch.randn(3, 7, WIDTH, dtype=torch.double, generator=generator), mask


def probabilities(part: Experts, vector: Tensor) -> list[float]:
    return torch.softmax(part.gate.weight @ vector, 0).tolist()


def one_by_one(part: Experts, vector: Tensor) -> Tensor:
    """What a position becomes, in the words of the paper."""
    gate = probabilities(part, vector)
    best = sorted(range(len(gate)), key=lambda number: -gate[number])[: part.used]
    total = sum(gate[number] for number in best) if part.used > 1 else 1.0
    return sum(gate[number] / total * part.experts[number](vector).vectors for number in best)


def penalty(part: Experts, vectors: list[Tensor]) -> float:
    """E · Σ f·P, counted position by position."""
    number = len(part.experts)
    given, mean = [0.0] * number, [0.0] * number
    for vector in vectors:
        gate = probabilities(part, vector)
        for expert in sorted(range(number), key=lambda expert: -gate[expert])[: part.used]:
            given[expert] += 1 / len(vectors)
        mean = [so_far + one / len(vectors) for so_far, one in zip(mean, gate, strict=True)]
    return part.balance * number * sum(f * p for f, p in zip(given, mean, strict=True))


@pytest.mark.parametrize("used", [1, 2, EXPERTS])
def test_all_positions_at_once_equal_one_after_the_other(used: int) -> None:
    part, (vectors, mask) = experts(used=used), data()
    found = part(vectors, mask)
    for row, place in mask.nonzero().tolist():
        torch.testing.assert_close(found.vectors[row, place], one_by_one(part, vectors[row, place]))
    assert (found.vectors[~mask] == 0).all()
    assert found.load.penalty.item() == pytest.approx(penalty(part, list(vectors[mask])))


def test_without_a_mask_every_position_counts() -> None:
    part, (vectors, mask) = experts(), data()
    everywhere = part(vectors, torch.ones_like(mask))
    torch.testing.assert_close(part(vectors).vectors, everywhere.vectors)
    torch.testing.assert_close(part(vectors).load.penalty, everywhere.load.penalty)


def test_all_experts_under_an_even_gate_give_their_mean() -> None:
    part, (vectors, mask) = experts(used=EXPERTS, balance=1.0), data()
    torch.nn.init.zeros_(part.gate.weight)
    mean = torch.stack([expert(vectors[mask]).vectors for expert in part.experts]).mean(0)
    found = part(vectors, mask)
    torch.testing.assert_close(found.vectors[mask], mean)
    assert found.load.penalty.item() == pytest.approx(EXPERTS)  # f = 1 and P = 1/E for each of E experts


def test_the_penalty_of_a_gate_that_knows_one_expert_alone_is_the_number_of_experts() -> None:
    part = experts(used=1, balance=1.0)
    with torch.no_grad():
        part.gate.weight.zero_()
        part.gate.weight[0] = 100
    assert part(torch.ones(1, 5, WIDTH, dtype=torch.double)).load.penalty.item() == pytest.approx(EXPERTS)


def test_padding_changes_nothing_whatever_stands_in_it() -> None:
    part, (vectors, mask) = experts(), data()
    noise = torch.where(mask[..., None], vectors, 1e6)
    longer = torch.nn.functional.pad(noise, (0, 0, 0, 4), value=7.0)
    wider = torch.nn.functional.pad(mask, (0, 4))
    found, padded = part(vectors, mask), part(longer, wider)
    torch.testing.assert_close(padded.vectors[:, :7], found.vectors)
    torch.testing.assert_close(padded.load.penalty, found.load.penalty)


def test_padding_alone_becomes_zeros() -> None:
    found = experts()(torch.ones(2, 3, WIDTH, dtype=torch.double), torch.zeros(2, 3, dtype=torch.bool))
    assert (found.vectors == 0).all()
    assert found.load.penalty.item() == 0


def test_a_position_alone_is_answered_as_among_others() -> None:
    part, (vectors, mask) = experts(), data()
    together = part(vectors, mask).vectors
    for row, place in mask.nonzero().tolist():
        alone = part(vectors[row : row + 1, place : place + 1]).vectors[0, 0]
        torch.testing.assert_close(alone, together[row, place])


@pytest.mark.parametrize("used", [1, 2])
def test_the_gate_and_every_expert_that_was_used_learn_from_the_answer(used: int) -> None:
    part, (vectors, mask) = experts(used=used, balance=0.0), data()
    routes = part.route(vectors[mask])
    found = part(vectors, mask)
    assert found.load is None
    found.vectors.square().sum().backward()
    assert part.gate.weight.grad.abs().sum() > 0
    for number, expert in enumerate(part.experts):
        was_used = bool((routes.chosen == number).any())
        for parameter in expert.parameters():  # one without work has a gradient too: zero
            assert bool(parameter.grad.abs().sum() > 0) == was_used


def test_gradients_are_those_of_finite_differences() -> None:
    part, (vectors, mask) = experts(), data()

    def total(given: Tensor, gate: Tensor) -> Tensor:
        found = torch.func.functional_call(part, {"gate.weight": gate}, (given, mask))
        return found.vectors.square().sum() + found.load.penalty

    inputs = vectors.requires_grad_(), part.gate.weight.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(total, inputs)


def test_the_penalty_leads_a_gate_that_prefers_one_expert_back_to_all_of_them() -> None:
    part = experts(used=1, balance=1.0)
    generator = torch.Generator().manual_seed(3)
    positions = torch.randn(400, WIDTH, dtype=torch.double, generator=generator)
    positions[:, 0] = 1.0
    with torch.no_grad():
        part.gate.weight[0, 0] = 4.0

    def load() -> Tensor:
        return part.route(positions).chosen.flatten().bincount(minlength=EXPERTS) / len(positions)

    assert load()[0] > 0.9
    optimizer = torch.optim.SGD([part.gate.weight], lr=0.2)
    for _ in range(300):
        optimizer.zero_grad()
        part(positions).load.penalty.backward()
        optimizer.step()
    assert load().max() < 2 / EXPERTS
    assert load().min() > 0.5 / EXPERTS


def test_there_is_no_penalty_outside_of_training() -> None:
    part, (vectors, mask) = experts(), data()
    torch.testing.assert_close(part.eval()(vectors, mask).vectors, part.train()(vectors, mask).vectors)
    assert part.train()(vectors, mask).load is not None
    assert part.eval()(vectors, mask).load is None


def test_loads_of_a_part_that_worked_twice_add_up_to_that_of_working_once() -> None:
    part, (vectors, _) = experts(), data()
    once, parts = part(vectors).load, [part(some).load for some in vectors.split([2, 5], dim=1)]
    torch.testing.assert_close(Load.total(parts).penalty, once.penalty)
    assert not torch.isclose(parts[0].penalty + parts[1].penalty, once.penalty)


def test_under_autocast_the_gate_keeps_its_precision() -> None:
    part, (vectors, mask) = experts().float(), data()
    vectors = vectors.float().requires_grad_()
    exact = part.route(vectors[mask])
    with torch.autocast("cpu", torch.bfloat16):
        found, routes = part(vectors, mask), part.route(vectors[mask])
    assert found.vectors.dtype == torch.bfloat16
    assert torch.equal(routes.probabilities, exact.probabilities)
    (found.vectors.float().sum() + found.load.penalty).backward()
    assert vectors.grad.isfinite().all()


MODELS = {
    "both sides": lambda: transformer("both.experts=4", "both.balance=0.5", "dropout=0"),
    "encoder alone": lambda: transformer("encoder.experts=4", "dropout=0"),
    "decoder alone": lambda: transformer("decoder.experts=3", "decoder.experts_used=1", "dropout=0"),
    "one stream": lambda: stream("experts=4"),
    "under a recurrent decoder": lambda: built(
        "model.encoder={kind='transformer', width=16, layers=2, heads=2, feed_forward=32, experts=4}",
        "model.decoder={width=16}",
    ),
}


def without_dropout(model: Seq2Seq) -> Seq2Seq:
    for part in model.modules():
        if isinstance(part, Dropout):
            part.rate = 0.0
    return model


@pytest.mark.parametrize("name", MODELS)
def test_the_objective_adds_the_penalty_of_every_layer_for_each_piece_in_training_alone(name: str) -> None:
    model, examples = without_dropout(MODELS[name]()), batch()
    counted: list[float] = []

    def count(part: Experts, given: tuple[Tensor, Tensor | None], _: object) -> None:
        vectors, mask = given  # B T D and B T, or N D without padding
        counted.append(penalty(part, list(vectors if mask is None else vectors[mask])))

    parts = {part for part in model.modules() if isinstance(part, Experts)}
    hooks = [part.register_forward_hook(count) for part in parts]
    loss = CrossEntropy()(model.train(), examples)
    assert len(counted) == len(parts) * (2 if name == "one stream" else 1)  # its layers see source and target
    expected = sum(counted) * loss.tokens
    assert (loss.total - loss.likelihood).item() == pytest.approx(expected, rel=1e-3)
    loss.total.backward()
    assert all(part.gate.weight.grad.abs().sum() > 0 for part in parts)

    for hook in hooks:
        hook.remove()
    valid = CrossEntropy()(model.eval(), examples)
    assert torch.equal(valid.total, valid.likelihood)
    torch.testing.assert_close(valid.likelihood, loss.likelihood)
