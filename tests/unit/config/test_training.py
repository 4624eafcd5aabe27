from collections.abc import Callable

import pytest

from regard.config import load_config

Fails = Callable[..., str]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[training]\nsteps = 0\n", ["training.steps", "greater than or equal to 1", "0"]),
        ("[training]\nsteps = 'many'\n", ["training.steps", "integer", "many"]),
        ("[training]\nmetric = 'blue'\n", ["training", "Did you mean 'bleu'?"]),
        ("[training]\naverage = 5\nkeep = 4\n", ["keep is 4", "average is 5", "Set training.keep to 5"]),
        ("[training]\naverage = 3\n", ["keep is 2", "average is 3"]),
        ("[training]\nema = 1.0\n", ["training.ema", "less than 1"]),
        ("[training]\nstep_tokens = 900\naccumulate = 2\n", ["accumulate", "step_tokens", "only one"]),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found(fails: Fails, text: str, words: list[str]) -> None:
    sentence = fails(text)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:0", "cuda:15"])
def test_devices_to_train_on_are_accepted(device: str) -> None:
    assert load_config("dates", [f"training.device={device}"]).training.device == device


def test_as_many_as_are_kept_can_be_averaged_and_one_batch_counted_by_pieces() -> None:
    training = load_config("dates", ["training.average=2", "training.step_tokens=900"]).training
    assert (training.average, training.keep, training.step_tokens) == (2, 2, 900)
    assert load_config("dates").training.step_tokens is None


def test_no_clipping_can_be_asked_for() -> None:
    assert load_config("dates", ["training.clip=0"]).training.clip == 0
