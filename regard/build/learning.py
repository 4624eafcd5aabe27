"""How a model is trained, searched and judged."""

from typing import Any

import torch
from torch.optim import Adam, Optimizer

from regard.build.parts import looking_layer
from regard.build.tasks import task
from regard.config import Config
from regard.core.errors import UserError
from regard.metrics import METRICS, Metric
from regard.models import Seq2Seq
from regard.search import Finder, Groups, Rollout, SearchPlan
from regard.training import (
    ALONE,
    DECAYS,
    FEEDINGS,
    OPTIMIZERS,
    SCHEDULES,
    Coverage,
    CrossEntropy,
    DoublyStochastic,
    ExpectedReward,
    LookPenalty,
    Plan,
    Ranks,
    Reinforce,
    Schedule,
)


def objective(config: Config, ranks: Ranks = ALONE) -> CrossEntropy:
    training = config.training
    decay = DECAYS[training.decay](steps=training.decay_steps, least=training.least_truth)
    reinforce = Reinforce(
        weight=training.reinforce,
        entropy_bonus=training.entropy_bonus,
        discount=training.discount,
        ranks=ranks,
    )
    penalties: list[LookPenalty] = []
    layer = looking_layer(config)
    if training.coverage:
        head = config.model.attention.pointer_head
        penalties.append(Coverage(weight=training.coverage, layer=layer, head=head))
    if training.doubly_stochastic:
        penalties.append(DoublyStochastic(weight=training.doubly_stochastic, layer=layer))
    return CrossEntropy(
        label_smoothing=training.label_smoothing,
        feeding=FEEDINGS[training.feeding](decay),
        reinforce=reinforce if config.model.attention.selection == "hard" else None,
        penalties=penalties,
        reward=_reward(config) if training.reward else None,
        ranks=ranks,
    )


def _reward(config: Config) -> ExpectedReward:
    training, longest = config.training, max(config.data.max_target, config.search.max_length)
    return ExpectedReward(weight=training.reward, draws=training.draws, longest=longest)


def search_plan(config: Config) -> Finder:
    """How answers are found: by a search over pieces, or by a rollout of points."""
    if config.kind_of("target") == "points":
        own: Any = task(config)
        return Rollout(steps=own.steps)
    settings = config.search.model_dump()
    groups = Groups(settings.pop("groups"), settings.pop("diversity"))
    return SearchPlan(**settings, groups=groups)


def metrics(config: Config) -> list[Metric]:
    language = task(config).target_language
    return [METRICS[name](language=language) for name in config.evaluation.metrics]


def judging_metric(config: Config) -> Metric | None:
    """The metric that decides which checkpoint is best; none: the loss does."""
    name = config.training.metric
    return None if name == "loss" else METRICS[name](language=task(config).target_language)


def plan(config: Config) -> Plan:
    training, judge = config.training, judging_metric(config)
    return Plan(
        steps=training.steps,
        tokens=training.tokens,
        seconds=60 * training.minutes if training.minutes is not None else None,
        accumulate=training.accumulate,
        step_tokens=training.step_tokens,
        learning_rate=training.learning_rate,
        clip=training.clip or None,
        precision=training.precision,
        log_every=training.log_every,
        validate_every=training.validate_every,
        save_every=training.save_every,
        patience=training.patience,
        ema=training.ema,
        average=training.average,
        higher_is_better=judge is not None and judge.higher_is_better,
    )


def schedule(config: Config) -> Schedule:
    training = config.training
    return SCHEDULES[training.schedule](warmup=training.warmup)


def optimizer(config: Config, net: Seq2Seq) -> Optimizer:
    training = config.training
    kind: type[Adam] = OPTIMIZERS[training.optimizer]
    return kind(
        net.parameters(),
        lr=training.learning_rate,
        betas=training.betas,
        weight_decay=training.weight_decay,
        fused=True,
    )


def device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(name)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError):
        chosen = None
    if chosen is None or chosen.type not in ("cpu", "cuda"):
        raise UserError(f"There is no device {name!r} here. Use auto or cpu.")
    return chosen
