"""Configuration -> objects: the one place that knows both."""

from regard.build.codecs import learn_codec, limits, load_codec, recutters
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
from regard.build.origins import Start, config_from
from regard.build.shortlists import as_tensors, load_shortlist, no_shortlist
from regard.build.tasks import TASKS, own_files, task

__all__ = [
    "TASKS",
    "Start",
    "as_tensors",
    "config_from",
    "device",
    "judging_metric",
    "learn_codec",
    "limits",
    "load_codec",
    "load_model",
    "load_shortlist",
    "metrics",
    "model",
    "no_shortlist",
    "objective",
    "optimizer",
    "own_files",
    "parameters",
    "plan",
    "recutters",
    "schedule",
    "search_plan",
    "task",
]
