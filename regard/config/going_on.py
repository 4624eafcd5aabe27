"""Which settings of a training may change while it goes on, without making another training of it."""

from regard.config.loading import difference
from regard.config.settings import Config

# What is written, where it is computed, how answers are searched and judged: no weight depends on it.
_FREE = (
    "training.device",
    "training.log_every",
    "training.samples",
    "training.tensorboard",
    "evaluation.",
    "search.",
)
_BOUND = ("search.max_length",)  # models with a table of positions are built for it
_BUDGETS = ("training.steps", "training.tokens", "training.minutes")
_ENDLESS = ("constant", "inverse_sqrt")  # schedules that do not know when a training ends


def harmless(old: Config, new: Config) -> list[str]:
    """Of the settings that differ, those that a training goes on with; a longer budget too, if no schedule minds."""
    return [change for change in difference(old, new) if _is_harmless(change.partition(":")[0], old, new)]


def harmful(old: Config, new: Config) -> list[str]:
    """And those that it does not."""
    fine = harmless(old, new)
    return [change for change in difference(old, new) if change not in fine]


def _is_harmless(key: str, old: Config, new: Config) -> bool:
    if key in _BUDGETS:
        name = key.rpartition(".")[2]
        before, after = getattr(old.training, name), getattr(new.training, name)
        grows = before is not None and (after is None or after > before)
        return grows and new.training.schedule in _ENDLESS
    return key.startswith(_FREE) and key not in _BOUND
