"""Models out of papers, each a function that reads like its figure.

A preset gives the paper's own sizes. Any setting can be laid over it: `model.preset = "luong2015"` and
`model.decoder.width = 256` is Luong's model, smaller.
"""

from collections.abc import Callable

from regard.config.settings import Attention, Decoder, Encoder, Model


def sutskever2014() -> Model:
    """Sequence to Sequence Learning with Neural Networks: one vector starts the decoder; the source is reversed."""
    return Model(
        embedding=1000,
        encoder=Encoder(cell="lstm", width=1000, layers=4, directions="one", reverse=True),
        attention=Attention(score="none", fixed="start"),
        decoder=Decoder(
            kind="step_then_look", cell="lstm", width=1000, layers=4, bridge="last", readout="state"
        ),
    )


def cho2014() -> Model:
    """Learning Phrase Representations using RNN Encoder-Decoder: one vector, fed at every step."""
    return Model(
        embedding=100,
        encoder=Encoder(cell="gru", width=1000, directions="one"),
        attention=Attention(score="none", fixed="every_step"),
        decoder=Decoder(
            kind="look_then_step", cell="gru", width=1000, bridge="projection", readout="maxout", features=500
        ),
    )


def bahdanau2015() -> Model:
    """Neural Machine Translation by Jointly Learning to Align and Translate: looks, then takes the step."""
    return Model(
        embedding=620,
        encoder=Encoder(cell="gru", width=2000, directions="both"),
        attention=Attention(score="additive"),
        decoder=Decoder(
            kind="look_then_step", cell="gru", width=1000, bridge="projection", readout="maxout", features=500
        ),
    )


def luong2015() -> Model:
    """Effective Approaches to Attention-based NMT: takes the step, then looks; what it saw is fed back."""
    return Model(
        embedding=1000,
        dropout=0.2,
        encoder=Encoder(cell="lstm", width=1000, layers=4, directions="one", reverse=True),
        attention=Attention(score="general"),
        decoder=Decoder(
            kind="step_then_look_fed", cell="lstm", width=1000, layers=4, bridge="last", readout="attentional"
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


def gnmt() -> Model:
    """Google's NMT system (Wu et al. 2016): eight layers with residuals; the lowest asks, all hear the answer.

    The lowest encoder layer reads both directions, each with half of the width.
    """
    return Model(
        embedding=1024,
        dropout=0.2,
        encoder=Encoder(cell="lstm", width=1024, layers=8, directions="first", residual=True),
        attention=Attention(score="additive"),
        decoder=Decoder(
            kind="look_then_step",
            cell="lstm",
            width=1024,
            layers=8,
            bridge="zeros",
            readout="state",
            asking="lowest",
            context_to_all=True,
            residual=True,
        ),
    )


PRESETS: dict[str, Callable[[], Model]] = {
    "sutskever2014": sutskever2014,
    "cho2014": cho2014,
    "bahdanau2015": bahdanau2015,
    "luong2015": luong2015,
    "luong2015_dot": luong2015_dot,
    "luong2015_local_m": luong2015_local_m,
    "luong2015_local_p": luong2015_local_p,
    "gnmt": gnmt,
}
