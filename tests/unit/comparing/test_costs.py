import json
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.comparing.costs import computing_with, learning
from regard.training import Spent


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Logged after 10 and 20 steps, validated after 5 and 20."""
    lines: list[dict[str, Any]] = [
        {"kind": "validation", "step": 5, "loss": 2.0, "bleu": 10.0},
        {"kind": "train", "step": 10, "tokens": 1000, "seconds": 4.0, "memory": 300},
        {"kind": "train", "step": 20, "tokens": 3000, "seconds": 6.0, "memory": 200},
        {"kind": "validation", "step": 20, "loss": 1.0, "bleu": 30.0},
        {"kind": "average", "step": 20, "loss": 0.5, "bleu": 40.0},
    ]
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_what_was_spent_until_a_validation_lies_between_two_lines_of_the_log(record: Path) -> None:
    first, last = learning(record).points
    assert first.spent == Spent(5, 500, 2.0)
    assert last.spent == Spent(20, 3000, 6.0)
    assert first.values == {"loss": 2.0, "bleu": 10.0}


def test_rate_and_memory_are_those_of_the_whole_training(record: Path) -> None:
    found = learning(record)
    assert found.spent == Spent(20, 3000, 6.0)
    assert found.rate == 500
    assert found.memory == 300


@pytest.mark.parametrize(
    ("metric", "quality", "higher_is_better", "step"),
    [
        ("bleu", 10.0, True, 5),
        ("bleu", 10.1, True, 20),
        ("bleu", 30.1, True, None),  # the average is made at the end, not reached on the way
        ("loss", 2.0, False, 5),
        ("loss", 1.5, False, 20),
        ("ter", 1.0, False, None),
        ("ter", 1.0, True, None),
    ],
)
def test_a_quality_is_reached_at_the_first_validation_that_is_as_good(
    record: Path, metric: str, quality: float, higher_is_better: bool, step: int | None
) -> None:
    found = learning(record).reached(metric, quality, higher_is_better=higher_is_better)
    assert (found and found.steps) == step


def test_while_decoding_is_timed_torch_has_the_threads_that_are_told() -> None:
    before = torch.get_num_threads()
    with computing_with(before + 2):
        assert torch.get_num_threads() == before + 2
    assert torch.get_num_threads() == before


def test_a_run_without_a_record_has_no_costs(tmp_path: Path) -> None:
    found = learning(tmp_path / "metrics.jsonl")
    assert (found.spent, found.rate, found.memory, list(found.points)) == (Spent(0), 0.0, None, [])
