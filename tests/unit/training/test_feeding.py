import pytest
import torch
from small import VOCABULARY, attention, batch, built, recurrent, stream, transformer

from regard.core.memory import Memory
from regard.core.pieces import BEGIN, PAD
from regard.core.state import Unrolled
from regard.layers import Experts
from regard.models import Seq2Seq
from regard.training import DECAYS, FEEDINGS

SMALL = {
    **{
        kind: lambda kind=kind: recurrent(decoder=kind)
        for kind in ("look_then_step", "step_look_step", "step_then_look", "step_then_look_fed")
    },
    "transformer": transformer,
    "stream": stream,
}


def test_all_truth_equals_teacher_forcing() -> None:
    model, examples = recurrent(), batch()
    teacher = FEEDINGS["teacher"](lambda step: 1.0)(model, examples, 0).said.said
    scheduled = FEEDINGS["scheduled"](lambda step: 1.0)(model, examples, 0).said.said
    torch.testing.assert_close(scheduled, teacher)


def with_experts(name: str) -> Seq2Seq:
    """Of which nothing but the experts is in training: no dropout."""
    model = {
        "both sides": lambda: transformer("both.experts=4"),
        "one stream": lambda: stream("experts=4"),
        "under a recurrent decoder": lambda: built(
            "model.encoder={kind='transformer', width=16, layers=2, heads=2, feed_forward=32, experts=4}",
            "model.decoder={width=16}",
        ),
    }[name]()
    for part in model.modules():
        if isinstance(part, Experts):
            part.train()
    return model


@pytest.mark.parametrize(
    ("name", "layers"), [("both sides", 4), ("one stream", 4), ("under a recurrent decoder", 2)]
)
def test_step_by_step_the_experts_have_the_same_load_as_when_unrolled(name: str, layers: int) -> None:
    """With all truth; the gradients of the penalty are the same too."""
    outcomes = []
    for feeding in ("teacher", "scheduled"):
        model = with_experts(name)
        loads = FEEDINGS[feeding](lambda step: 1.0)(model, batch(), 0).loads
        penalties = torch.stack([load.penalty for load in loads])
        assert penalties.shape == (layers,)
        penalties.sum().backward()
        gates = [part.gate.weight.grad for part in model.modules() if isinstance(part, Experts)]
        outcomes.append([penalties, *gates])
    for one, other in zip(*outcomes, strict=True):
        torch.testing.assert_close(one, other)


def test_experts_are_given_nothing_past_the_end_of_a_row() -> None:
    model, examples = with_experts("both sides"), batch((6, 1))
    loads = FEEDINGS["free"](lambda step: 0.0)(model, examples, 0).loads
    fed = int((examples.target.fed != PAD).sum())
    assert [load.positions for load in loads] == [int(examples.source.mask.sum())] * 2 + [fed] * 2


def test_without_truth_the_first_step_is_the_same_and_the_target_is_never_read() -> None:
    model, examples = recurrent(), batch((4, 4, 4))
    other = batch((4, 4, 4), seed=5)
    mixed = type(examples)(examples.source, other.target)
    outcomes = []
    for one in (examples, mixed):
        torch.manual_seed(3)
        outcomes.append(FEEDINGS["free"](lambda step: 1.0)(model, one, 0).said.said)
    torch.testing.assert_close(outcomes[0], outcomes[1])


def test_truth_is_drawn_for_each_piece_by_itself() -> None:
    """With half the truth, some rows of one batch read the truth where others read their own pieces."""
    model, examples = recurrent(), batch((6,) * 32)
    torch.manual_seed(0)
    mixed = FEEDINGS["scheduled"](lambda step: 0.5)(model, examples, 0).said.said.view(32, 7, -1)
    teacher = FEEDINGS["teacher"](lambda step: 1.0)(model, examples, 0).said.said.view(32, 7, -1)
    second = (mixed[:, 1] - teacher[:, 1]).abs().amax(-1) < 1e-5
    assert 5 < int(second.sum()) < 30
    assert torch.allclose(mixed[:, 0], teacher[:, 0], atol=1e-5)


@pytest.mark.parametrize("name", DECAYS)
def test_every_decay_falls_to_the_least_share_and_never_below(name: str) -> None:
    decay = DECAYS[name](steps=100, least=0.2)
    shares = [decay(step) for step in range(0, 100_000, 50)]
    assert all(0.2 <= share <= 1 for share in shares)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0.2


@pytest.mark.parametrize(
    ("name", "expected"), [("linear", 0.0), ("exponential", 0.5), ("inverse_sigmoid", 0.5)]
)
def test_a_decay_is_where_it_should_be_at_its_steps(name: str, expected: float) -> None:
    decay = DECAYS[name](steps=100, least=0.0)
    assert decay(100) == pytest.approx(expected, abs=1e-6)
    assert decay(0) > 0.95


def spied(model: Seq2Seq) -> list[tuple[torch.Tensor, torch.Tensor, bool]]:
    """What each unroll is fed and gives, and whether it has a gradient."""
    calls: list[tuple[torch.Tensor, torch.Tensor, bool]] = []
    unroll = model.decoder.unroll

    def spy(memory: Memory, target: torch.Tensor) -> Unrolled:
        unrolled = unroll(memory, target)
        calls.append((target, unrolled.features, unrolled.features.requires_grad))
        return unrolled

    model.decoder.unroll = spy
    return calls


