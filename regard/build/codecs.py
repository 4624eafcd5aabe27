"""The way from sources to what a model reads and back: learned once, then kept with the model."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import tokenizers
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from regard import __version__
from regard.build.encoders import backbone
from regard.build.tasks import task
from regard.config import Config, Pieces
from regard.config import data as settings_of
from regard.config.parts import PictureEncoder
from regard.core.errors import UserError
from regard.core.prediction import View
from regard.data import Limits, Pair, SelectedPairs, Side, cache_folder, fingerprint, located, sample
from regard.run import ModelFolder
from regard.tasks.captions import BACKBONE, PictureCodec
from regard.tasks.codec import Codec
from regard.tasks.examples import Examples
from regard.tasks.scaling import Scaling
from regard.tasks.series import SeriesCodec
from regard.tasks.sight import Sight
from regard.tasks.text import TextCodec
from regard.tasks.trajectories import Trajectories
from regard.text import (
    READERS,
    TOKENIZERS,
    AfterTags,
    BpeDropout,
    LanguageTokenizers,
    Recutter,
    TargetTokenizer,
    Tokenizer,
    UnigramSampling,
)


def limits(config: Config) -> Limits:
    data = config.data
    read = None if data.long_source == "leave_out" else data.long_source
    return Limits(source=data.max_source, target=data.max_target, read=read)


def learn_codec(config: Config, examples: Examples) -> Codec:
    """What has to be learned of the training pairs before a model can be: pieces, or how large points are."""
    if isinstance(config.task, settings_of.Forecast):
        scaling = Scaling.learn(examples.train(), config.task.measure)
        if (scaling.context is None) == config.has_context:
            raise UserError(
                "There is nothing beside the series of the training data, but task.context asks for it."
                if config.has_context
                else "Something stands beside the series, but nothing says whether it is to be read. "
                "Set task.context to true or false."
            )
        own = _trajectories(config)
        return SeriesCodec(scaling, limits(config), own.view, own.seen)
    if isinstance(config.model.encoder, PictureEncoder):
        some = sample([examples.train], config.text.sample, config.data.seed)
        target = _learned(config.text.target, some, ("target",))
        return PictureCodec(sight(config), target, config.data.max_target)
    return _learn_text_codec(config, examples)


def _trajectories(config: Config) -> Trajectories:
    own = task(config)
    assert isinstance(own, Trajectories)
    return own


def _view(config: Config) -> View:
    """How the task draws its answers."""
    own: Any = task(config)
    view: View = own.view
    return view


def sight(config: Config, kept: Path | None = None) -> Sight:
    """How pictures are seen: by a network that stays as it is, as it was `kept` with a model, or by the model's own."""
    encoder, chosen = config.model.encoder, config.task
    assert isinstance(encoder, PictureEncoder)
    assert isinstance(chosen, settings_of.Captions)
    seeing: Any = backbone(encoder)
    if not encoder.trained:
        if kept is not None and kept.exists():
            _load(seeing, kept)
        else:
            seeing.load_pretrained()
    name = f"{encoder.backbone} {encoder.features} {seeing.size}"
    return Sight(
        "pixels" if encoder.trained else name,
        seeing.size,
        seeing.grid,
        seeing.width,
        chosen.fit,
        None if encoder.trained else seeing.requires_grad_(False).eval(),
    )


def _load(seeing: nn.Module, kept: Path) -> None:
    try:
        seeing.load_state_dict(load_file(kept))
    except (SafetensorError, RuntimeError, OSError) as error:
        raise UserError(
            f"{kept} is damaged or belongs to another model: {str(error).splitlines()[0]}"
        ) from None


