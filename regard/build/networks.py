"""Models with their parts: fresh, counted, or with trained weights."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from regard.attention import (
    LOOKS,
    SCOPES,
    SCORES,
    SELECTIONS,
    Attention,
    Block,
    CrossAttention,
    FixedVector,
    History,
    Look,
    Scope,
    SelfAttention,
)
from regard.config import NO_ATTENTION, Config
from regard.config import model as settings_of
from regard.core.errors import UserError
from regard.core.weights import load_weights
from regard.decoders import BRIDGES, DECODERS, ConvolutionalDecoder, Stack, StreamDecoder, TransformerDecoder
from regard.encoders import ConvolutionalEncoder, Encoder, RecurrentEncoder, TransformerEncoder
from regard.layers import (
    NORMS,
    POSITIONS,
    READOUTS,
    Embedding,
    Experts,
    FeedForward,
    Head,
    PlacedEmbedding,
    Pointer,
    Residual,
)
from regard.models import Seq2Seq
from regard.run import ModelFolder
from regard.tasks.codec import Codec


def model(config: Config, sizes: Mapping[str, int]) -> Seq2Seq:
    """The model with fresh weights, drawn from torch's generator. The sizes are those of the codec."""
    settings = config.model
    encoder = _ENCODERS[type(settings.encoder)](config, sizes["source"])
    decoder = _DECODERS[type(settings.decoder)](config, sizes["target"], encoder)
    net = Seq2Seq(encoder, decoder)
    if settings.tie != "none":
        table = _pieces(decoder.embedding).table
        decoder.head.weight = table.weight
        if settings.tie == "all" and config.text.shared:
            _pieces(encoder.embedding).table = table
    return net


def _pieces(embedding: Embedding | PlacedEmbedding) -> Embedding:
    return embedding.pieces if isinstance(embedding, PlacedEmbedding) else embedding


def _head(config: Config, vocabulary: int) -> Head:
    settings = config.model.attention
    width = config.model.features
    if not settings.pointer:
        return Head(width, vocabulary)
    return Pointer(width, vocabulary, layer=looking_layer(config), head=settings.pointer_head)


def looking_layer(config: Config) -> int:
    """The last layer of the decoder that looks at the source, counted from the end: -1, -2, ..."""
    encoder = config.model.encoder
    if isinstance(config.model.decoder, settings_of.StreamDecoder) and isinstance(
        encoder, settings_of.TransformerEncoder
    ):
        return -1 - next(number for number, look in enumerate(reversed(encoder.looks)) if look != "local")
    return -1


def _embedding(
    config: Config, vocabulary: int, width: int, *, dropout: float = 0.0, scale: bool = False
) -> Embedding:
    settings = config.model
    return Embedding(
        vocabulary,
        width,
        dropout=dropout,
        noise=settings.embedding_noise,
        word_dropout=settings.word_dropout,
        scale=scale,
    )


