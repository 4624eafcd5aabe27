"""Where an arm goes is known to its sensors alone: who does not look at them cannot know."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard import build
from regard.config import load_config
from regard.metrics import METRICS
from regard.predictor import load
from regard.tasks.arms import Arms
from regard.trainer import Trainer

SMALL = (
    "task.pairs=6000",
    "data.validation_size=20",
    "data.test_size=200",
    "training.batch_tokens=1536",
    "training.learning_rate=5e-3",
    "training.tensorboard=false",
)


def learned(folder: Path, steps: int, *changes: str) -> tuple[float, list[NDArray[np.float32]], list[str]]:
    """The mean distance from the truth, the looks at the context and the sources of the test."""
    whole = [f"training.{name}={steps}" for name in ("steps", "validate_every", "save_every")]
    config = load_config("arms", [*SMALL, *whole, f"training.decay_steps={steps // 2}", *changes])
    for _ in Trainer(config, folder).events():
        pass
    pairs = build.task(config).examples().test
    answers = load(folder).predict([pair.source for pair in pairs])
    score = METRICS["ade"]()([answer.text for answer in answers], [[pair.target] for pair in pairs])
    looks = [one.attention.matrix("context") for one in answers if one.attention.has("context")]
    return score.value, looks, [pair.source for pair in pairs]


def test_sensors_make_the_error_five_times_smaller_and_the_right_one_is_looked_at(tmp_path: Path) -> None:
    without, _, _ = learned(tmp_path / "without", 120, "task.context=false")
    error, looks, sources = learned(tmp_path / "with", 260)
    assert error < without / 5
    arms = Arms()
    looked = np.array([look.argmax(-1) for look in looks])
    right = looked == np.array([arms.needed(source) for source in sources])
    begun = (
        np.arange(arms.predicted) % arms.stretch > 0
    )  # the first step of a reach is short: the last goal still counts
    assert right[:, begun].mean() > 0.9
    assert right.mean() > 0.7
