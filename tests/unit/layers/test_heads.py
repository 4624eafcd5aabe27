import pytest
import torch
from torch import Tensor

from regard.attention import SELECTIONS
from regard.core.pieces import BEGIN, PAD
from regard.layers import Head, Pointer
from regard.layers.heads import Pointed
from regard.layers.likelihood import ROWS, judge, mixed
from regard.training.likelihood import Features, Said

WIDTH, VOCABULARY = 5, 7


def pointer(**options: int) -> Pointer:
    torch.manual_seed(0)
    head = Pointer(WIDTH, VOCABULARY, **options)
    torch.nn.init.normal_(head.bias)
    torch.nn.init.normal_(head.gate.bias)
    return head


def pointed(steps: int = 6, source: list[int] | None = None, *, share: float = 1.0) -> Pointed:
    """`share` of each look falls on the source."""
    ids = torch.tensor(source or [4, 6, 4, VOCABULARY, 3, VOCABULARY + 1])
    look = torch.softmax(torch.randn(steps, len(ids)), dim=-1) * share
    return Pointed(torch.randn(steps, WIDTH), look, ids.expand(steps, -1))


def test_copying_adds_the_looks_at_a_word_to_what_is_said_of_it() -> None:
    """By hand: two of four pieces, gate 1/4, a look of 0.5, 0.3 and 0.2 at the words 3, 2 and 3."""
    head = Pointer(1, 4)
    with torch.no_grad():
        head.weight.copy_(torch.tensor([[0.0], [0.0], [0.0], [1.0]]).log1p())  # 1 1 1 2
        head.bias.zero_()
        head.gate.weight.fill_(-1.0).mul_(torch.tensor(3.0).log())  # σ(−log 3) = 1/4
        head.gate.bias.zero_()
    features = Pointed(torch.ones(1, 1), torch.tensor([[0.5, 0.3, 0.2]]), torch.tensor([[3, 2, 3]]))
    said = head(features).exp()
    expected = torch.tensor([[0.05, 0.05, 0.05 + 0.75 * 0.3, 0.10 + 0.75 * 0.7]])
    torch.testing.assert_close(said, expected)


def test_a_word_that_the_vocabulary_lacks_has_the_probability_of_being_copied_alone() -> None:
    head, features = pointer(), pointed()
    said = head(features).exp()  # N (V + 2)
    assert said.shape == (6, VOCABULARY + 2)
    copied = torch.sigmoid(-head.gate(features.vectors)) * features.look
    torch.testing.assert_close(said[:, VOCABULARY:], copied[:, [3, 5]])


@pytest.mark.parametrize("share", [1.0, 0.4, 0.0])
def test_probabilities_sum_to_one_however_much_of_the_look_falls_on_the_source(share: float) -> None:
    said = pointer()(pointed(share=share)).exp()
    torch.testing.assert_close(said.sum(-1), torch.ones(6))


def test_nothing_to_look_at_is_as_if_there_were_no_pointer() -> None:
    head, features = pointer(), pointed(source=[4, 5], share=0.0)
    plain = Head.forward(head, features.vectors).log_softmax(-1)
    torch.testing.assert_close(head(features), plain)


def test_the_words_of_another_source_are_impossible() -> None:
    head, features = pointer(), pointed(2)
    source = torch.stack(
        [features.source[0], features.source[0].clamp(max=VOCABULARY)]
    )  # the second has one word
    said = head(Pointed(features.vectors, features.look, source))
    assert said[0].isfinite().all()
    assert said[1, : VOCABULARY + 1].isfinite().all()
    assert said[1, VOCABULARY + 1] == -torch.inf


def test_a_neighbour_with_more_words_changes_no_probability() -> None:
    head, features = pointer(), pointed(2)
    source = torch.stack([features.source[0], features.source[0].clamp(max=6)])
    together = head(Pointed(features.vectors, features.look, source))
    alone = head(Pointed(features.vectors, features.look, source)[1:])
    torch.testing.assert_close(together[1:, :VOCABULARY], alone)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("pieces", [1, 2 * ROWS["cpu"] + 3])
