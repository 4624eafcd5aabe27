"""Regard: sequence-to-sequence learning with attention that you can see.

import regard

model = regard.load("runs/dates")
answer = model.predict("Saturday 09 May 2018")
answer.text, answer.score, answer.attention
answer.plot()
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.core.errors import UserError
    from regard.core.prediction import AttentionRecord, Prediction, Request
    from regard.predictor import Predictor, load

__version__ = "0.1.0"

__all__ = ["AttentionRecord", "Prediction", "Predictor", "Request", "UserError", "__version__", "load"]

# Loaded when first asked for: the command line's help and completion need not wait for torch.
_HOMES = {
    "AttentionRecord": "regard.core.prediction",
    "Prediction": "regard.core.prediction",
    "Predictor": "regard.predictor",
    "Request": "regard.core.prediction",
    "UserError": "regard.core.errors",
    "load": "regard.predictor",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *globals()])
