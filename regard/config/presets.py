"""Models out of papers, each a function that reads like its figure.

A preset gives the paper's own sizes. Any setting can be laid over it: `model.preset = "luong2015"` and
`model.decoder.width = 256` is Luong's model, smaller. Stacks of LSTMs multiply pieces' vectors by the root of their
width (`embedding_scale`): with it they learn to look in a few hundred steps of small data.
"""

from collections.abc import Callable
from typing import Any

from regard.config.model import Model
from regard.config.parts import (
    Attention,
    ConvolutionalDecoder,
    ConvolutionalEncoder,
    PictureEncoder,
    RecurrentDecoder,
    RecurrentEncoder,
    StreamDecoder,
    TransformerDecoder,
    TransformerEncoder,
)


def sutskever2014() -> Model:
    """Sequence to Sequence Learning with Neural Networks: one vector starts the decoder; the source is reversed."""
    return Model(
        embedding=1000,
        encoder=RecurrentEncoder(
            cell="lstm", width=1000, layers=4, directions="one", reverse=True, embedding_scale=True
        ),
        attention=Attention(score="none", fixed="start"),
        decoder=RecurrentDecoder(
            kind="step_then_look",
            cell="lstm",
            width=1000,
            layers=4,
            bridge="last",
            readout="state",
            embedding_scale=True,
        ),
    )


def cho2014() -> Model:
    """Learning Phrase Representations using RNN Encoder-Decoder: one vector, fed at every step."""
    return Model(
        embedding=100,
        encoder=RecurrentEncoder(cell="gru", width=1000, directions="one"),
        attention=Attention(score="none", fixed="every_step"),
        decoder=RecurrentDecoder(
            kind="look_then_step", cell="gru", width=1000, bridge="projection", readout="maxout", features=500
        ),
    )


def bahdanau2015() -> Model:
    """Neural Machine Translation by Jointly Learning to Align and Translate: looks, then takes the step."""
    return Model(
        embedding=620,
        encoder=RecurrentEncoder(cell="gru", width=2000, directions="both"),
        attention=Attention(score="additive"),
        decoder=RecurrentDecoder(
            kind="look_then_step", cell="gru", width=1000, bridge="projection", readout="maxout", features=500
        ),
    )


def luong2015() -> Model:
    """Effective Approaches to Attention-based NMT: takes the step, then looks; what it saw is fed back."""
    return Model(
        embedding=1000,
        dropout=0.2,
        encoder=RecurrentEncoder(
            cell="lstm", width=1000, layers=4, directions="one", reverse=True, embedding_scale=True
        ),
        attention=Attention(score="general"),
        decoder=RecurrentDecoder(
            kind="step_then_look_fed",
            cell="lstm",
            width=1000,
            layers=4,
            bridge="last",
            readout="attentional",
            embedding_scale=True,
        ),
    )


def luong2015_dot() -> Model:
    """Luong's model with the dot score."""
    return luong2015().model_copy(update={"attention": Attention(score="dot")})


def luong2015_local_m() -> Model:
    """Luong's model with a window that walks along (local-m)."""
    return luong2015().model_copy(update={"attention": Attention(score="general", scope="local_monotonic")})


def luong2015_local_p() -> Model:
    """Luong's model with a window around a predicted position (local-p), his best."""
    return luong2015().model_copy(update={"attention": Attention(score="general", scope="local_predicted")})


def xu2015_soft() -> Model:
    """Show, Attend and Tell: an LSTM looks at the cells of a picture and weighs what it saw by a gate."""
    return Model(
        embedding=512,
        encoder=PictureEncoder(
            kind="picture",
            backbone="efficientnet_lite0",
            trained=False,
            features="head",
            width=512,
            positions=False,
        ),
        attention=Attention(score="additive", gated=True),
        decoder=RecurrentDecoder(
            kind="look_then_step", cell="lstm", width=1000, bridge="mean", readout="deep", features=512
        ),
    )


def xu2015_hard() -> Model:
    """The same with one cell at each step, drawn and learned by REINFORCE."""
    soft = xu2015_soft()
    return soft.model_copy(update={"attention": Attention(score="additive", gated=True, selection="hard")})


def gnmt() -> Model:
    """Google's NMT system (Wu et al. 2016): eight layers with residuals; the lowest asks, all hear the answer.

    The lowest encoder layer reads both directions, each with half of the width. Residuals begin at the second layer,
    in the paper at the third.
    """
    return Model(
        embedding=1024,
        dropout=0.2,
        encoder=RecurrentEncoder(
            cell="lstm", width=1024, layers=8, directions="first", residual=True, embedding_scale=True
        ),
        attention=Attention(score="additive"),
        decoder=RecurrentDecoder(
            kind="look_then_step",
            cell="lstm",
            width=1024,
            layers=8,
            bridge="zeros",
            readout="state",
            asking="lowest",
            context_to_all=True,
            residual=True,
            embedding_scale=True,
        ),
    )


