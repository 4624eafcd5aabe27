"""Decoders by their settings."""

from collections.abc import Callable
from typing import Any

from regard.attention import SCOPES
from regard.build.parts import (
    attention,
    block,
    convolutional_embedding,
    embedding,
    head,
    last_norm,
    placed_embedding,
    recurrent_look,
)
from regard.config import Config
from regard.config import parts as settings_of
from regard.decoders import BRIDGES, DECODERS, ConvolutionalDecoder, Stack, StreamDecoder, TransformerDecoder
from regard.encoders import Encoder, TransformerEncoder
from regard.layers import CELLS, READOUTS, PlacedEmbedding


def decoder(config: Config, size: int, encoder: Encoder) -> Any:
    """Of targets with so many pieces, or points so wide."""
    return _DECODERS[type(config.model.decoder)](config, config.model.decoder, size, encoder)


def _recurrent(config: Config, settings: settings_of.RecurrentDecoder, size: int, encoder: Encoder) -> Any:
    look = recurrent_look(config)
    items = embedding(config, "target", size, config.model.embedding, dropout=config.model.dropout)
    features = config.model.features
    known, late = {  # how wide what the stack reads is, known beforehand or only at its step
        "look_then_step": (items.width, look.width),
        "step_look_step": (look.width, 0),
        "step_then_look": (items.width, 0),
        "step_then_look_fed": (items.width, features),
    }[settings.kind]
    stack = Stack(
        known,
        settings.width,
        late=late,
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
        items.width,
        settings.width,
        look.width,
        width=features,
        dropout=config.model.dropout,
    )
    is_louder = settings.embedding_scale and config.kind_of("target") != "points"
    options: dict[str, Any] = {"scale": items.width**0.5 if is_louder else 1.0}
    if settings.kind == "look_then_step":
        options["asking"] = settings.asking
    elif settings.kind == "step_look_step":
        options["first"] = CELLS[settings.cell](items.width, settings.width)
    return DECODERS[settings.kind](items, look, stack, bridge, readout, head=head(config, size), **options)


def _transformer(
    config: Config, settings: settings_of.TransformerDecoder, size: int, encoder: Encoder
) -> TransformerDecoder:
    items = placed_embedding(config, settings, "target", size, causal=True)
    blocks = [
        block(config, settings, SCOPES["causal"](), 1 + below, memory_width=encoder.width)
        for below in range(settings.layers)
    ]
    return TransformerDecoder(items, blocks, last_norm(settings), head=head(config, size))


def _stream(config: Config, _: settings_of.StreamDecoder, size: int, encoder: Encoder) -> StreamDecoder:
    settings = config.model.encoder
    assert isinstance(settings, settings_of.TransformerEncoder)
    assert isinstance(encoder, TransformerEncoder)
    width = config.model.pieces_width("decoder")
    items = embedding(config, "target", size, width, scale=settings.embedding_scale)
    placed = PlacedEmbedding(
        items, encoder.embedding.positions, beside=settings.position_width, dropout=config.model.dropout
    )
    return StreamDecoder(placed, encoder.layers, encoder.norm, head=head(config, size))


def _convolutional(
    config: Config, settings: settings_of.ConvolutionalDecoder, size: int, encoder: Encoder
) -> ConvolutionalDecoder:
    items = convolutional_embedding(config, settings, "target", size, causal=True)
    own = config.model.attention
    looks = [attention(config, own, items.width, encoder.width) for _ in range(settings.layers)]
    return ConvolutionalDecoder(
        items,
        looks,
        width=settings.width,
        kernel=settings.kernel,
        dropout=config.model.dropout,
        weight_norm=settings.weight_norm,
        head=head(config, size),
    )


_DECODERS: dict[type, Callable[[Config, Any, int, Any], Any]] = {
    settings_of.RecurrentDecoder: _recurrent,
    settings_of.TransformerDecoder: _transformer,
    settings_of.StreamDecoder: _stream,
    settings_of.ConvolutionalDecoder: _convolutional,
}
