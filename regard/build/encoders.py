"""Encoders by their settings."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torch import nn

from regard.attention import LOOKS, SCOPES, SelfAttention
from regard.build.parts import Side, block, convolutional_embedding, embedding, last_norm, placed_embedding
from regard.config import Config
from regard.config import parts as settings_of
from regard.encoders import (
    ContextEncoder,
    ConvolutionalEncoder,
    Encoder,
    FeatureEncoder,
    PictureEncoder,
    RecurrentEncoder,
    Refining,
    TransformerEncoder,
)
from regard.layers.backbones import BACKBONES

Sizes = Mapping[str, int]  # of a codec


def encoder(config: Config, sizes: Sizes) -> Encoder:
    """Of the source and, where there is one, of the context beside it."""
    own: Any = _encoder(config, config.model.encoder, "source", sizes)
    if not config.has_context:
        return own  # type: ignore[no-any-return]
    return ContextEncoder(own, _encoder(config, config.model.context.encoder, "context", sizes))


def _encoder(config: Config, settings: Any, side: Side, sizes: Sizes) -> Any:
    return _ENCODERS[type(settings)](config, settings, side, sizes)


def _recurrent(
    config: Config, settings: settings_of.RecurrentEncoder, side: Side, sizes: Sizes
) -> RecurrentEncoder:
    return RecurrentEncoder(
        embedding(
            config,
            side,
            sizes[side],
            config.model.embedding,
            dropout=config.model.dropout,
            scale=settings.embedding_scale,
        ),
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


def _transformer(
    config: Config, settings: settings_of.TransformerEncoder, side: Side, sizes: Sizes
) -> TransformerEncoder:
    stream = isinstance(config.model.decoder, settings_of.StreamDecoder)
    items = placed_embedding(config, settings, side, sizes[side], causal=settings.scope == "causal")
    scope = "causal" if stream else settings.scope
    options = {"radius": settings.radius} if scope == "window" else {}
    blocks = [
        block(config, settings, SCOPES[scope](**options), number, look=look)
        for number, look in enumerate(_looks(settings), start=1)
    ]
    whole = stream and settings.scope == "global"
    return TransformerEncoder(items, blocks, last_norm(settings), shared_layers=stream, whole=whole)


def _looks(settings: settings_of.TransformerEncoder) -> list[Callable[..., SelfAttention]]:
    """How each layer of an encoder looks at itself, from the lowest on."""
    options = {"local": {"block": settings.block}, "compressed": {"compression": settings.compression}}
    return [partial(LOOKS[kind], **options.get(kind, {})) for kind in settings.looks]


def _convolutional(
    config: Config, settings: settings_of.ConvolutionalEncoder, side: Side, sizes: Sizes
) -> ConvolutionalEncoder:
    decoder = config.model.decoder
    return ConvolutionalEncoder(
        convolutional_embedding(config, settings, side, sizes[side], causal=False),
        width=settings.width,
        layers=settings.layers,
        kernel=settings.kernel,
        dropout=config.model.dropout,
        weight_norm=settings.weight_norm,
        looks=decoder.layers if isinstance(decoder, settings_of.ConvolutionalDecoder) else 1,
    )


def _picture(
    config: Config, settings: settings_of.PictureEncoder, side: Side, sizes: Sizes
) -> PictureEncoder | FeatureEncoder | Refining:
    seeing = _cells(config, settings, side, sizes)
    if not settings.layers:
        return seeing
    layer = settings_of.TransformerEncoder(
        width=settings.width,
        layers=settings.layers,
        heads=settings.heads,
        feed_forward=settings.feed_forward,
        activation="gelu",
    )
    blocks = [block(config, layer, SCOPES["global"](), 1 + below) for below in range(settings.layers)]
    return Refining(seeing, blocks, last_norm(layer))


def _cells(
    config: Config, settings: settings_of.PictureEncoder, side: Side, sizes: Sizes
) -> PictureEncoder | FeatureEncoder:
    dropout = config.model.dropout
    if not settings.trained:
        return FeatureEncoder(
            sizes[side],
            grid=(sizes["rows"], sizes["columns"]),
            width=settings.width,
            positions=settings.positions,
            dropout=dropout,
        )
    seeing: Any = backbone(settings)
    width = settings.width if seeing.width != settings.width else None
    return PictureEncoder(seeing, width=width, positions=settings.positions, dropout=dropout)


def backbone(settings: settings_of.PictureEncoder) -> nn.Module:
    """What sees a picture; what it may know of pictures already is yet to be loaded."""
    size = {"size": settings.size} if settings.size is not None else {}
    options: dict[str, dict[str, Any]] = {
        "small_cnn": {"width": settings.width, "layers": settings.stages},
        "patches": {"width": settings.width, "patch": settings.patch},
    }
    own = options.get(settings.backbone, {"features": settings.features, "pretrained": False})
    make: Callable[..., nn.Module] = BACKBONES[settings.backbone]  # type: ignore[assignment]
    return make(**size, **own)


_ENCODERS: dict[type, Callable[[Config, Any, Side, Sizes], Any]] = {
    settings_of.RecurrentEncoder: _recurrent,
    settings_of.TransformerEncoder: _transformer,
    settings_of.ConvolutionalEncoder: _convolutional,
    settings_of.PictureEncoder: _picture,
}
