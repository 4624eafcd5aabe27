"""Every setting of a model and of its training has a place on a page."""

import re
from pathlib import Path
from typing import get_args

import pytest

from regard.config.model import Model
from regard.config.parts import Attention, Context, Decoder, Encoder, Points
from regard.config.training import Training

DOCS = Path(__file__).parent.parent.parent / "docs"
PARTS = [Model, Attention, Context, Points, *get_args(get_args(Encoder)[0]), *get_args(get_args(Decoder)[0])]


def named(*pages: str) -> set[str]:
    """All words in code type."""
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in pages)
    fences = re.findall(r"```.*?```", text, flags=re.DOTALL)
    inline = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return {word for code in (*fences, *inline) for word in re.split(r"\W+", code)}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_setting_of_a_model_is_named(part: type[Model]) -> None:
    assert set(part.model_fields) - named("models.md", "attention.md") == set()


def test_every_setting_of_a_training_is_named() -> None:
    assert set(Training.model_fields) - named("training.md", "scale.md") == set()
