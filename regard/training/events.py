"""What a training tells as it goes. The loop yields these; whoever listens prints, logs or draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regard.core.prediction import Prediction
from regard.core.weights import Weights


@dataclass(frozen=True)
class Noted:
    """Something worth a line: what was read, built, found again."""

    text: str


@dataclass(frozen=True)
class Progressed:
    step: int
    epoch: int
    loss: float  # negative log-likelihood of a target piece, mean since the last one of these
    learning_rate: float
    gradient_norm: float
    tokens: int  # target pieces seen in all
    tokens_per_second: float
    seconds: float  # spent training in all
    memory: int | None = None  # most bytes that this process has had so far; None: not known here
    gradient_norms: Mapping[str, float] = field(default_factory=dict, repr=False)  # of each layer


@dataclass(frozen=True)
class Validation:
    """What a validation found."""

    loss: float
    scores: Mapping[str, float]
    samples: Sequence[Prediction] = field(repr=False)

    def by(self, metric: str) -> float:
        """The score of this name, or the loss."""
        return self.loss if metric == "loss" else self.scores[metric]


@dataclass(frozen=True)
class Validated:
    step: int
    validation: Validation
    is_best: bool


@dataclass(frozen=True)
class Saved:
    step: int
    folder: Path


@dataclass(frozen=True)
class Averaged:
    """The mean of the newest checkpoints, at the end. It becomes the model if `is_best`, else that of `best` does."""

    step: int
    steps: Sequence[int]  # of the checkpoints, the newest first
    weights: Weights = field(repr=False)
    validation: Validation
    is_best: bool
    best: int  # the step of the best single checkpoint


@dataclass(frozen=True)
class Ended:
    """The last event. `finished` is False when somebody asked to stop and there is more to do."""

    step: int
    reason: str
    finished: bool


Event = Noted | Progressed | Validated | Saved | Averaged | Ended
