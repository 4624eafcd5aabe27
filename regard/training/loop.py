"""The training loop: batches in, weights and events out."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

import torch
from torch import nn

from regard.core.batch import Batch
from regard.core.errors import UserError
from regard.core.peaks import peak_memory
from regard.core.weights import Weights, borrowed, load_weights, weights_of
from regard.models import Seq2Seq
from regard.training.averages import MovingAverage
from regard.training.budgets import Budget
from regard.training.checkpoints import Checkpoint, Checkpoints, flatten_optimizer, unflatten_optimizer
from regard.training.events import Averaged, Ended, Event, Progressed, Saved, Validated, Validation
from regard.training.objectives import CrossEntropy, Loss
from regard.training.ranks import ALONE, Ranks
from regard.training.schedules import Schedule
from regard.training.state import Best, Cursor, TrainingState, Window

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class Batches(Protocol):
    """Batches as a pure function of the cursor; of each, this process's share."""

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
    step_tokens: int | None = None  # target pieces to gather for each step, instead of counting batches
    ema: float = 0.0  # how much a step counts in the moving average, compared with the next; 0 is none
    average: int = 1  # newest checkpoints whose mean is tried at the end
    tokens: int | None = None  # target pieces to see, at the most
    seconds: float | None = None  # to spend in steps, at the most

    @property
    def budget(self) -> Budget:
        return Budget(self.steps, self.tokens, self.seconds)

    def over(self, state: TrainingState) -> str | None:
        """Why a training that stands here is over, if it is."""
        if state.validating:
            return None
        if reason := self.budget.over(state.spent):
            return reason
        if self.patience is not None and state.stale >= self.patience:
            return f"no improvement in {state.stale} validations"
        return None

    def validates_at(self, step: int) -> bool:
        return step % self.validate_every == 0 or step == self.steps

    def saves_at(self, step: int) -> bool:
        return step % self.save_every == 0 or self.validates_at(step)


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
        ranks: Ranks = ALONE,
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
        self.ranks = ranks
        self.scaler = torch.amp.GradScaler(device.type, enabled=plan.precision == "float16")
        self.ema = MovingAverage(model, decay=plan.ema) if plan.ema else None
        self.state = TrainingState()

    def restore(self, checkpoint: Checkpoint) -> None:
        load_weights(self.model, checkpoint.model)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict(unflatten_optimizer(checkpoint.optimizer, groups))
        known = self.objective.state_dict()  # what an older Regard did not keep begins anew
        self.objective.load_state_dict({**known, **checkpoint.objective})
        if self.ema is not None:
            if not checkpoint.ema:
                raise UserError(
                    f"{checkpoint.folder} has no moving average of the weights, but training.ema is "
                    f"{self.plan.ema:g}. Set it to 0, or train in another folder with --run."
                )
            self.ema.restore(checkpoint.ema)
        self.state = checkpoint.state
        self.state.restore_rng(self.device, self.ranks)
        if self.state.scaler:
            self.scaler.load_state_dict(self.state.scaler)

    def begin(self) -> Iterator[Event]:
        """For weights that come from another training: they are saved, and are the ones to beat."""
        yield self._validated()
        yield self.save()

    def run(self) -> Iterator[Event]:
        plan, saved_at = self.plan, self.state.step
        if self.state.validating:  # the process died meanwhile
            yield from self._validate_saved()
        while (reason := plan.over(self.state)) is None and (asked := self.ranks.any(self.stop())) is None:
            yield from self._step()
            step, is_last = self.state.step, plan.budget.over(self.state.spent) is not None
            if plan.validates_at(step) or is_last:
                self.state = replace(self.state, validating=True)
                self.save()  # before: a process may well die while it validates
                yield from self._validate_saved()
                saved_at = step
            elif plan.saves_at(step):
                yield self.save()
                saved_at = step
        if (
            reason is not None and self.state.window.steps
        ):  # no patience is left: that ends it without a last line
            yield self._progressed(self.optimizer.param_groups[0]["lr"], gradient_norms(self.model))
            yield self.save()
        elif self.state.step > saved_at:
            yield self.save()
        if self.will_average:
            yield self._averaged()
        yield Ended(self.state.step, reason or str(asked), finished=reason is not None)

    def save(self) -> Saved:
        self.state = replace(self.state.with_rng(self.device, self.ranks), scaler=self.scaler.state_dict())
        optimizer = flatten_optimizer(self.optimizer.state_dict())
        objective = self.objective.state_dict()
        ema = self.ema.weights if self.ema is not None else None
        weights = weights_of(self.model)
        self.ranks.once(lambda: self.checkpoints.save(weights, optimizer, self.state, objective, ema))
        return Saved(self.state.step, self.checkpoints.path(self.state.step))

    def _validate_saved(self) -> Iterator[Event]:
        yield self._validated()
        self.state = state = self.state.with_rng(self.device, self.ranks)
        restated = self.ranks.sum(int(self.ranks.is_first and self.checkpoints.restate(state)))
        yield Saved(state.step, self.checkpoints.path(state.step)) if restated else self.save()

    @property
    def will_average(self) -> bool:
        """Nothing is left to do but the average of the newest checkpoints."""
        return self.plan.average > 1 and self.plan.over(self.state) is not None

    def _step(self) -> Iterator[Event]:
        started = time.perf_counter()
        self.model.train()
        batches, tokens, cursor = self._take()
        steps = self.plan.budget.promised(self.state.spent)
        rate = self.plan.learning_rate * self.schedule(self.state.step + 1, steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        likelihood = 0.0
        for batch in batches:
            loss = self._loss(batch)
            self.scaler.scale(loss.total / (tokens * batch.copies)).backward()  # type: ignore[no-untyped-call]
            likelihood += float(loss.likelihood) / batch.copies
        self.ranks.add_up(self.model.parameters())
        likelihood = self.ranks.sum(likelihood)
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
        if self.ema is not None:
            self.ema.add(self.model, step=self.state.step + 1)

        state, seconds = self.state, self.ranks.agreed(time.perf_counter() - started)
        norm = norm if math.isfinite(norm) else 0.0  # float16 skips a step that overflows
        self.state = replace(
            state,
            step=state.step + 1,
            cursor=cursor,
            tokens=state.tokens + tokens,
            seconds=state.seconds + seconds,
            window=state.window.add(loss=likelihood, tokens=tokens, gradient_norm=norm, seconds=seconds),
        )
        if self.state.step % self.plan.log_every == 0 or self.plan.budget.over(self.state.spent):
            yield self._progressed(rate, gradient_norms(self.model))

    def _loss(self, batch: Batch) -> Loss:
        precision = PRECISIONS[self.plan.precision]
        with torch.autocast(self.device.type, precision, enabled=precision != torch.float32):
            loss: Loss = self.objective(self.model, batch, self.state.step)
            return loss

    def _take(self) -> tuple[list[Batch], int, Cursor]:
        """The batches of a step, the target pieces that all processes have in them, and the cursor after them."""
        batches: list[Batch] = []
        tokens, cursor = 0, self.state.cursor
        while not self._enough(len(batches), tokens):
            batch = self.batches.batch(cursor.epoch, cursor.position)
            batches.append(batch.to(self.device))
            tokens += round(self.ranks.sum(int(batch.target.lengths.sum()) / batch.copies))
            cursor = replace(cursor, position=cursor.position + 1)
            if cursor.position >= self.batches.length(cursor.epoch):
                cursor = Cursor(cursor.epoch + 1, 0)
        return batches, tokens, cursor

    def _enough(self, batches: int, tokens: int) -> bool:
        if self.plan.step_tokens is None:
            return batches >= self.plan.accumulate
        return tokens >= self.plan.step_tokens

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
            memory=peak_memory(self.device),
            gradient_norms=norms,
        )

    def _validated(self) -> Validated:
        validation = self._validate(self.ema.weights if self.ema is not None else None)
        found = Best(self.state.step, self.judge(validation), validation.loss)
        is_best = self.state.best is None or self._rank(found) > self._rank(self.state.best)
        best, stale = (found, 0) if is_best else (self.state.best, self.state.stale + 1)
        self.state = replace(self.state, best=best, stale=stale, validating=False)
        return Validated(self.state.step, validation, is_best)

    def _averaged(self) -> Averaged:
        """The last, and those that the plan saved before it: who stopped when changes nothing."""
        last = self.state.step
        planned = (step for step in range(last - 1, 0, -1) if self.plan.saves_at(step))
        steps = (last, *islice(planned, self.plan.average - 1))
        weights = self.checkpoints.mean(steps)
        validation = self._validate(weights)
        best, found = self.state.best, Best(self.state.step, self.judge(validation), validation.loss)
        assert best is not None, "a training ends with a validation"
        is_best = self._rank(found) > self._rank(best)
        return Averaged(self.state.step, steps, weights, validation, is_best, best.step)

    def _validate(self, weights: Weights | None) -> Validation:
        """With other weights than the model has now, if some are given."""
        self.model.eval()
        with borrowed(self.model, weights) if weights else nullcontext(), torch.inference_mode():
            return self.validate()

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