@pytest.mark.parametrize("decoder", SMALL)
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_two_passes_with_all_truth_equal_teacher_forcing_in_answer_and_gradient(
    decoder: str, precision: torch.dtype
) -> None:
    """Under autocast too: what the first pass, without gradient, made of the weights is not kept for the second."""
    outcomes = []
    for name in ("teacher", "two_pass"):
        model = SMALL[decoder]()
        with torch.autocast("cpu", precision, enabled=precision != torch.float32):
            logits = FEEDINGS[name](lambda step: 1.0)(model, batch(), 0).said.said
        logits.float().square().sum().backward()
        outcomes.append([logits, *(parameter.grad for parameter in model.parameters())])
    for one, other in zip(*outcomes, strict=True):
        torch.testing.assert_close(one, other)


def test_without_truth_the_second_pass_is_fed_exactly_what_the_first_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The most likely piece stands for the draw. What was said at a place is fed at the next; the begin mark stays."""
    model, examples = recurrent(), batch()
    monkeypatch.setattr(model.decoder.head, "draw", lambda said: said.argmax(-1))
    calls = spied(model)
    FEEDINGS["two_pass"](lambda step: 0.0)(model, examples, 0)
    (given, features, _), (fed, _, _) = calls
    assert torch.equal(given, examples.target.fed)
    said = model.decoder.head(features).argmax(-1)  # B T
    for row, length in enumerate(examples.target.lengths.tolist()):
        assert fed[row, 0] == BEGIN
        assert fed[row, 1:length].tolist() == said[row, : length - 1].tolist()
    assert not torch.equal(fed, given)


def test_pieces_are_drawn_from_what_the_first_pass_said() -> None:
    """Forty thousand draws at one place: as often as their probability."""
    model, examples = recurrent(), batch((2,))
    many = type(examples)(
        type(examples.source)(examples.source.ids.expand(40_000, -1), examples.source.lengths.expand(40_000)),
        type(examples.target)(examples.target.ids.expand(40_000, -1), examples.target.lengths.expand(40_000)),
    )
    calls = spied(model)
    torch.manual_seed(0)
    with torch.no_grad():
        FEEDINGS["two_pass"](lambda step: 0.0)(model, many, 0)
        said = model.decoder.head(calls[0][1][0, 0])  # V
    said[[PAD, BEGIN]] = -torch.inf  # no answer has them
    expected = torch.softmax(said, dim=-1)
    found = torch.bincount(calls[1][0][:, 1], minlength=VOCABULARY) / 40_000
    assert (found - expected).abs().max() < 0.01


@pytest.mark.parametrize("feeding", ["scheduled", "two_pass", "free"])
def test_a_model_that_says_padding_is_fed_a_piece_in_every_place(feeding: str) -> None:
    """Padding among the pieces would be passed over, and what is said after it learned from the wrong row."""
    model, examples = transformer(), batch((6,) * 8)
    with torch.no_grad():
        model.decoder.head.bias[[PAD, BEGIN]] = 30.0
    fed = []
    embed = model.decoder.embedding.pieces.register_forward_pre_hook(lambda _, given: fed.append(given[0]))
    FEEDINGS[feeding](lambda step: 0.0)(model, examples, 0)
    embed.remove()
    assert all((ids != PAD).all() for ids in fed)
    begun = torch.cat([ids.flatten() for ids in fed]) == BEGIN
    assert int(begun.sum()) == 8 * (2 if feeding == "two_pass" else 1)


def test_the_second_pass_leaves_padding_out_of_the_source_as_a_teacher_does() -> None:
    rows = []
    for feeding in ("teacher", "two_pass"):
        model = transformer()
        project = model.decoder.blocks[0].across.keys_and_values
        project.register_forward_hook(lambda _, given, __: rows.append(tuple(given[0].shape[:-1])))
        FEEDINGS[feeding](lambda step: 1.0)(model, batch((9, 1, 1)), 0)
    assert rows == [(14,), (3, 10), (14,)]  # a teacher's, the first pass without gradient, the second


def test_truth_and_draws_are_mixed_for_each_piece_by_itself_in_two_passes_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    strange = VOCABULARY - 1
    model, examples = recurrent(), batch((6,) * 64)
    monkeypatch.setattr(model.decoder.head, "draw", lambda said: torch.full((len(said),), strange))
    examples.target.ids[examples.target.ids == strange] = 4
    calls = spied(model)
    torch.manual_seed(0)
    FEEDINGS["two_pass"](lambda step: 0.7)(model, examples, 0)
    own = calls[1][0][:, 1:] == strange  # B T-1
    assert 0.25 < float(own.float().mean()) < 0.35
    assert not own.all(dim=0).any()
    assert not own.all(dim=1).any()
    assert torch.equal(calls[1][0][:, 1:][~own], examples.target.fed[:, 1:][~own])


def test_no_gradient_flows_from_the_first_pass() -> None:
    """The gradient is that of a second pass which was simply given its pieces."""
    model, examples = recurrent(), batch()
    calls = spied(model)
    torch.manual_seed(1)
    fed = FEEDINGS["two_pass"](lambda step: 0.3)(model, examples, 0)
    assert [with_gradient for _, _, with_gradient in calls] == [False, True]
    fed.said.said.square().sum().backward()
    found = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    unrolled = model.decoder.unroll(model.encoder.encode(examples.source), calls[1][0])
    model.decoder.head(unrolled.features[examples.target.mask]).square().sum().backward()
    for one, other in zip(found, model.parameters(), strict=True):
        torch.testing.assert_close(one, other.grad)


def test_hard_draws_of_the_second_pass_can_be_learned_from() -> None:
    model, examples = recurrent(look=lambda: attention("general", "global", "hard")).train(), batch()
    torch.manual_seed(0)
    fed = FEEDINGS["two_pass"](lambda step: 0.5)(model, examples, 0)
    assert fed.choice is not None
    assert fed.choice.log_probability.shape[2] == examples.target.ids.shape[1]
    assert fed.choice.log_probability.requires_grad
