"""How a model is trained, searched and judged."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from regard.config.fields import Beta, Length, Member, Seed, Settings, Steps, Tokens
from regard.core.errors import did_you_mean
from regard.metrics import METRICS, PERPLEXITY, TRAITS
from regard.search import RANKS
from regard.training import DECAYS, FEEDINGS, OPTIMIZERS, PRECISIONS, SCHEDULES


def _device(name: str) -> str:
    if not re.fullmatch(r"auto|cpu|cuda(:[0-9]{1,2})?", name, re.ASCII):
        raise ValueError(f"{name!r} is not a device to train on. Use auto, cpu, cuda or cuda:1")
    return name


class Training(Settings):
    seed: Seed = Field(1, description="Of first weights, the order of pairs, dropout and all other chance.")
    device: Annotated[str, AfterValidator(_device)] = Field(
        "auto", description='"auto", "cpu", "cuda", "cuda:1" ...'
    )
    precision: Annotated[str, Member(PRECISIONS)] = Field(
        "float32",
        description="bfloat16 and float16 run under autocast: for GPUs, bfloat16 for CPUs that multiply it too.",
    )
    steps: Steps = Field(10_000, description="Optimizer steps, at the most.")
    tokens: Steps | None = Field(None, description="Target pieces to see, at the most; left out: no limit.")
    minutes: float | None = Field(
        None,
        gt=0,
        le=10**9,
        description="Minutes to spend in optimizer steps, at the most; left out: no limit. Validating is not counted.",
    )
    batch_tokens: Tokens = Field(4096, description="Pieces of the longer side in one batch, with padding.")
    by_length: bool = Field(
        True,
        description="Like lengths share a batch, for less padding. Off: chance alone says who does, "
        "better where a length tells what is said.",
    )
    accumulate: int = Field(1, ge=1, le=10**6, description="Batches for one optimizer step.")
    step_tokens: Tokens | None = Field(
        None,
        description="Batches are taken until they have this many target pieces for one optimizer step, "
        "instead of counting them with accumulate.",
    )
    optimizer: Annotated[str, Member(OPTIMIZERS)] = Field("adam", description="How gradients move weights.")
    learning_rate: float = Field(1e-3, gt=0, le=1000, description="The greatest that the schedule comes to.")
    betas: tuple[Beta, Beta] = Field(
        (0.9, 0.999), description="How long Adam remembers gradients and their squares."
    )
    weight_decay: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="How much weights shrink: adamw takes it off them, adam adds it to their gradient.",
    )
    schedule: Annotated[str, Member(SCHEDULES)] = Field(
        "inverse_sqrt", description="How the learning rate falls after the warm-up."
    )
    warmup: int = Field(400, ge=0, le=10**12, description="Steps during which the learning rate rises.")
    clip: float = Field(1.0, ge=0, le=10**9, description="Greatest norm of the gradient; 0 is no clipping.")
    label_smoothing: float = Field(
        0.0, ge=0, lt=1, description="Share of each right answer that is spread over all pieces."
    )
    feeding: Annotated[str, Member(FEEDINGS)] = Field(
        "teacher",
        description="What the decoder is fed: the truth; the truth less and less often, step by step "
        "(scheduled) or in two unrolled passes (two_pass); always its own pieces (free).",
    )
    decay: Annotated[str, Member(DECAYS)] = Field(
        "inverse_sigmoid", description="How the share of truth falls when feeding is scheduled or two_pass."
    )
    decay_steps: Steps = Field(2000, description="How fast it falls: the greater, the slower.")
    least_truth: float = Field(0.25, ge=0, le=1, description="The share of truth that it never falls below.")
    reinforce: float = Field(1.0, ge=0, le=1000, description="Weight of the hard selection's own gradient.")
    discount: float = Field(
        1.0,
        ge=0,
        le=1,
        description="How much of it is for pieces after the look's own: less for each further one.",
    )
    entropy_bonus: float = Field(0.01, ge=0, le=1000, description="Reward for hard choices that stay open.")
    reward: float = Field(
        0.0,
        ge=0,
        le=10**6,
        description="Weight of what answers drawn from the model have of the right one, beside the likelihood of the "
        "right one (Wu et al. 2016); 0 is nothing.",
    )
    draws: int = Field(4, ge=2, le=100, description="Answers drawn for each source where there is a reward.")
    coverage: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="Weight of the penalty on looking where one has looked before; 0 is none.",
    )
    doubly_stochastic: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="Weight of the penalty on places that all looks together see more or less than once (Xu et al. "
        "2015); 0 is none.",
    )
    log_every: Steps = Field(50, description="Steps from one line of the record to the next.")
    validate_every: Steps = Field(500, description="Steps from one validation to the next.")
    save_every: Steps = Field(500, description="Steps from one checkpoint to the next.")
    keep: int = Field(2, ge=2, le=10**6, description="Newest checkpoints kept; the best is kept too.")
    average: int = Field(
        1,
        ge=1,
        le=10**6,
        description="Newest checkpoints whose mean becomes the model at the end, if it validates better than the "
        "best of them all; 1 is no averaging.",
    )
    ema: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Decay of a moving average of the weights, such as 0.999, which is validated and becomes the "
        "model; 0 is none.",
    )
    patience: int | None = Field(
        None, ge=1, le=10**9, description="Validations without improvement before it stops."
    )
    metric: str = Field("loss", description="What decides which checkpoint is best: loss or a metric's name.")
    samples: int = Field(
        4, ge=0, le=10**6, description="Validation examples whose predictions are kept at each validation."
    )
    tensorboard: bool = Field(True, description="Write TensorBoard files too, where it is installed.")

    @model_validator(mode="after")
    def _known_metric(self) -> "Training":
        known = ["loss", *METRICS]
        if self.metric not in known:
            raise ValueError(f"metric = {self.metric!r} is not known.{did_you_mean(self.metric, known)}")
        return self

    @model_validator(mode="after")
    def _enough_is_kept(self) -> "Training":
        if self.keep < self.average:
            raise ValueError(
                f"keep is {self.keep}, but average is {self.average}: only checkpoints that are kept can be "
                f"averaged. Set training.keep to {self.average} or more"
            )
        return self

    @model_validator(mode="after")
    def _one_way_to_count(self) -> "Training":
        if self.step_tokens is not None and self.accumulate > 1:
            raise ValueError(
                "accumulate counts the batches of a step and step_tokens its target pieces: only one of them "
                "can decide when a step is full. Leave one of them out"
            )
        return self


class Search(Settings):
    beam: int = Field(1, ge=1, le=1000, description="Width of the beam; 1 is greedy.")
    penalty: Annotated[str, Member(RANKS)] = Field(
        "gnmt", description="How answers of different lengths are compared: gnmt or average."
    )
    length_penalty: float = Field(0.6, ge=0, le=10, description="Exponent of the length penalty; 0 is none.")
    coverage: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="How much it counts that source pieces were not looked at; 0 is nothing.",
    )
    min_length: int = Field(0, ge=0, le=10**6, description="Smallest number of pieces in an answer.")
    min_ratio: float = Field(0.0, ge=0, le=1000, description="And at least this many for each source piece.")
    max_length: Length = Field(
        200, description="Greatest number of pieces in an answer, its end mark included."
    )
    max_ratio: float = Field(
        3.0, gt=0, le=1000, description="And at most this many for each source piece, plus 10."
    )
    end_threshold: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="The end must be this many times as likely as the likeliest other piece.",
    )
    no_repeat: int = Field(
        0, ge=0, le=10**6, description="So many pieces in a row never come twice in an answer; 0 is no rule."
    )
    unknown: bool = Field(True, description="An answer may say that a word is unknown; else it says another.")
    groups: int = Field(1, ge=1, le=1000, description="Parts of the beam that avoid each other.")
    diversity: float = Field(0.5, ge=0, le=1000, description="How much they avoid each other.")


class Evaluation(Settings):
    metrics: list[Annotated[str, Member(METRICS)]] = Field(
        ["bleu", "chrf"],
        min_length=1,
        description="What answers are judged by; the first decides comparisons.",
    )
    traits: list[Annotated[str, Member({PERPLEXITY: None, **TRAITS})]] = Field(
        [],
        description="What answers are like, beside how right they are; perplexity is of the right answers.",
    )
    batch_tokens: Tokens = Field(
        8192, description="Pieces of source in one batch, with padding, for each hypothesis of the beam."
    )
    at_end: bool = Field(True, description="Score the model on the test pairs when its training is done.")
