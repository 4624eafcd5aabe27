"""Rewards: answers that a model draws itself, judged by how much they have of the right one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from regard.core.batch import Batch, Tokens
from regard.core.kinds import NOTHING
from regard.core.memory import Memory
from regard.core.pieces import BEGIN, END, PAD, UNKNOWN
from regard.core.state import Features, Head
from regard.models import Seq2Seq

_NOTHING = -1  # an unknown piece of a target: to say that one does not know is never right
ORDER = 4  # pieces in the longest sequences that are compared
ROOM = 2  # times the longest target of a batch: where a draw that does not end is cut off
ROWS = 1024  # whose logits stand in memory together


class ExpectedReward(nn.Module):
    """The reward that answers drawn from the model can expect (Wu et al. 2016, section 5).

        λ·Σ (R − b)·∇log p(answer drawn)

    R is an answer's GLEU against the target; b, the mean of the other draws for the same source, as Rennie et al. 2017
    take the greedy answer's. Likelihood alone teaches how to go on with other people's answers, not with one's own.
    """

    def __init__(self, *, weight: float = 1.0, draws: int = 4, longest: int | None = None):
        """`longest` is how many pieces an answer can have, if that has an end."""
        super().__init__()
        assert draws > 1, "a draw is compared with others"
        self.weight = weight
        self.draws = draws
        self.longest = longest

    def forward(self, model: Seq2Seq, batch: Batch) -> Tensor:
        """Something to add to a loss, summed over the rows of the batch."""
        target = batch.target
        assert isinstance(target, Tokens), "points are not drawn from pieces"
        memory = model.encoder.encode(batch.source, NOTHING)
        with _predicting(cast(nn.Module, model.decoder)):
            return self._of_draws(model, memory, target)

    def _of_draws(self, model: Seq2Seq, memory: Memory, target: Tokens) -> Tensor:
        wanted = [[piece if piece != UNKNOWN else _NOTHING for piece in row] for row in _rows(target)]
        count, length = target.ids.shape
        room = ROOM * length if self.longest is None else min(ROOM * length, self.longest)
        answers = draw(model, memory, self.draws, room)
        rewards = torch.tensor(
            [gleu(said, wanted[row % count]) for row, said in enumerate(_rows(answers))],
            device=target.ids.device,
        ).view(self.draws, count)  # K B
        others = (rewards.sum(0) - rewards) / (self.draws - 1)  # K B
        likely = self._likely(model, memory, answers).view(self.draws, count)  # K B
        return -self.weight * ((rewards - others) * likely).sum() / self.draws

    def _likely(self, model: Seq2Seq, memory: Memory, answers: Tokens) -> Tensor:
        """log p of each answer: K·B. Those of like lengths go together, as few are as long as the longest."""
        count = len(memory.mask)
        together = torch.split(answers.lengths.argsort(stable=True), count)
        found = torch.cat([self._likely_of(model, memory, answers, rows) for rows in together])
        return torch.zeros_like(found).index_put((torch.cat(together),), found)

    def _likely_of(self, model: Seq2Seq, memory: Memory, answers: Tokens, rows: Tensor) -> Tensor:
        """Of some of them: N."""
        lengths = answers.lengths[rows]
        some = Tokens(answers.ids[rows, : int(lengths.max())], lengths)
        of_sources = memory.select(rows % len(memory.mask))
        features, head = model.decoder.unroll(of_sources, some.fed).features, model.decoder.head
        mask, pieces = some.mask, some.standing  # N T, M
        standing = features[mask]  # M
        likely = [
            checkpoint(_likelihoods, standing[part], pieces[part], head, use_reentrant=False)
            for part in (slice(start, start + ROWS) for start in range(0, len(pieces), ROWS))
        ]
        of_rows = mask.nonzero()[:, 0]  # M, the row of each piece
        return torch.zeros(len(mask), device=mask.device).index_add(0, of_rows, torch.cat(likely))


@contextmanager
def _predicting(decoder: nn.Module) -> Iterator[None]:
    """Nothing is dropped, hard looks are at the highest: else another model would judge answers than drew them."""
    learns = decoder.training
    decoder.eval()
    try:
        yield
    finally:
        decoder.train(learns)


def _likelihoods(features: Features, pieces: Tensor, head: Head) -> Tensor:
    """Log-probabilities of the pieces (N); the logits of all are found again on the way back, not kept."""
    logs = head(features).float().log_softmax(-1)  # N V
    return logs.gather(-1, pieces[:, None])[:, 0]


@torch.no_grad()
def draw(model: Seq2Seq, memory: Memory, draws: int, longest: int) -> Tokens:
    """Answers by chance, ended or cut off at the longest length: one for each source, then the next for each, K·B."""
    count, device = len(memory.mask), memory.mask.device
    state = model.decoder.begin(memory).select(torch.arange(count, device=device).repeat(draws))
    living = torch.arange(count * draws, device=device)  # those that have not ended
    ids = torch.full((len(living), longest), PAD, device=device)
    lengths = torch.full((len(living),), longest, device=device)
    fed = torch.full((len(living),), BEGIN, device=device)
    for step in range(longest):
        output = model.step(fed, state)
        said = model.decoder.head.draw(output.logits)
        ids[living, step] = said
        lengths[living[said == END]] = step + 1
        on = (said != END).nonzero()[:, 0]
        if not len(on):
            break
        fed, state, living = said[on], output.state, living[on]
        if len(on) < len(said):
            state = state.select(on)
    return Tokens(ids[:, : int(lengths.max())], lengths)


def _rows(tokens: Tokens) -> list[list[int]]:
    """Without padding and end marks."""
    cut = zip(tokens.ids.tolist(), tokens.lengths.tolist(), strict=True)
    return [[piece for piece in row[:length] if piece != END] for row, length in cut]


def gleu(said: Sequence[int], wanted: Sequence[int]) -> float:
    """The smaller of precision and recall, of all sequences of one to four pieces together; from 0 to 1."""
    ours, theirs = _sequences(said), _sequences(wanted)
    most = max(ours.total(), theirs.total())
    return (ours & theirs).total() / most if most else 1.0


def _sequences(pieces: Sequence[int]) -> Counter[tuple[int, ...]]:
    return Counter(
        tuple(pieces[start : start + size])
        for size in range(1, ORDER + 1)
        for start in range(len(pieces) - size + 1)
    )