def test_what_is_judged_in_chunks_is_what_is_said_in_full(smoothing: float, pieces: int) -> None:
    head, made = pointer(), pointed(pieces)
    wanted = torch.arange(pieces) % (VOCABULARY + 2)
    outcomes = []
    for chunks in (True, False):
        head.zero_grad()
        vectors, look = made.vectors.clone().requires_grad_(), made.look.clone().requires_grad_()
        features = Pointed(vectors, look, made.source)
        if chunks:
            judged = Features(features, head).judge(wanted, smoothing)
            total, likelihoods = judged.total, judged.likelihoods
        else:
            judged = Said(head(features), head).judge(wanted)
            plain = Head.forward(head, vectors).log_softmax(-1)
            total = (1 - smoothing) * judged.total - smoothing * plain.mean(-1).sum()
            likelihoods = judged.likelihoods
        (total / 7).backward()
        gradients = [one.grad for one in (vectors, look, *head.parameters())]
        outcomes.append([total, likelihoods, *gradients])
    for one, other in zip(*outcomes, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_a_word_that_cannot_be_copied_now_has_a_finite_loss_and_gradient() -> None:
    head, features = pointer(), pointed(2)
    look = torch.tensor([[1.0, 0, 0, 0, 0, 0], [0, 0, 0, 1.0, 0, 0]], requires_grad=True)
    judged = head.judge(Pointed(features.vectors, look, features.source), torch.tensor([VOCABULARY] * 2))
    judged.total.backward()
    assert judged.likelihoods.isfinite().all()
    assert judged.likelihoods[0] < -60
    assert all(one.grad.isfinite().all() for one in (look, *head.parameters()))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(("spoken", "copied"), [(1.0, 0.0), (0.7, 0.0), (0.0, 1.0), (0.0, 0.0), (0.4, 0.3)])
def test_shares_that_are_nothing_have_the_gradient_that_autograd_gives(
    spoken: float, copied: float, smoothing: float
) -> None:
    """Of a piece of the vocabulary and of one beyond it."""
    torch.manual_seed(0)
    head, vectors, wanted = Head(WIDTH, VOCABULARY), torch.randn(2, WIDTH), torch.tensor([4, VOCABULARY])
    outcomes = []
    for chunks in (True, False):
        head.zero_grad()
        given = [vectors.clone(), torch.full((2,), spoken), torch.full((2,), copied)]
        some, share, there = (one.requires_grad_() for one in given)
        if chunks:
            total = judge(some, head, wanted, smoothing, spoken=share, copied=there).total
        else:
            logs = head(some).log_softmax(-1)
            own = torch.stack([logs[0, 4], torch.tensor(-torch.inf)])
            total = -(1 - smoothing) * mixed(own, share, there).sum() - smoothing * logs.mean(-1).sum()
        total.backward()
        outcomes.append([one.grad for one in (some, share, there, *head.parameters())])
    for one, other in zip(*outcomes, strict=True):
        torch.testing.assert_close(one, other)


def test_a_look_at_one_place_learns_in_steps_of_a_usual_size_though_it_missed_the_word() -> None:
    """Nearest looks at one place, and backwards as if at all."""
    head, features = pointer(), pointed(2)
    scores = torch.randn(1, 1, 2, 6)
    scores[..., 0] += 9.0  # the word stands elsewhere
    scores.requires_grad_()
    look = SELECTIONS["nearest"]()(scores, torch.ones(6, dtype=torch.bool)).weights[0, 0]
    wanted = torch.tensor([VOCABULARY] * 2)
    head.judge(Pointed(features.vectors, look, features.source), wanted).total.backward()
    assert scores.grad is not None
    assert scores.grad.abs().max() < 10
    assert all(one.grad.abs().max() < 10 for one in head.parameters())


def test_padding_and_the_begin_mark_are_never_drawn() -> None:
    torch.manual_seed(0)
    said = torch.zeros(1000, VOCABULARY)
    said[:, [PAD, BEGIN]] = 20.0
    drawn = Head(WIDTH, VOCABULARY).draw(said)
    assert sorted(set(drawn.tolist())) == [1, 3, 4, 5, 6]
    assert said[0, PAD] == 20  # what was said stays as it was


def heads(*looks: list[float]) -> Tensor:
    return torch.tensor(looks)[None, :, None]  # 1 H 1 S


@pytest.mark.parametrize(("chosen", "expected"), [(None, [0.5, 0.5]), (0, [0.8, 0.2]), (1, [0.2, 0.8])])
def test_the_look_is_the_mean_of_the_heads_or_one_of_them(chosen: int | None, expected: list[float]) -> None:
    features = pointer(head=chosen).features(
        torch.zeros(1, 1, WIDTH), heads([0.8, 0.2], [0.2, 0.8]), torch.tensor([[4, 5]])
    )
    torch.testing.assert_close(features.look[0, 0], torch.tensor(expected))