def _learn_text_codec(config: Config, examples: Examples) -> TextCodec:
    """Tokenizers learned from the training pairs, or from a sample of many, or read."""
    text = config.text
    target: TargetTokenizer
    parts = [corpus.pairs for corpus in examples.corpora] or [examples.train]
    parts = sample(parts, text.sample, config.data.seed)
    if text.shared:
        source = target = _learned(text.source, parts, ("source", "target"))
    else:
        source = _learned(text.source, parts, ("source",))
        target = (
            _learned_by_language(config, examples)
            if text.by_language
            else _learned(text.target, parts, ("target",))
        )
    return TextCodec(
        source,
        target,
        limits(config),
        _view(config),
        languages=examples.languages,
        marks=examples.marks,
        borrows=config.model.attention.pointer,
    )


def _learned_by_language(config: Config, examples: Examples) -> LanguageTokenizers:
    found = {}
    for language in examples.languages:
        parts = [corpus.pairs for corpus in examples.corpora if corpus.language == language]
        if not parts:
            raise UserError(
                f"text.by_language: no training pairs have targets in {language!r}, so it has no pieces. Give some, or "
                "set it to false."
            )
        some = sample(parts, config.text.sample, config.data.seed)
        found[language] = _learned(config.text.target, some, ("target",))
    return LanguageTokenizers(found)


def _learned(
    pieces: Pieces, parts: Sequence[Callable[[], Iterable[Pair]]], sides: Sequence[Side]
) -> Tokenizer:
    """From some sides of some pairs; from the cache, where the same was learned from the same files before."""
    if pieces.file is not None:
        return READERS[pieces.kind](located(pieces.file))
    texts = (getattr(pair, side) for part in parts for pair in part() for side in sides)
    learn = partial(
        TOKENIZERS[pieces.kind],
        vocabulary=pieces.vocabulary,
        normalization=pieces.normalization,
        lowercase=pieces.lowercase,
    )
    names = [part.name for part in parts if isinstance(part, SelectedPairs)]
    if len(names) < len(parts):
        return learn(texts)
    how = [pieces.kind, str(pieces.vocabulary), pieces.normalization, str(pieces.lowercase)]
    name = fingerprint([[__version__, tokenizers.__version__], how, sides, names])
    path = cache_folder() / "tokenizers" / f"{name}.json"
    with suppress(UserError):
        return Tokenizer.load(path)
    tokenizer = learn(texts)
    tokenizer.save(path)
    return tokenizer


def recutters(config: Config, codec: Codec) -> dict[str, Recutter]:
    """For each side that is to be cut into other pieces each time, what does it."""
    if not isinstance(codec, TextCodec):
        return {}
    text, most = config.text, limits(config)
    sides = {
        "source": (text.source, codec.source, most.source),
        "target": (text.target, codec.target, most.target),
    }
    found: dict[str, Recutter] = {}
    for side, (pieces, tokenizer, longest) in sides.items():
        if not isinstance(tokenizer, Tokenizer):
            continue  # one for each language has neither
        if pieces.dropout:
            found[side] = AfterTags(BpeDropout(tokenizer, pieces.dropout, longest=longest), codec.tags)
        elif pieces.sampling is not None:
            found[side] = AfterTags(UnigramSampling(tokenizer, pieces.sampling, longest=longest), codec.tags)
    return found


def load_codec(config: Config, folder: ModelFolder) -> Codec:
    if isinstance(config.task, settings_of.Forecast):
        own = _trajectories(config)
        series = SeriesCodec.load(folder.folder, limits(config), own.view, own.seen)
        if (series.scaling.context is None) == config.has_context:
            trained = "without" if config.has_context else "with"
            raise UserError(
                f"{folder.folder}: the model was trained {trained} a context beside its series, but the settings "
                f"say otherwise. Set task.context to {str(not config.has_context).lower()}."
            )
        return series
    if isinstance(config.model.encoder, PictureEncoder):
        return PictureCodec.load(
            folder.folder, sight(config, folder.folder / BACKBONE), config.data.max_target
        )
    codec = TextCodec.load(folder.folder, limits(config), _view(config))
    return replace(codec, borrows=config.model.attention.pointer)