def convs2s() -> Model:
    """Convolutional Sequence to Sequence Learning (Gehring et al. 2017): twenty layers on each side, no recurrence.

    The sizes are those of its English-Romanian model. Every layer of the decoder looks at the source.
    """
    sizes: dict[str, Any] = {"width": 512, "layers": 20, "kernel": 3, "weight_norm": True}
    return Model(
        embedding=512,
        dropout=0.2,
        encoder=ConvolutionalEncoder(kind="convolutional", **sizes),
        attention=Attention(score="dot"),
        decoder=ConvolutionalDecoder(kind="convolutional", **sizes),
    )


def transformer_base() -> Model:
    """Attention Is All You Need (Vaswani et al. 2017): six layers on each side, eight heads, no recurrence."""
    return _transformer(width=512, layers=6, heads=8, feed_forward=2048, dropout=0.1, pre_norm=False)


def transformer_big() -> Model:
    """The larger model of the same paper."""
    return _transformer(width=1024, layers=6, heads=16, feed_forward=4096, dropout=0.3, pre_norm=False)


def transformer_small() -> Model:
    """Half as wide as the base model and two thirds as deep, for some hundred thousand pairs."""
    return _transformer(width=256, layers=4, heads=4, feed_forward=1024, dropout=0.2, pre_norm=True)


def transformer_tiny() -> Model:
    """For some ten thousand pairs (sizes of Wu et al. 2021 on Multi30k)."""
    return _transformer(width=128, layers=4, heads=4, feed_forward=256, dropout=0.1, pre_norm=True)


def transformer_d() -> Model:
    """Decoder alone (Liu et al. 2018): source and target are one stream, of which the target is learned."""
    blocks = {"width": 512, "layers": 6, "heads": 8, "feed_forward": 2048, "pre_norm": False}
    return Model(
        tie="all",
        dropout=0.1,
        encoder=TransformerEncoder(kind="transformer", scope="causal", **blocks),
        decoder=StreamDecoder(kind="stream"),
    )


def transformer_dmca() -> Model:
    """Decoder alone for long sources (Liu et al. 2018, T-DMCA): local and compressed looks in turn, local first.

    The source sees all of itself; the target, which is short, sees itself uncompressed.
    """
    blocks = {"width": 512, "layers": 5, "heads": 8, "feed_forward": 2048, "pre_norm": False}
    return Model(
        tie="all",
        dropout=0.1,
        encoder=TransformerEncoder(kind="transformer", scope="global", look="alternating", **blocks),
        decoder=StreamDecoder(kind="stream"),
    )


def transformer_dmca_moe() -> Model:
    """The same with experts (Liu et al. 2018, T-DMCA with 128 of them), two for each position.

    The middle layer has them, as in the authors' program. So many are for large machines: lay a smaller
    `encoder.experts` over it.
    """
    plain = transformer_dmca()
    experts = {"experts": 128, "expert_layers": [3]}
    return plain.model_copy(update={"encoder": plain.encoder.model_copy(update=experts)})


def transformer_ed() -> Model:
    """Encoder and decoder as Liu et al. 2018 compare them with one stream: the base Transformer."""
    return transformer_base()


def seq2seq_attention() -> Model:
    """Recurrent with attention, what Liu et al. 2018 compare Transformers with.

    A Bahdanau decoder over an encoder of both directions, with LSTM cells. They do not say all of its sizes: here it
    is as wide as their Transformers.
    """
    return Model(
        embedding=512,
        dropout=0.1,
        encoder=RecurrentEncoder(cell="lstm", width=512, directions="both"),
        attention=Attention(score="additive"),
        decoder=RecurrentDecoder(
            kind="look_then_step", cell="lstm", width=512, bridge="projection", readout="maxout", features=512
        ),
    )


def _transformer(*, dropout: float, heads: int, **blocks: Any) -> Model:
    return Model(
        tie="all",
        dropout=dropout,
        encoder=TransformerEncoder(kind="transformer", heads=heads, **blocks),
        attention=Attention(score="scaled_dot", heads=heads),
        decoder=TransformerDecoder(kind="transformer", heads=heads, **blocks),
    )


PRESETS: dict[str, Callable[[], Model]] = {
    "sutskever2014": sutskever2014,
    "cho2014": cho2014,
    "bahdanau2015": bahdanau2015,
    "luong2015": luong2015,
    "luong2015_dot": luong2015_dot,
    "luong2015_local_m": luong2015_local_m,
    "luong2015_local_p": luong2015_local_p,
    "xu2015_soft": xu2015_soft,
    "xu2015_hard": xu2015_hard,
    "gnmt": gnmt,
    "convs2s": convs2s,
    "transformer_base": transformer_base,
    "transformer_big": transformer_big,
    "transformer_small": transformer_small,
    "transformer_tiny": transformer_tiny,
    "transformer_d": transformer_d,
    "transformer_dmca": transformer_dmca,
    "transformer_dmca_moe": transformer_dmca_moe,
    "transformer_ed": transformer_ed,
    "seq2seq_attention": seq2seq_attention,
}
