"""Configuration -> objects: the one file that knows both."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch.optim import Adam, Optimizer

from regard.attention import SCOPES, SCORES, SELECTIONS, Attention, FixedVector, Look
from regard.config import NO_ATTENTION, Config, Files, Pieces, TwoFiles
from regard.config import Dates as DatesSettings
from regard.config import Translation as TranslationSettings
from regard.core.errors import UserError
from regard.data import JsonlFile, Limits, PairFile, ParallelFiles, TsvFile, located
from regard.decoders import BRIDGES, DECODERS, Stack
from regard.encoders import ENCODERS, Encoder
from regard.layers import READOUTS, Embedding
from regard.metrics import METRICS, Metric
from regard.models import Seq2Seq
from regard.run import ModelFolder
from regard.search import SearchPlan
from regard.tasks.dates import Dates
from regard.tasks.text import Examples, OwnFiles, Task, TextCodec
from regard.tasks.translation import Translation
from regard.text import TOKENIZERS, BpeDropout, Tokenizer
from regard.training import (
    DECAYS,
    FEEDINGS,
    OPTIMIZERS,
    SCHEDULES,
    CrossEntropy,
    Plan,
    Reinforce,
    Schedule,
)


def task(config: Config) -> Task:
    return TASKS[config.task.name](config, config.task)


def _dates(config: Config, settings: DatesSettings) -> Dates:
    return Dates(
        locales=settings.locales,
        years=settings.years,
        pairs=settings.pairs,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
        own=own_files(config),
    )


def _translation(config: Config, settings: TranslationSettings) -> Translation:
    own = own_files(config)
    assert own is not None, "a configuration for translation has data.train"
    return Translation(
        own,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
        source_language=settings.source_language,
        target_language=settings.target_language,
    )


TASKS: dict[str, Callable[[Config, Any], Task]] = {"dates": _dates, "translation": _translation}


def own_files(config: Config) -> OwnFiles | None:
    data = config.data
    if data.train is None:
        if data.validation is not None or data.test is not None:
            raise UserError(
                "data.validation or data.test is given without data.train. Give the training pairs too."
            )
        return None
    return OwnFiles(*(_pair_files(config, files) for files in (data.train, data.validation, data.test)))


def _pair_files(config: Config, files: Files | None) -> list[PairFile]:
    if files is None:
        return []
    return [_pair_file(config, one) for one in (files if isinstance(files, list) else [files])]


def _pair_file(config: Config, file: str | TwoFiles) -> PairFile:
    if not isinstance(file, str):
        return ParallelFiles(located(file.source), located(file.target))
    if file.removesuffix(".gz").endswith((".jsonl", ".json")):
        return JsonlFile(located(file), config.data.source_field, config.data.target_field)
    return TsvFile(located(file))


def limits(config: Config) -> Limits:
    return Limits(source=config.data.max_source, target=config.data.max_target)


def learn_codec(config: Config, examples: Examples) -> TextCodec:
    """Tokenizers learned from the training pairs."""
    text = config.text
    if text.shared:
        both = _learn(text.source, (side for pair in examples.train() for side in (pair.source, pair.target)))
        return TextCodec(both, both, limits(config), task(config).view)
    source = _learn(text.source, (pair.source for pair in examples.train()))
    target = _learn(text.target, (pair.target for pair in examples.train()))
    return TextCodec(source, target, limits(config), task(config).view)


def _learn(pieces: Pieces, texts: Iterable[str]) -> Tokenizer:
    learn = TOKENIZERS[pieces.kind]
    return learn(
        texts,
        vocabulary=pieces.vocabulary,
        normalization=pieces.normalization,
        lowercase=pieces.lowercase,
    )


def dropouts(config: Config, codec: TextCodec) -> dict[str, BpeDropout]:
    """For each side that is to be cut into other pieces each time, what does it."""
    text, most = config.text, limits(config)
    sides = {
        "source": (text.source.dropout, codec.source, most.source),
        "target": (text.target.dropout, codec.target, most.target),
    }
    return {
        side: BpeDropout(tokenizer, rate, longest=longest)
        for side, (rate, tokenizer, longest) in sides.items()
        if rate
    }


def load_codec(config: Config, folder: ModelFolder) -> TextCodec:
    return TextCodec.load(folder.folder, limits(config), task(config).view)


def model(config: Config, *, source_vocabulary: int, target_vocabulary: int) -> Seq2Seq:
    """The model with fresh weights, drawn from torch's generator."""
    encoder = _encoder(config, _embedding(config, source_vocabulary))
    look = _look(config)
    settings = config.model.decoder
    embedding = _embedding(config, target_vocabulary)
    features = settings.features or settings.width
    late = {"look_then_step": look.width, "step_then_look": 0, "step_then_look_fed": features}
    stack = Stack(
        embedding.width,
        settings.width,
        late=late[settings.kind],
        late_to_all=settings.context_to_all,
        cell=settings.cell,
        layers=settings.layers,
        residual=settings.residual,
        layer_norm=settings.layer_norm,
        dropout=config.model.dropout,
        variational=settings.variational,
    )
    bridge = BRIDGES[settings.bridge](encoder.width, stack.state_width, layers=settings.layers)
    readout = READOUTS[settings.readout](
        embedding.width,
        settings.width,
        look.width,
        width=features,
        dropout=config.model.dropout,
    )
    options = {"asking": settings.asking} if settings.kind == "look_then_step" else {}
    return Seq2Seq(encoder, DECODERS[settings.kind](embedding, look, stack, bridge, readout, **options))


