"""Configuration -> objects: the one place that knows both."""

from regard.build.learning import (
    device,
    judging_metric,
    metrics,
    objective,
    optimizer,
    plan,
    schedule,
    search_plan,
)
from regard.build.networks import load_model, model, parameters
from regard.build.pairs import TASKS, dropouts, learn_codec, limits, load_codec, own_files, task

__all__ = [
    "TASKS",
    "device",
    "dropouts",
    "judging_metric",
    "learn_codec",
    "limits",
    "load_codec",
    "load_model",
    "metrics",
    "model",
    "objective",
    "optimizer",
    "own_files",
    "parameters",
    "plan",
    "schedule",
    "search_plan",
    "task",
]
