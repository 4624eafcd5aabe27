"""Forced decoding: a model is told the answers, and says how likely it finds them and where it looked."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from regard.core.batch import Batch, Tokens
from regard.core.errors import UserError
from regard.core.memory import CROSS, DECODER
from regard.core.pieces import END
from regard.core.prediction import Prediction
from regard.data import in_order
from regard.models import Seq2Seq
from regard.predictor import Predictor
from regard.search import Hypothesis
from regard.search.stepper import check_numbers
from regard.training.likelihood import Features


@torch.inference_mode()
def force(
    predictor: Predictor,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    wanted: frozenset[str] = frozenset({CROSS}),
) -> list[Prediction]:
    """A prediction for each pair, in their order, as if the model had answered the source with the target.

    Its text is the target as it was given, its score the log-probability of the target's pieces and
    end mark, its attention the looks that led to them. `wanted` are the kinds of attention to record. A
    target longer than the model was trained for is cut, with a warning, and has no end mark then. A source
    with nothing in it is answered with nothing: any other target is impossible, and its score minus infinity.
    """
    if len(sources) != len(targets):
        raise UserError(
            f"There are {len(sources):,} sources but {len(targets):,} targets. Give one for each."
        )
    predictor.model.eval()
    codec = predictor.codec
    rows, aims = codec.encode(sources), codec.encode_targets(targets)
    answers = [
        replace(codec.nothing(source), text=target, score=-math.inf if target.strip() else 0.0)
        for source, target in zip(sources, targets, strict=True)
    ]
    asked = [number for number, row in enumerate(rows) if row]
    lengths = np.array([max(len(rows[number]), len(aims[number])) for number in asked])
    for batch in in_order(lengths, predictor.batch_tokens):
        numbers = [asked[place] for place in batch]
        pairs = Batch(
            codec.collate([rows[number] for number in numbers]),
            Tokens.pad([aims[number] for number in numbers]),
        )
        for number, hypothesis in zip(
            numbers, _forced(predictor.model, pairs.to(predictor.device), wanted), strict=True
        ):
            answers[number] = codec.forced(sources[number], rows[number], targets[number], hypothesis)
    return answers


def _forced(model: Seq2Seq, batch: Batch, wanted: frozenset[str]) -> list[Hypothesis]:
    """What a search would have found, had it found the targets."""
    memory = model.encoder.encode(batch.source, wanted)
    unrolled = model.decoder.unroll(memory, batch.target_input)
    mask, aims = batch.target.mask, batch.target.ids  # B T, B T
    likelihoods = Features(unrolled.features[mask], model.decoder.head).judge(aims[mask]).likelihoods  # N
    # As in a search, in float64: many small ones add up.
    scores = torch.zeros(mask.shape, dtype=torch.float64, device=mask.device)  # B T
    totals: list[float] = scores.masked_scatter(mask, likelihoods.double()).sum(1).tolist()
    check_numbers(totals)
    looks = {**memory.attention, **unrolled.attention}
    found = []
    for place, (total, length) in enumerate(zip(totals, batch.target.lengths.tolist(), strict=True)):
        tokens = tuple(aims[place, :length].tolist())
        attention = {kind: _own(kind, weights[place], length) for kind, weights in looks.items()}
        found.append(Hypothesis(tokens, total, total, tokens[-1] == END, attention))
    return found


def _own(kind: str, weights: Tensor, length: int) -> Tensor:
    """The looks of a target of this length, without the padding behind it: L H T S."""
    if kind in (CROSS, DECODER):
        weights = weights[:, :, :length]
    return weights[..., :length] if kind == DECODER else weights
