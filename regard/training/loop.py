"""The training loop: batches in, weights and events out."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import nn

from regard.core.batch import Batch
from regard.core.errors import UserError
from regard.core.weights import load_weights, weights_of
from regard.models import Seq2Seq
from regard.training.checkpoints import Checkpoint, Checkpoints, flatten_optimizer, unflatten_optimizer
from regard.training.events import Ended, Event, Progressed, Saved, Validated, Validation
from regard.training.objectives import CrossEntropy, Loss
from regard.training.schedules import Schedule
from regard.training.state import Best, Cursor, TrainingState, Window

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class Batches(Protocol):
    """Batches as a pure function of the cursor."""

    def length(self, epoch: int) -> int: ...

    def batch(self, epoch: int, position: int) -> Batch: ...


@dataclass(frozen=True)
class Plan:
    """How a training goes. All counts are optimizer steps."""

    steps: int
    accumulate: int  # batches for each step
    learning_rate: float
    clip: float | None  # greatest norm of the gradient
    precision: str
    log_every: int
    validate_every: int
    save_every: int
    patience: int | None  # validations without improvement before it stops
    higher_is_better: bool  # of the figure that validation is judged by


class Loop:
    """Trains a model. `run` is a generator of events; between two events nothing is half done.

    Every chance comes from the generators saved in the state and every batch from the cursor, so
    a training that stops anywhere and goes on equals one that never stopped, bit by bit on a CPU.
    """

    def __init__(
        self,
        model: Seq2Seq,
        batches: Batches,
        objective: CrossEntropy,
        optimizer: torch.optim.Optimizer,
        schedule: Schedule,
        plan: Plan,
        *,
        checkpoints: Checkpoints,
        validate: Callable[[], Validation],
        judge: Callable[[Validation], float],
        device: torch.device,
        stop: Callable[[], str | None] = lambda: None,
    ):
        self.model = model
        self.batches = batches
        self.objective = objective.to(device)
        self.optimizer = optimizer
        self.schedule = schedule
        self.plan = plan
        self.checkpoints = checkpoints
        self.validate = validate
        self.judge = judge
        self.device = device
        self.stop = stop
        self.scaler = torch.amp.GradScaler(device.type, enabled=plan.precision == "float16")
        self.state = TrainingState()

    def restore(self, checkpoint: Checkpoint) -> None:
        load_weights(self.model, checkpoint.model)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict(unflatten_optimizer(checkpoint.optimizer, groups))
        self.objective.load_state_dict(checkpoint.objective)
        self.state = checkpoint.state
        self.state.restore_rng(self.device)
        if self.state.scaler:
            self.scaler.load_state_dict(self.state.scaler)

    def run(self) -> Iterator[Event]:
        plan, saved_at = self.plan, self.state.step
        while (reason := self._over()) is None and (asked := self.stop()) is None:
            yield from self._step()
            step = self.state.step
            validated = step % plan.validate_every == 0 or step == plan.steps
            if validated:
                yield self._validated()
            if validated or step % plan.save_every == 0:
                yield self.save()
                saved_at = step
        if self.state.step > saved_at:
            yield self.save()
        yield Ended(self.state.step, reason or str(asked), finished=reason is not None)

    def save(self) -> Saved:
        self.state = replace(self.state.with_rng(self.device), scaler=self.scaler.state_dict())
        optimizer = flatten_optimizer(self.optimizer.state_dict())
        objective = self.objective.state_dict()
        folder = self.checkpoints.save(weights_of(self.model), optimizer, self.state, objective)
        return Saved(self.state.step, folder)

    def _over(self) -> str | None:
        if self.state.step >= self.plan.steps:
            return f"all {self.plan.steps} steps are done"
        if self.plan.patience is not None and self.state.stale >= self.plan.patience:
            return f"no improvement in {self.state.stale} validations"
        return None

    def _step(self) -> Iterator[Event]:
        started = time.perf_counter()
        self.model.train()
        batches, cursor = self._take(self.plan.accumulate)
        tokens = sum(int(batch.target.lengths.sum()) for batch in batches)
        rate = self.plan.learning_rate * self.schedule(self.state.step + 1)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        likelihood = 0.0
        for batch in batches:
            loss = self._loss(batch)
            self.scaler.scale(loss.total / tokens).backward()  # type: ignore[no-untyped-call]
            likelihood += float(loss.likelihood)
        self.scaler.unscale_(self.optimizer)
        norm = float(nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip or math.inf))
        if not math.isfinite(likelihood) or not (math.isfinite(norm) or self.scaler.is_enabled()):
            raise UserError(
                f"Training diverged at step {self.state.step + 1}: the loss or its gradient is no longer "
                f"a number. Try a lower training.learning_rate (now {self.plan.learning_rate:g}), a longer "
                "training.warmup or a smaller training.clip, in a new folder (--run). "
                "The last checkpoint is intact."
            )
        self.scaler.step(self.optimizer)
        self.scaler.update()

        state, seconds = self.state, time.perf_counter() - started
        norm = norm if math.isfinite(norm) else 0.0  # float16 skips a step that overflows
        self.state = replace(
            state,
            step=state.step + 1,
            cursor=cursor,
            tokens=state.tokens + tokens,
            seconds=state.seconds + seconds,
            window=state.window.add(loss=likelihood, tokens=tokens, gradient_norm=norm, seconds=seconds),
        )
        if self.state.step % self.plan.log_every == 0:
            yield self._progressed(rate, gradient_norms(self.model))

    def _loss(self, batch: Batch) -> Loss:
        precision = PRECISIONS[self.plan.precision]
        with torch.autocast(self.device.type, precision, enabled=precision != torch.float32):
            loss: Loss = self.objective(self.model, batch, self.state.step)
            return loss

    def _take(self, count: int) -> tuple[list[Batch], Cursor]:
        """The next batches, and the cursor after them."""
        batches, cursor = [], self.state.cursor
        for _ in range(count):
            batches.append(self.batches.batch(cursor.epoch, cursor.position).to(self.device))
            cursor = replace(cursor, position=cursor.position + 1)
            if cursor.position >= self.batches.length(cursor.epoch):
                cursor = Cursor(cursor.epoch + 1, 0)
        return batches, cursor

    def _progressed(self, rate: float, norms: dict[str, float]) -> Progressed:
        state, window = self.state, self.state.window
        self.state = replace(state, window=Window())
        return Progressed(
            step=state.step,
            epoch=state.cursor.epoch,
            loss=window.loss / window.tokens,
            learning_rate=rate,
            gradient_norm=window.gradient_norm / window.steps,
            tokens=state.tokens,
            tokens_per_second=window.tokens / window.seconds,
            seconds=state.seconds,
            gradient_norms=norms,
        )

    def _validated(self) -> Validated:
        self.model.eval()
        with torch.inference_mode():
            validation = self.validate()
        value = self.judge(validation)
        found = Best(self.state.step, value, validation.loss)
        is_best = self.state.best is None or self._rank(found) > self._rank(self.state.best)
        if is_best:
            self.state = replace(self.state, best=found, stale=0)
        else:
            self.state = replace(self.state, stale=self.state.stale + 1)
        return Validated(self.state.step, validation, is_best)

    def _rank(self, best: Best) -> tuple[float, float]:
        """Higher is better; what is not a number is worst."""
        value = best.value if self.plan.higher_is_better else -best.value
        return (-math.inf if math.isnan(value) else value), (
            -math.inf if math.isnan(best.loss) else -best.loss
        )


def gradient_norms(model: nn.Module) -> dict[str, float]:
    """The norm of the gradient of each layer, as it was used: what vanishes or explodes shows here."""
    squares: dict[str, float] = {}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            layer = name.rpartition(".")[0]
            squares[layer] = squares.get(layer, 0.0) + float(parameter.grad.square().sum())
    return {layer: math.sqrt(square) for layer, square in squares.items() if math.isfinite(square)}
