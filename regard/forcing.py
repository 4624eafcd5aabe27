"""Forced decoding: models are told the answers, and say how likely they find them and where they looked."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.core.batch import Source, Tokens
from regard.core.errors import UserError
from regard.core.kinds import CROSS, DECODER, member_kind, plain_kind
from regard.core.pieces import END
from regard.core.prediction import Prediction, Request
from regard.core.state import Features
from regard.data import in_order
from regard.predictor import Predictor
from regard.search import SPACES, Hypothesis
from regard.search.stepper import check_numbers, log_probabilities, stacked
from regard.tasks.codec import Read
from regard.text import encode_targets

ROWS = 512  # steps whose likelihoods are looked up together


@torch.inference_mode()
def force(
    predictor: Predictor,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    to: str | None = None,
    wanted: frozenset[str] = frozenset({CROSS}),
) -> list[Prediction]:
    """A prediction for each pair, in their order, as if the model had answered the source with the target.

    Its text is the target as it was given, its score the log-probability of the target's pieces and end mark, its
    attention the looks that led to them. `to` is the language of the targets, where the model knows several;
    `wanted` are the kinds of attention to record. A target longer than the model was trained for is cut, with a
    warning, and is not `finished` then: its score is that of a part, so it is better than that of the whole, and
    `left_out` says how many pieces are missing. A source with nothing in it is answered with nothing: any other target
    is impossible, and its score minus infinity.
    """
    if len(sources) != len(targets):
        raise UserError(
            f"There are {len(sources):,} sources but {len(targets):,} targets. Give one for each."
        )
    if predictor.engine is not None:
        raise UserError(
            f"The {predictor.engine.name} engine can't be told answers. Take the native engine for that."
        )
    for model in predictor.models:
        model.eval()
    codec = predictor.codec
    codec.check(Request("", to=to))
    aims = codec.encode_targets(targets, sources, to)
    answers = [
        replace(codec.nothing(source), text=target, score=-math.inf if target.strip() else 0.0)
        for source, target in zip(sources, targets, strict=True)
    ]
    reads = _readable(codec.read([Request(source, to=to) for source in sources]))
    asked = list(reads)
    lengths = np.array([max(len(reads[number]), len(aims[number])) for number in asked])
    for batch in in_order(lengths, predictor.batch_tokens):
        numbers = [asked[place] for place in batch]
        found = _forced(
            predictor,
            codec.collate([reads[number] for number in numbers]),
            Tokens.pad([aims[number] for number in numbers]),
            wanted,
        )
        for number, hypothesis in zip(numbers, found, strict=True):
            answers[number] = codec.forced(reads[number], targets[number], hypothesis)
    return answers


def left_out(predictor: Predictor, target: str, *, to: str | None = None) -> int:
    """Pieces of a target that `force` cuts off, because it is longer than the model was trained for."""
    codec: Any = predictor.codec  # what can be told targets has pieces for them
    (row,) = encode_targets(codec.target, [target], [to])
    return max(0, len(row) - predictor.codec.limits.target)


def _readable(reads: Sequence[Read | UserError | None]) -> dict[int, Read]:
    """Those with something in them, by their numbers."""
    for read in reads:
        if isinstance(read, UserError):
            raise read
    return {number: read for number, read in enumerate(reads) if read and not isinstance(read, UserError)}


def _forced(
    predictor: Predictor, source: Source, target: Tokens, wanted: frozenset[str]
) -> Iterator[Hypothesis]:
    """What a search would have found, had it found the targets."""
    source, target = source.to(predictor.device), target.to(predictor.device)
    mask, aims = target.mask, target.ids  # B T, B T
    looks: dict[str, Tensor] = {}
    features: list[Features] = []
    for number, model in enumerate(predictor.models, start=1):
        memory = model.encoder.encode(source, wanted)
        unrolled = model.decoder.unroll(memory, target.fed)
        features.append(unrolled.features[mask])  # N
        for kind, weights in {**memory.attention, **unrolled.attention}.items():
            looks[kind if len(predictor.models) == 1 else member_kind(kind, number)] = weights
    likelihoods = _likelihoods(predictor, features, target.standing)  # N
    # As in a search, in float64: many small ones add up.
    scores = torch.zeros(mask.shape, dtype=torch.float64, device=mask.device)  # B T
    totals: list[float] = scores.masked_scatter(mask, likelihoods.double()).sum(1).tolist()
    check_numbers(totals)
    for place, (total, length) in enumerate(zip(totals, target.lengths.tolist(), strict=True)):
        tokens = tuple(aims[place, :length].tolist())
        attention = {kind: _own(kind, weights[place], length) for kind, weights in looks.items()}
        yield Hypothesis(tokens, total, total, tokens[-1] == END, attention)


def _likelihoods(predictor: Predictor, features: Sequence[Features], aims: Tensor) -> Tensor:
    """How likely each piece wanted (N) is by each model's features (N), some at a time: there are many pieces."""
    mean = SPACES[predictor.space]
    found = [aims.new_zeros(0, dtype=torch.float32)]
    for start in range(0, len(aims), ROWS):
        rows = slice(start, start + ROWS)
        said = [
            log_probabilities(model.decoder.head(some[rows]))
            for model, some in zip(predictor.models, features, strict=True)
        ]
        found.append(mean(stacked(said)).gather(-1, aims[rows, None])[:, 0])  # of n V
    return torch.cat(found)  # N


def _own(kind: str, weights: Tensor, length: int) -> Tensor:
    """The looks of a target of this length, without the padding behind it: L H T S."""
    plain = plain_kind(kind)
    if plain in (CROSS, DECODER):
        weights = weights[:, :, :length]
    return weights[..., :length] if plain == DECODER else weights
