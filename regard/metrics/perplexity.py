"""How surprised a model is by right answers."""

import math
from collections.abc import Sequence

import numpy as np

from regard import __version__
from regard.metrics.score import Tally


def perplexity(likelihoods: Sequence[float], pieces: Sequence[int]) -> Tally:
    """e to the mean negative log-likelihood of a piece, from those of whole answers with their end marks.

    It can be compared only between models with the same pieces.
    """
    counts = np.array([[-likelihood, count] for likelihood, count in zip(likelihoods, pieces, strict=True)])
    signature = f"per:piece|end:yes|version:regard-{__version__}"
    return Tally("perplexity", signature, False, counts, _exponential)


def _exponential(sums: Sequence[float]) -> float:
    surprise, pieces = sums
    return math.exp(min(surprise / pieces, 700.0)) if pieces else math.inf
