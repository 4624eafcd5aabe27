"""Where a training stands: everything besides weights and optimizer that going on exactly needs."""

import base64
import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import torch

from regard.core.errors import UserError
from regard.training.budgets import Spent
from regard.training.ranks import ALONE, Ranks

FORMAT = 1


@dataclass(frozen=True)
class Cursor:
    """The next batch: a position in an epoch."""

    epoch: int = 0
    position: int = 0


@dataclass(frozen=True)
class Best:
    """The best validation so far."""

    step: int
    value: float
    loss: float  # decides between equal values


@dataclass(frozen=True)
class Window:
    """Sums since the last line of the log, so that a resumed log has the same figures."""

    loss: float = 0.0
    tokens: int = 0
    gradient_norm: float = 0.0
    seconds: float = 0.0
    steps: int = 0

    def add(self, *, loss: float, tokens: int, gradient_norm: float, seconds: float) -> "Window":
        return Window(
            self.loss + loss,
            self.tokens + tokens,
            self.gradient_norm + gradient_norm,
            self.seconds + seconds,
            self.steps + 1,
        )


@dataclass(frozen=True)
class TrainingState:
    step: int = 0
    cursor: Cursor = field(default_factory=Cursor)
    tokens: int = 0  # target pieces seen
    seconds: float = 0.0  # spent training, over all sittings
    best: Best | None = None
    stale: int = 0  # validations since the best
    window: Window = field(default_factory=Window)
    rng: dict[str, str] = field(default_factory=dict, repr=False)
    scaler: dict[str, Any] = field(default_factory=dict, repr=False)
    validating: bool = False  # at this step, and not done with it

    @property
    def spent(self) -> Spent:
        return Spent(self.step, self.tokens, self.seconds)

    def to_json(self) -> dict[str, Any]:
        document = {"format": FORMAT, **asdict(self)}
        if not self.validating:
            del document["validating"]
        return document

    @staticmethod
    def from_json(document: dict[str, Any], *, origin: str) -> "TrainingState":
        content = {key: value for key, value in document.items() if key != "format"}
        if document.get("format") not in range(1, FORMAT + 1) or content.keys() - _KNOWN:
            raise UserError(
                f"{origin} was written by a newer version of Regard (format {document.get('format')!r}; this one knows "
                f"formats up to {FORMAT}). Go on with the version that wrote it."
            )
        content["cursor"] = Cursor(**content["cursor"])
        content["window"] = Window(**content["window"])
        content["best"] = Best(**content["best"]) if content["best"] else None
        return TrainingState(**content)

    @property
    def processes(self) -> int:
        """That trained together when this was saved."""
        return max(1, sum(name.startswith("cpu") for name in self.rng))

    def with_rng(self, device: torch.device, ranks: Ranks = ALONE) -> "TrainingState":
        """This state with the random generators as they are now, of each process the CPU's and the device's own."""
        states = {"cpu": torch.get_rng_state()}
        if device.type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(device)
        texts = {name: base64.b64encode(bytes(s.tolist())).decode() for name, s in states.items()}
        everybody = enumerate(map(json.loads, ranks.gather(json.dumps(texts))))
        return replace(
            self, rng={name + _mark(number): one for number, own in everybody for name, one in own.items()}
        )

    def restore_rng(self, device: torch.device, ranks: Ranks = ALONE) -> None:
        """One that was not there when this was saved draws on as it is."""
        for name in ("cpu", "cuda"):
            text = self.rng.get(name + _mark(ranks.number))
            if text is None:
                continue
            state = torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.uint8)
            if name == "cpu":
                torch.set_rng_state(state)
            elif device.type == name:
                torch.cuda.set_rng_state(state, device)


_KNOWN = {one.name for one in fields(TrainingState)}


def _mark(number: int) -> str:
    """What the generators of a process are called by; those of the first as if it were alone."""
    return f" {number}" if number else ""
