"""Small models and batches for the tests."""

import torch

from regard.attention import SCOPES, SCORES, SELECTIONS, Attention
from regard.core.batch import Batch, Tokens
from regard.core.pieces import END
from regard.decoders import RecurrentDecoder
from regard.encoders import RecurrentEncoder
from regard.layers import Embedding
from regard.models import Seq2Seq

VOCABULARY = 12


def recurrent(
    *, cell: str = "gru", layers: int = 1, score: str = "additive", heads: int = 1, bidirectional: bool = True
) -> Seq2Seq:
    torch.manual_seed(0)
    width = 16
    encoder = RecurrentEncoder(
        Embedding(VOCABULARY, 6),
        cell=cell,
        width=width // 2 if bidirectional else width,
        layers=layers,
        bidirectional=bidirectional,
    )
    score_part = SCORES[score](width, encoder.width, heads=heads)
    look = Attention(score_part, SCOPES["global"](), SELECTIONS["soft"](), heads=heads)
    decoder = RecurrentDecoder(
        Embedding(VOCABULARY, 6), look, memory_width=encoder.width, cell=cell, width=width, layers=layers
    )
    return Seq2Seq(encoder, decoder).eval()


def batch(lengths: tuple[int, ...] = (5, 2, 7, 1), seed: int = 0) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    rows = [[*torch.randint(4, VOCABULARY, (n,), generator=generator).tolist(), END] for n in lengths]
    return Batch(Tokens.pad(rows), Tokens.pad([[*row[-2::-1], END] for row in rows]))


MODELS = {
    "gru": lambda: recurrent(),
    "lstm": lambda: recurrent(cell="lstm"),
    "gru, two layers": lambda: recurrent(layers=2),
    "lstm, two layers, one direction": lambda: recurrent(cell="lstm", layers=2, bidirectional=False),
    "two heads": lambda: recurrent(heads=2),
} | {f"score {name}": (lambda name=name: recurrent(score=name)) for name in SCORES}
