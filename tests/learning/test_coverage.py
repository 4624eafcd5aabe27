"""What was covered is not said again so often."""

import torch
from small import search

from regard import build
from regard.config import load_config
from regard.core.batch import Batch, Tokens
from regard.core.pieces import END
from regard.search import SearchPlan
from regard.training import Coverage, CrossEntropy

VOCABULARY, WORDS, STEPS = 40, 6, 60
SMALL = [
    "text.shared=true",
    "model.attention.pointer=true",
    "model.embedding=16",
    "model.encoder.width=24",
    "model.decoder.width=24",
    "model.dropout=0",
]


def pairs(count: int, seed: int) -> Batch:
    """Different words, and the same words in any order: nobody can know which comes next, but only which came."""
    chance = torch.Generator().manual_seed(seed)
    sources = [(torch.randperm(VOCABULARY - 4, generator=chance)[:WORDS] + 4).tolist() for _ in range(count)]
    targets = [[row[n] for n in torch.randperm(WORDS, generator=chance).tolist()] for row in sources]
    return Batch(Tokens.pad([[*row, END] for row in sources]), Tokens.pad([[*row, END] for row in targets]))


def share_repeated(*changes: str, coverage: Coverage | None) -> float:
    """Of the words of greedy answers, after a short training."""
    torch.manual_seed(1)
    config = load_config("dates", [*SMALL, *changes])
    model = build.model(config, {"source": VOCABULARY, "target": VOCABULARY})
    objective, optimizer = (
        CrossEntropy(penalties=[coverage] if coverage else []),
        torch.optim.Adam(model.parameters()),
    )
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = 0.01 * (1 - step / STEPS)
        optimizer.zero_grad()
        loss = objective(model, pairs(16, step))
        (loss.total / loss.tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    found = search(model.eval(), pairs(40, 99_999).source, SearchPlan(max_length=12))
    said = [[piece for piece in best.tokens if piece != END] for (best,) in found]
    return sum(len(one) - len(set(one)) for one in said) / sum(map(len, said))


def test_coverage_lowers_repetition() -> None:
    """0.54 and 0.45 when it was written."""
    without = share_repeated(coverage=None)
    covered = share_repeated("model.attention.history=true", coverage=Coverage(weight=1.0))
    assert covered < without - 0.04
