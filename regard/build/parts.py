"""What encoders and decoders are made of: embeddings, layers, looks and heads."""

from collections.abc import Callable
from typing import Any

from torch import nn

from regard.attention import (
    SCOPES,
    SCORES,
    SELECTIONS,
    Attention,
    Block,
    CrossAttention,
    FixedVector,
    Gated,
    History,
    Look,
    Scope,
    SelfAttention,
    TwoLooks,
)
from regard.config import NO_ATTENTION, Config
from regard.config import parts as settings_of
from regard.layers import (
    NORMS,
    POINT_HEADS,
    POSITIONS,
    Embedding,
    Experts,
    FeedForward,
    Head,
    PlacedEmbedding,
    PointEmbedding,
    Pointer,
    PointHead,
    Residual,
)

Side = str  # one of the codec's sizes: source, target or context


def embedding(
    config: Config, side: Side, size: int, width: int, *, dropout: float = 0.0, scale: bool = False
) -> Embedding | PointEmbedding:
    """Of pieces, or of points where that is what stands on the side; `size` is how many or how wide they are."""
    if config.kind_of(side) == "points":
        return PointEmbedding(size, width, dropout=dropout)
    settings = config.model
    return Embedding(
        size,
        width,
        dropout=dropout,
        noise=settings.embedding_noise,
        word_dropout=settings.word_dropout,
        tags=config.tags if side == "source" else 0,
        scale=scale,
    )


def placed_embedding(
    config: Config, settings: settings_of.Blocks, side: Side, size: int, *, causal: bool
) -> PlacedEmbedding:
    positions = POSITIONS[settings.positions](
        settings.position_width or settings.width,
        heads=settings.heads,
        longest=config.longest,
        causal=causal,
    )
    width = settings.width - settings.position_width
    items = embedding(config, side, size, width, scale=settings.embedding_scale)
    return PlacedEmbedding(items, positions, beside=settings.position_width, dropout=config.model.dropout)


def convolutional_embedding(
    config: Config, settings: settings_of.Convolutions, side: Side, size: int, *, causal: bool
) -> PlacedEmbedding:
    width = config.model.embedding
    positions = POSITIONS[settings.positions](width, heads=1, longest=config.longest, causal=causal)
    # Tables start at a tenth (Gehring et al. 2017, section 3.5). Sines are as large as one: pieces would drown in them.
    place_scale = 0.1 if settings.positions == "sinusoidal" else 1.0
    items = embedding(config, side, size, width)
    return PlacedEmbedding(items, positions, dropout=config.model.dropout, place_scale=place_scale)


def head(config: Config, size: int) -> Head | PointHead:
    """What is said at each step: pieces, or points."""
    settings, width = config.model.attention, config.model.features
    if config.kind_of("target") == "points":
        points = config.model.points
        options: dict[str, dict[str, Any]] = {
            "mixture": {"components": points.components},
            "huber": {"delta": points.delta},
        }
        return POINT_HEADS[points.kind](width, size, **options.get(points.kind, {}))
    if not settings.pointer:
        return Head(width, size)
    return Pointer(width, size, layer=looking_layer(config), head=settings.pointer_head)


def looking_layer(config: Config) -> int:
    """The last layer of the decoder that looks at the source, counted from the end: -1, -2, ..."""
    encoder = config.model.encoder
    if isinstance(config.model.decoder, settings_of.StreamDecoder) and isinstance(
        encoder, settings_of.TransformerEncoder
    ):
        return -1 - next(number for number, look in enumerate(reversed(encoder.looks)) if look != "local")
    return -1


def block(
    config: Config,
    settings: settings_of.Blocks,
    scope: Scope,
    number: int,
    *,
    look: Callable[..., SelfAttention] = SelfAttention,
    memory_width: int | None = None,
) -> Block:
    """A layer of a Transformer, the lowest is 1; with a memory's width, it looks across at it, and at its context."""
    width = settings.width

    def around() -> Residual:
        return Residual(width, norm=settings.norm, pre_norm=settings.pre_norm, dropout=config.model.dropout)

    def across(chosen: settings_of.Attention, memory: int) -> CrossAttention:
        looking = attention(config, chosen, width, width, dropout=settings.attention_dropout)
        return CrossAttention(looking, width, memory)

    own = Attention(
        SCORES[settings.score](width, width, heads=settings.heads),
        scope,
        SELECTIONS[settings.selection](),
        width=width,
        heads=settings.heads,
        dropout=settings.attention_dropout,
    )
    looking = look(own, width, projected=settings.projected)
    parts: dict[str, nn.Module] = {}
    if memory_width is not None:
        parts |= {"across": across(config.model.attention, memory_width), "around_across": around()}
    context = config.model.context
    if memory_width is not None and config.has_context:
        beside = across(context.attention, config.model.annotation_width(context.encoder))
        parts |= {"beside": beside, "around_beside": around()}
    return Block(looking, thinking(settings, settings.experts_of(number)), around(), around(), **parts)  # type: ignore[arg-type]


def thinking(settings: settings_of.Blocks, experts: int) -> FeedForward | Experts:
    """What a layer does with each position by itself."""

    def feed_forward() -> FeedForward:
        return FeedForward(
            settings.width,
            settings.feed_forward,
            activation=settings.activation,
            dropout=settings.activation_dropout,
        )

    if not experts:
        return feed_forward()
    return Experts(
        feed_forward,
        settings.width,
        experts=experts,
        used=settings.experts_used,
        balance=settings.balance,
    )


def last_norm(settings: settings_of.Blocks) -> nn.Module:
    """Where each part normalises what enters it, what leaves the last is normalised at the end."""
    return NORMS[settings.norm](settings.width) if settings.pre_norm else nn.Identity()


def recurrent_look(config: Config) -> Look:
    """How a recurrent decoder looks at its source, and at the context beside it where there is one."""
    model = config.model
    own = _gated_look(config, model.attention, model.memory_width)
    if not config.has_context:
        return own
    beside = _gated_look(config, model.context.attention, model.annotation_width(model.context.encoder))
    return TwoLooks(own, beside)


def _gated_look(config: Config, settings: settings_of.Attention, memory: int) -> Look:
    if settings.score == NO_ATTENTION:
        return FixedVector(width=memory if settings.fixed == "every_step" else 0)
    look = attention(config, settings, config.model.decoder_width, memory)
    return Gated(look, config.model.decoder_width) if settings.gated else look


def attention(
    config: Config, settings: settings_of.Attention, query: int, memory: int, *, dropout: float = 0.0
) -> Attention:
    """A decoder's look at a memory."""
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
        dropout=dropout,
        history=History(query, heads=settings.heads) if settings.history else None,
    )