def _embedding(config: Config, vocabulary: int) -> Embedding:
    settings = config.model
    return Embedding(
        vocabulary,
        settings.embedding,
        dropout=settings.dropout,
        noise=settings.embedding_noise,
        word_dropout=settings.word_dropout,
    )


def _encoder(config: Config, embedding: Embedding) -> Encoder:
    settings = config.model.encoder
    return ENCODERS[settings.kind](
        embedding,
        cell=settings.cell,
        width=settings.width,
        layers=settings.layers,
        directions=settings.directions,
        residual=settings.residual,
        layer_norm=settings.layer_norm,
        dropout=config.model.dropout,
        variational=settings.variational,
        reverse=settings.reverse,
    )


def _look(config: Config) -> Look:
    settings, memory, query = config.model.attention, config.model.encoder.width, config.model.decoder.width
    if settings.score == NO_ATTENTION:
        return FixedVector(width=memory if settings.fixed == "every_step" else 0)
    longest = settings.longest or config.longest
    scores: dict[str, dict[str, Any]] = {
        "location": {"longest": longest},
        "position": {"longest": longest},
        "rbf": {"gamma": settings.gamma},
    }
    scopes: dict[str, dict[str, Any]] = {
        "local_monotonic": {"radius": settings.radius},
        "local_predicted": {"query_width": query, "radius": settings.radius},
    }
    selections = {"hard": {"half_soft": settings.half_soft}}
    return Attention(
        SCORES[settings.score](query, memory, heads=settings.heads, **scores.get(settings.score, {})),
        SCOPES[settings.scope](**scopes.get(settings.scope, {})),
        SELECTIONS[settings.selection](**selections.get(settings.selection, {})),
        width=memory,
        heads=settings.heads,
    )


def objective(config: Config) -> CrossEntropy:
    training = config.training
    decay = DECAYS[training.decay](steps=training.decay_steps, least=training.least_truth)
    reinforce = Reinforce(weight=training.reinforce, entropy_bonus=training.entropy_bonus)
    return CrossEntropy(
        label_smoothing=training.label_smoothing,
        feeding=FEEDINGS[training.feeding](decay),
        reinforce=reinforce if config.model.attention.selection == "hard" else None,
    )


def parameters(config: Config, *, vocabulary: int) -> int:
    """How many numbers the model has to learn with a vocabulary of this size on both sides; nothing is built."""
    with torch.device("meta"):
        net = model(config, source_vocabulary=vocabulary, target_vocabulary=vocabulary)
    return sum(parameter.numel() for parameter in net.parameters())


def load_model(config: Config, folder: ModelFolder, codec: TextCodec) -> Seq2Seq:
    """The model with its trained weights. Vocabulary and weights that don't match are found out here."""
    known = folder.vocabulary()
    for side, tokenizer in (("source", codec.source), ("target", codec.target)):
        if known.get(side) != len(tokenizer):
            raise UserError(
                f"{folder.folder}: the model was trained with {known.get(side)} {side} pieces, but its {side} "
                f"tokenizer has {len(tokenizer)}. One of the files belongs to another model."
            )
    net = model(config, source_vocabulary=len(codec.source), target_vocabulary=len(codec.target))
    try:
        net.load_state_dict(load_file(folder.weights_path))
    except (SafetensorError, RuntimeError, OSError) as error:
        raise UserError(
            f"{folder.weights_path} is damaged or belongs to another model: {str(error).splitlines()[0]}"
        ) from None
    return net


def search_plan(config: Config) -> SearchPlan:
    search = config.search
    return SearchPlan(
        beam=search.beam,
        length_penalty=search.length_penalty,
        max_length=search.max_length,
        max_ratio=search.max_ratio,
    )


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
        accumulate=training.accumulate,
        learning_rate=training.learning_rate,
        clip=training.clip or None,
        precision=training.precision,
        log_every=training.log_every,
        validate_every=training.validate_every,
        save_every=training.save_every,
        patience=training.patience,
        higher_is_better=judge is not None and judge.higher_is_better,
    )


def schedule(config: Config) -> Schedule:
    training = config.training
    return SCHEDULES[training.schedule](warmup=training.warmup, steps=training.steps)


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