def _recurrent_encoder(config: Config, vocabulary: int) -> RecurrentEncoder:
    settings = config.model.encoder
    assert isinstance(settings, settings_of.RecurrentEncoder)
    return RecurrentEncoder(
        _embedding(config, vocabulary, config.model.embedding, dropout=config.model.dropout),
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


def _recurrent_decoder(config: Config, vocabulary: int, encoder: Encoder) -> Any:
    settings = config.model.decoder
    assert isinstance(settings, settings_of.RecurrentDecoder)
    look = _recurrent_look(config)
    embedding = _embedding(config, vocabulary, config.model.embedding, dropout=config.model.dropout)
    features = config.model.features
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
    options: dict[str, Any] = {"asking": settings.asking} if settings.kind == "look_then_step" else {}
    head = _head(config, vocabulary)
    return DECODERS[settings.kind](embedding, look, stack, bridge, readout, head=head, **options)


def _transformer_encoder(config: Config, vocabulary: int) -> TransformerEncoder:
    settings = config.model.encoder
    assert isinstance(settings, settings_of.TransformerEncoder)
    stream = isinstance(config.model.decoder, settings_of.StreamDecoder)
    embedding = _placed_embedding(config, settings, vocabulary, causal=settings.scope == "causal")
    scope = "causal" if stream else settings.scope
    options = {"radius": settings.radius} if scope == "window" else {}
    blocks = [_block(config, settings, SCOPES[scope](**options), look=look) for look in _looks(settings)]
    whole = stream and settings.scope == "global"
    return TransformerEncoder(embedding, blocks, _last_norm(settings), shared_layers=stream, whole=whole)


def _looks(settings: settings_of.TransformerEncoder) -> list[Callable[..., SelfAttention]]:
    """How each layer of an encoder looks at itself, from the lowest on."""
    options = {"local": {"block": settings.block}, "compressed": {"compression": settings.compression}}
    return [partial(LOOKS[kind], **options.get(kind, {})) for kind in settings.looks]


def _transformer_decoder(config: Config, vocabulary: int, encoder: Encoder) -> TransformerDecoder:
    settings = config.model.decoder
    assert isinstance(settings, settings_of.TransformerDecoder)
    embedding = _placed_embedding(config, settings, vocabulary, causal=True)
    blocks = [
        _block(config, settings, SCOPES["causal"](), memory_width=encoder.width)
        for _ in range(settings.layers)
    ]
    return TransformerDecoder(embedding, blocks, _last_norm(settings), head=_head(config, vocabulary))


def _stream_decoder(config: Config, vocabulary: int, encoder: Encoder) -> StreamDecoder:
    settings = config.model.encoder
    assert isinstance(settings, settings_of.TransformerEncoder)
    assert isinstance(encoder, TransformerEncoder)
    pieces = _embedding(
        config, vocabulary, config.model.pieces_width("decoder"), scale=settings.embedding_scale
    )
    embedding = PlacedEmbedding(
        pieces, encoder.embedding.positions, beside=settings.position_width, dropout=config.model.dropout
    )
    return StreamDecoder(embedding, encoder.layers, encoder.norm, head=_head(config, vocabulary))


def _placed_embedding(
    config: Config, settings: settings_of.Blocks, vocabulary: int, *, causal: bool
) -> PlacedEmbedding:
    width = settings.width - settings.position_width
    positions = POSITIONS[settings.positions](
        settings.position_width or settings.width,
        heads=settings.heads,
        longest=config.longest,
        causal=causal,
    )
    pieces = _embedding(config, vocabulary, width, scale=settings.embedding_scale)
    return PlacedEmbedding(pieces, positions, beside=settings.position_width, dropout=config.model.dropout)


def _block(
    config: Config,
    settings: settings_of.Blocks,
    scope: Scope,
    *,
    look: Callable[..., SelfAttention] = SelfAttention,
    memory_width: int | None = None,
) -> Block:
    """A layer of a Transformer; with a memory's width, one that looks across at it."""
    width = settings.width

    def around() -> Residual:
        return Residual(width, norm=settings.norm, pre_norm=settings.pre_norm, dropout=config.model.dropout)

    own = Attention(
        SCORES[settings.score](width, width, heads=settings.heads),
        scope,
        SELECTIONS[settings.selection](),
        width=width,
        heads=settings.heads,
        dropout=settings.attention_dropout,
    )
    looking = look(own, width, projected=settings.projected)
    if memory_width is None:
        return Block(looking, _thinking(settings), around(), around())
    across = CrossAttention(
        _attention(config, width, width, dropout=settings.attention_dropout), width, memory_width
    )
    return Block(looking, _thinking(settings), around(), around(), across=across, around_across=around())


def _thinking(settings: settings_of.Blocks) -> FeedForward | Experts:
    """What a layer does with each position by itself."""

    def feed_forward() -> FeedForward:
        return FeedForward(
            settings.width,
            settings.feed_forward,
            activation=settings.activation,
            dropout=settings.activation_dropout,
        )

    if not settings.experts:
        return feed_forward()
    return Experts(
        feed_forward,
        settings.width,
        experts=settings.experts,
        used=settings.experts_used,
        balance=settings.balance,
    )


def _last_norm(settings: settings_of.Blocks) -> nn.Module:
    """Where each part normalises what enters it, what leaves the last is normalised at the end."""
    return NORMS[settings.norm](settings.width) if settings.pre_norm else nn.Identity()


def _convolutional_encoder(config: Config, vocabulary: int) -> ConvolutionalEncoder:
    settings, decoder = config.model.encoder, config.model.decoder
    assert isinstance(settings, settings_of.ConvolutionalEncoder)
    return ConvolutionalEncoder(
        _convolutional_embedding(config, settings, vocabulary, causal=False),
        width=settings.width,
        layers=settings.layers,
        kernel=settings.kernel,
        dropout=config.model.dropout,
        weight_norm=settings.weight_norm,
        looks=decoder.layers if isinstance(decoder, settings_of.ConvolutionalDecoder) else 1,
    )


def _convolutional_decoder(config: Config, vocabulary: int, encoder: Encoder) -> ConvolutionalDecoder:
    settings = config.model.decoder
    assert isinstance(settings, settings_of.ConvolutionalDecoder)
    embedding = _convolutional_embedding(config, settings, vocabulary, causal=True)
    looks = [_attention(config, embedding.width, encoder.width) for _ in range(settings.layers)]
    return ConvolutionalDecoder(
        embedding,
        looks,
        width=settings.width,
        kernel=settings.kernel,
        dropout=config.model.dropout,
        weight_norm=settings.weight_norm,
        head=_head(config, vocabulary),
    )


def _convolutional_embedding(
    config: Config, settings: settings_of.Convolutions, vocabulary: int, *, causal: bool
) -> PlacedEmbedding:
    width = config.model.embedding
    positions = POSITIONS[settings.positions](width, heads=1, longest=config.longest, causal=causal)
    pieces = _embedding(config, vocabulary, width)
    # Tables start at a tenth (Gehring et al. 2017, section 3.5). Sines are as large as one: pieces would drown in them.
    place_scale = 0.1 if settings.positions == "sinusoidal" else 1.0
    return PlacedEmbedding(pieces, positions, dropout=config.model.dropout, place_scale=place_scale)


_ENCODERS: dict[type, Callable[[Config, int], Any]] = {
    settings_of.RecurrentEncoder: _recurrent_encoder,
    settings_of.TransformerEncoder: _transformer_encoder,
    settings_of.ConvolutionalEncoder: _convolutional_encoder,
}
_DECODERS: dict[type, Callable[[Config, int, Any], Any]] = {
    settings_of.RecurrentDecoder: _recurrent_decoder,
    settings_of.TransformerDecoder: _transformer_decoder,
    settings_of.StreamDecoder: _stream_decoder,
    settings_of.ConvolutionalDecoder: _convolutional_decoder,
}


def _recurrent_look(config: Config) -> Look:
    settings, memory = config.model.attention, config.model.memory_width
    if settings.score == NO_ATTENTION:
        return FixedVector(width=memory if settings.fixed == "every_step" else 0)
    return _attention(config, config.model.decoder_width, memory)


def _attention(config: Config, query: int, memory: int, *, dropout: float = 0.0) -> Attention:
    """The decoder's look at its source."""
    settings = config.model.attention
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


def parameters(config: Config, *, vocabulary: int) -> int:
    """How many numbers the model has to learn with a vocabulary of this size on both sides; nothing is built."""
    with torch.device("meta"):
        net = model(config, {"source": vocabulary, "target": vocabulary})
    return sum(parameter.numel() for parameter in net.parameters())


def load_model(config: Config, folder: ModelFolder, codec: Codec) -> Seq2Seq:
    """The model with its trained weights. Vocabulary and weights that don't match are found out here."""
    known = folder.vocabulary()
    for side, size in codec.sizes.items():
        if known.get(side) != size:
            raise UserError(
                f"{folder.folder}: the model was trained with {known.get(side)} {side} pieces, but its {side} "
                f"tokenizer has {size}. One of the files belongs to another model."
            )
    net = model(config, codec.sizes)
    try:
        load_weights(net, load_file(folder.weights_path))
    except (SafetensorError, RuntimeError, OSError) as error:
        raise UserError(
            f"{folder.weights_path} is damaged or belongs to another model: {str(error).splitlines()[0]}"
        ) from None
    return net
