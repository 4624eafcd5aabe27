"""A Transformer of Regard in CTranslate2's own description."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from ctranslate2.specs import TransformerDecoderSpec, TransformerEncoderSpec, TransformerSpec
from ctranslate2.specs.common_spec import Activation
from torch import Tensor, nn

from regard.attention import Attention, Block, CrossAttention, SelfAttention
from regard.attention.scores import General, ScaledDot
from regard.config import Config
from regard.config.parts import Blocks
from regard.core.pieces import BEGIN, END, PAD, SPECIAL_PIECES, UNKNOWN
from regard.decoders import TransformerDecoder
from regard.encoders import TransformerEncoder
from regard.layers import Embedding, FeedForward, PlacedEmbedding, Residual
from regard.layers.positions import Learned, Relative
from regard.models import Seq2Seq

ACTIVATIONS = {"relu": Activation.RELU, "gelu": Activation.GELU, "swiglu": Activation.SWISH}
_NEVER = -1e4  # in the place of a bias: as no search of Regard's says padding or the begin mark
BY_DISTANCE = ("rotary", "relative")  # positions that each look knows, instead of a vector for each place


def specification(
    model: Seq2Seq, config: Config, *, source: Sequence[str], target: Sequence[str], places: int
) -> TransformerSpec:
    """With the names of the pieces on each side. It is told sinusoidal positions for so many `places`."""
    encoder, decoder = model.encoder, model.decoder
    assert isinstance(encoder, TransformerEncoder)
    assert isinstance(decoder, TransformerDecoder)
    upper, lower = cast(Blocks, config.model.encoder), cast(Blocks, config.model.decoder)
    spec = TransformerSpec(
        TransformerEncoderSpec(upper.layers, upper.heads, **_kind(upper)),
        TransformerDecoderSpec(lower.layers, lower.heads, **_kind(lower)),
    )
    for side, part, settings in ((spec.encoder, encoder, upper), (spec.decoder, decoder, lower)):
        side.scale_embeddings = settings.embedding_scale
        if settings.positions not in BY_DISTANCE:
            side.position_encodings.encodings = _places(part.embedding, places)
        if settings.pre_norm:
            _norm(side.layer_norm, part.norm)
        for layer, block in zip(side.layer, cast(Sequence[Block], part.blocks), strict=True):
            _layer(layer, block, part.embedding)
    spec.encoder.embeddings[0].weight = _array(cast(Embedding, encoder.embedding.pieces).table.weight)
    spec.decoder.embeddings.weight = _array(cast(Embedding, decoder.embedding.pieces).table.weight)
    never = torch.tensor([PAD, BEGIN])
    _linear(spec.decoder.projection, decoder.head.weight, decoder.head.bias.index_fill(0, never, _NEVER))
    spec.config.layer_norm_epsilon = _epsilon(decoder)
    spec.config.unk_token, spec.config.bos_token = SPECIAL_PIECES[UNKNOWN], SPECIAL_PIECES[BEGIN]
    spec.config.eos_token, spec.config.decoder_start_token = SPECIAL_PIECES[END], SPECIAL_PIECES[BEGIN]
    spec.register_source_vocabulary(list(source))
    spec.register_target_vocabulary(list(target))
    return spec


def _kind(settings: Blocks) -> dict[str, Any]:
    """What layers are like, as CTranslate2 asks for it."""
    rotary = {"rotary_dim": 0, "rotary_interleave": False}  # all numbers of a head, its halves in pairs
    return {
        "pre_norm": settings.pre_norm,
        "activation": ACTIVATIONS[settings.activation],
        "ffn_glu": settings.activation == "swiglu",
        "rms_norm": settings.norm == "rms",
        "relative_attention_bias": settings.positions == "relative",
        **(rotary if settings.positions == "rotary" else {}),
    }


def _places(embedding: PlacedEmbedding, places: int) -> np.ndarray[Any, Any]:
    """A vector for each place; zeros, where a model knows no places."""
    positions = embedding.positions
    known = positions.table.num_embeddings if isinstance(positions, Learned) else places
    vectors = positions.vectors(torch.arange(known)[None])  # 1 T D
    return _array(torch.zeros(known, embedding.width) if vectors is None else vectors[0])


def _layer(spec: Any, block: Block, embedding: PlacedEmbedding) -> None:
    look = spec.self_attention
    assert isinstance(block.look, SelfAttention)
    _self_attention(look, block.look)
    _norm_around(look, block.around_look)
    if isinstance(embedding.positions, Relative):
        look.relative_attention_bias = _array(embedding.positions.table.weight)  # buckets H
        look.relative_attention_max_distance = np.int32(Relative.FARTHEST)
    if block.across is not None and block.around_across is not None:
        _cross_attention(spec.attention, block.across)
        _norm_around(spec.attention, block.around_across)
    assert isinstance(block.think, FeedForward)
    _feed_forward(spec.ffn, block.think)
    _norm_around(spec.ffn, block.around_think)


def _self_attention(spec: Any, look: SelfAttention) -> None:
    if look.project is None:
        weight, bias = torch.eye(look.width).repeat(3, 1), torch.zeros(3 * look.width)
        output, shift = torch.eye(look.width), torch.zeros(look.width)
    else:
        weight, bias = look.project.weight, look.project.bias
        output, shift = look.output.weight, look.output.bias  # type: ignore[assignment]
    (query, *others), (first, *behind) = weight.chunk(3), bias.chunk(3)
    keys, before = _keys(others[0], behind[0], look.attention)
    _linear(spec.linear[0], torch.cat([query, keys, others[1]]), torch.cat([first, before, behind[1]]))
    _linear(spec.linear[1], output, shift)
    _scale(spec, look.attention)


def _cross_attention(spec: Any, look: CrossAttention) -> None:
    (keys, values), (before, shift) = (
        part.chunk(2) for part in (look.keys_and_values.weight, look.keys_and_values.bias)
    )
    keys, before = _keys(keys, before, look.attention)
    _linear(spec.linear[0], look.query.weight, look.query.bias)
    _linear(spec.linear[1], torch.cat([keys, values]), torch.cat([before, shift]))
    _linear(spec.linear[2], look.output.weight, look.output.bias)
    _scale(spec, look.attention)


def _keys(weight: Tensor, bias: Tensor, attention: Attention) -> tuple[Tensor, Tensor]:
    """The projection to keys, with the matrix in it that the general score has for them: q·W(Kx + b)."""
    if not isinstance(attention.score, General):
        return weight, bias
    matrix = attention.score.weight.weight
    return matrix @ weight, matrix @ bias


def _scale(spec: Any, attention: Attention) -> None:
    if not isinstance(attention.score, ScaledDot):
        spec.queries_scale = 1.0


def _feed_forward(spec: Any, think: FeedForward) -> None:
    weight, bias = think.rise.weight, think.rise.bias
    if think.gated:
        (opened, view), (shift, beside) = weight.chunk(2), bias.chunk(2)
        _linear(spec.linear_0, opened, shift)
        _linear(spec.linear_0_noact, view, beside)
    else:
        _linear(spec.linear_0, weight, bias)
    _linear(spec.linear_1, think.fall.weight, think.fall.bias)


def _norm_around(spec: Any, around: Residual) -> None:
    _norm(spec.layer_norm, around.norm)


def _norm(spec: Any, norm: nn.Module) -> None:
    spec.gamma = _array(norm.weight)
    if isinstance(norm, nn.LayerNorm):
        spec.beta = _array(norm.bias)


def _epsilon(decoder: TransformerDecoder) -> float:
    """What a norm adds to a variance; torch's own choice, where none was made."""
    norm = cast(Block, decoder.blocks[0]).around_look.norm
    epsilon = cast(float | None, norm.eps)
    return torch.finfo(torch.float32).eps if epsilon is None else epsilon


def _linear(spec: Any, weight: Tensor, bias: Tensor) -> None:
    spec.weight, spec.bias = _array(weight), _array(bias)


def _array(tensor: Tensor | nn.Module) -> np.ndarray[Any, Any]:
    assert isinstance(tensor, Tensor)
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy())
