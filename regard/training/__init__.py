"""Training: model + batches -> trained weights."""

from torch.optim import Adam, AdamW

from regard.training.budgets import Budget, Spent
from regard.training.checkpoints import Checkpoint, Checkpoints
from regard.training.events import Averaged, Ended, Event, Noted, Progressed, Saved, Validated, Validation
from regard.training.feeding import DECAYS, FEEDINGS
from regard.training.loop import PRECISIONS, Loop, Plan
from regard.training.objectives import Coverage, CrossEntropy, DoublyStochastic, LookPenalty, Reinforce
from regard.training.ranks import ALONE, LostError, Ranks, joined
from regard.training.recording import Recorder
from regard.training.rewards import ExpectedReward
from regard.training.schedules import SCHEDULES, Schedule
from regard.training.state import TrainingState

OPTIMIZERS = {"adam": Adam, "adamw": AdamW}

__all__ = [
    "ALONE",
    "DECAYS",
    "FEEDINGS",
    "OPTIMIZERS",
    "PRECISIONS",
    "SCHEDULES",
    "Averaged",
    "Budget",
    "Checkpoint",
    "Checkpoints",
    "Coverage",
    "CrossEntropy",
    "DoublyStochastic",
    "Ended",
    "Event",
    "ExpectedReward",
    "LookPenalty",
    "Loop",
    "LostError",
    "Noted",
    "Plan",
    "Progressed",
    "Ranks",
    "Recorder",
    "Reinforce",
    "Saved",
    "Schedule",
    "Spent",
    "TrainingState",
    "Validated",
    "Validation",
    "joined",
]
