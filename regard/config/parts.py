"""The parts of a model."""

from collections import ChainMap
from itertools import cycle, islice
from typing import Annotated, Literal

from pydantic import Field

from regard.attention import ALIASES, LOOKS, SCOPES, SCORES, SELECTIONS
from regard.config.fields import Heads, Layers, Length, Member, Settings, Width, left_out
from regard.decoders import ASKING, BRIDGES
from regard.layers import ACTIVATIONS, CELLS, NORMS, POINT_HEADS, POSITIONS, READOUTS
from regard.layers.backbones import BACKBONES, FEATURES

NO_ATTENTION = "none"  # in the place of a score: the fixed-vector model


class RecurrentEncoder(Settings):
    kind: Literal["recurrent"] = "recurrent"
    cell: Annotated[str, Member(CELLS)] = Field("gru", description="What goes from step to step.")
    width: Width = Field(256, description="Of an annotation; where both directions are read, each has half.")
    layers: Layers = Field(1, description="One reads what the one below gives.")
    directions: Literal["one", "both", "first"] = Field(
        "both", description="Read in one direction, in both, or in both in the lowest layer alone."
    )
    reverse: bool = Field(False, description="Read the source from its end; its end mark stays last.")
    residual: bool = Field(False, description="Add each layer's input to its output, from the second on.")
    layer_norm: bool = Field(False, description="Normalise what each layer gives.")
    variational: bool = Field(False, description="Drop the same numbers at every step.")
    embedding_scale: bool = Field(
        False, description="Multiply the pieces' vectors by the root of their width: for stacks of LSTMs."
    )


class Blocks(Settings):
    """What the layers of a Transformer have, in encoders and decoders."""

    width: Width = Field(512, description="Of the vector of a position.")
    layers: Layers = Field(6, description="Each looks, then thinks about what it saw.")
    heads: Heads = Field(8, description="Of the look at itself.")
    score: Annotated[str, Member(SCORES, ALIASES)] = Field("scaled_dot", description="Of the look at itself.")
    selection: Annotated[str, Member(SELECTIONS)] = Field("soft", description="Of the look at itself.")
    projected: bool = Field(True, description="Look through matrices; else with the vectors as they are.")
    feed_forward: Width = Field(2048, description="Width inside of what thinks about each position.")
    activation: Annotated[str, Member(ACTIVATIONS)] = Field("relu", description="Inside of that part.")
    experts: int = Field(
        0,
        ge=0,
        le=1000,
        description="Feed-forward parts that share the positions among them; 0: one for all.",
    )
    expert_layers: list[int] = Field(
        [], max_length=100, description="Layers that have experts, the lowest is 1; none are named: all have."
    )
    experts_used: int = Field(
        2, ge=1, le=1000, description="Of the experts, how many each position is given to."
    )
    balance: float = Field(
        0.01, ge=0, le=1000, description="Weight of the penalty on experts that are not used alike."
    )
    norm: Annotated[str, Member(NORMS)] = Field("layer", description="How vectors are normalised.")
    pre_norm: bool = Field(True, description="Normalise what enters a part, instead of what leaves it.")
    positions: Annotated[str, Member(POSITIONS)] = Field(
        "sinusoidal", description="How a layer knows in which place a piece stands."
    )
    position_width: int = Field(
        0,
        ge=0,
        le=100_000,
        description="0: places are added to pieces; else they stand beside them, so wide.",
    )
    embedding_scale: bool = Field(
        True, description="Multiply the pieces' vectors by the root of their width."
    )
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="On the weights of attention.")
    activation_dropout: float = Field(0.0, ge=0, lt=1, description="Inside of the feed-forward part.")

    def experts_of(self, layer: int) -> int:
        """How many one layer has, the lowest being 1."""
        return self.experts if not self.expert_layers or layer in self.expert_layers else 0


class TransformerEncoder(Blocks):
    kind: Literal["transformer"] = "transformer"
    scope: Annotated[str, Member({name: SCOPES[name] for name in ("global", "causal", "window")})] = Field(
        "global", description="Which positions a position may look at."
    )
    radius: Length = Field(10, description="Of the window scope, in positions.")
    look: Annotated[str, Member({**LOOKS, "alternating": None})] = Field(
        "full",
        description="At all positions, at those of its own block, at compressed ones; or these two in turn.",
    )
    block: Length = Field(256, description="Positions in a block of the local look.")
    compression: Length = Field(3, description="Positions that the compressed look makes one of.")

    @property
    def looks(self) -> list[str]:
        """Of each layer, from the lowest on."""
        kinds = ("local", "compressed") if self.look == "alternating" else (self.look,)
        return list(islice(cycle(kinds), self.layers))


class Convolutions(Settings):
    """What the layers of convolutions have, in encoders and decoders."""

    width: Width = Field(256, description="Of the vector of a position between the layers.")
    layers: Layers = Field(4, description="Each sees `kernel` positions of the one below.")
    kernel: int = Field(3, ge=1, le=1001, description="Positions that a layer sees at once.")
    positions: Annotated[
        str, Member({name: POSITIONS[name] for name in ("learned", "sinusoidal", "none")})
    ] = Field("learned", description="How a layer knows in which place a piece stands.")
    weight_norm: bool = Field(False, description="Learn each row of a matrix as a length and a direction.")


class ConvolutionalEncoder(Convolutions):
    kind: Literal["convolutional"] = "convolutional"


class PictureEncoder(Settings):
    kind: Literal["picture"] = "picture"
    backbone: Annotated[str, Member(BACKBONES)] = Field("small_cnn", description="What sees the picture.")
    trained: bool = Field(
        True,
        description="The backbone learns with the model; else what it sees is found once and kept, which needs one "
        "that knows pictures already (efficientnet_lite0, _lite1, _lite2).",
    )
    features: Annotated[str, Member(dict.fromkeys(FEATURES))] = Field(
        "head",
        description="Of EfficientNet, the map after its head, its last stage or a middle one, twice as fine.",
    )
    size: int | None = Field(
        None,
        ge=8,
        le=4096,
        description="Pixels a side that a picture is fitted to; left out: what the backbone wants.",
    )
    stages: Layers = Field(3, description="Of small_cnn, each half as fine as the one before.")
    patch: int = Field(8, ge=1, le=1024, description="Of patches, pixels a side.")
    width: Width = Field(512, description="Of an annotation.")
    positions: bool = Field(True, description="Rows and columns of the grid have learned vectors.")
    layers: int = Field(
        0,
        ge=0,
        le=1000,
        description="Of a Transformer in which the cells look at each other; over patches, a ViT.",
    )
    heads: Heads = Field(4, description="Of those layers.")
    feed_forward: Width = Field(
        512, description="Width inside of what thinks about each cell in those layers."
    )


class Attention(Settings):
    score: Annotated[str, Member(ChainMap({NO_ATTENTION: None}, SCORES), ALIASES)] = Field(
        "additive", description="How well a query fits a position; none: no attention, a fixed vector."
    )
    scope: Annotated[str, Member(SCOPES)] = Field("global", description="Which positions may be looked at.")
    selection: Annotated[str, Member(SELECTIONS)] = Field("soft", description="How scores become weights.")
    heads: Heads = Field(1, description="Looks beside each other, each with a share of the width.")
    radius: Length = Field(10, description="Of the local scopes, in positions.")
    longest: Length | None = Field(
        None,
        description="Positions that location and position know; left out: as many as data and search allow.",
    )
    gamma: float | None = Field(None, gt=0, le=10**6, description="Of rbf; left out: learned.")
    half_soft: float = Field(0.5, ge=0, le=1, description="Share of hard's looks that stay soft in training.")
    fixed: Literal["start", "every_step"] = Field(
        "every_step",
        description="Without attention: the summary only starts the decoder, or is fed at every step.",
    )
    pointer: bool = Field(
        False, description="Answers can copy pieces of the source, words that were never seen too."
    )
    pointer_head: int | None = Field(
        None,
        ge=0,
        le=999,
        description="Head whose look is copied from and covered, counted from 0; left out: their mean.",
    )
    gated: bool = Field(
        False,
        description="The decoder decides at each step how much of what it saw counts; recurrent decoders.",
    )
    history: bool = Field(
        False, description="What was looked at before is part of the score (coverage); recurrent decoders."
    )


class RecurrentDecoder(Settings):
    kind: Literal["look_then_step", "step_look_step", "step_then_look", "step_then_look_fed"] = Field(
        "look_then_step", description="When it looks, and whether it feeds back what it saw."
    )
    cell: Annotated[str, Member(CELLS)] = Field("gru", description="What goes from step to step.")
    width: Width = Field(256, description="Of its state.")
    layers: Layers = Field(1, description="One reads what the one below gives.")
    bridge: Annotated[str, Member(BRIDGES)] = Field("projection", description="From memory to first state.")
    readout: Annotated[str, Member(READOUTS)] = Field("maxout", description="From state to features.")
    features: Width | None = Field(
        None, description="Width of what the head reads; left out: the decoder's width."
    )
    asking: Annotated[str, Member(ASKING)] = Field(
        "highest", description="Which layer's state asks the memory, in look_then_step."
    )
    context_to_all: bool = Field(False, description="Give the context to every layer, in look_then_step.")
    residual: bool = Field(False, description="Add each layer's input to its output, from the second on.")
    layer_norm: bool = Field(False, description="Normalise what each layer gives to the next.")
    variational: bool = Field(False, description="Drop the same numbers at every step.")
    embedding_scale: bool = Field(
        False, description="Multiply the pieces' vectors by the root of their width: for stacks of LSTMs."
    )


class TransformerDecoder(Blocks):
    kind: Literal["transformer"] = "transformer"


class ConvolutionalDecoder(Convolutions):
    kind: Literal["convolutional"] = "convolutional"


class StreamDecoder(Settings):
    """Source and target are one stream: the decoder is made of its encoder's own layers."""

    kind: Literal["stream"] = "stream"


# Runs of the time when there was one family of each have no kind in their sections.
Encoder = Annotated[
    RecurrentEncoder | TransformerEncoder | ConvolutionalEncoder | PictureEncoder,
    Field(discriminator="kind"),
    left_out("kind", "recurrent"),
]
Decoder = Annotated[
    RecurrentDecoder | TransformerDecoder | StreamDecoder | ConvolutionalDecoder,
    Field(discriminator="kind"),
    left_out("kind", "look_then_step"),
]


class Context(Settings):
    """What reads the sequence beside the source, and how a decoder looks at it."""

    encoder: Annotated[
        RecurrentEncoder | TransformerEncoder | ConvolutionalEncoder,
        Field(discriminator="kind"),
        left_out("kind", "recurrent"),
    ] = RecurrentEncoder()
    attention: Attention = Attention()


class Points(Settings):
    """What is said of the next point, where answers are points."""

    kind: Annotated[str, Member(POINT_HEADS)] = Field(
        "squared",
        description="Its mean, judged by squared error or Huber's; a Gaussian; or a mixture of several.",
    )
    components: int = Field(5, ge=1, le=1000, description="Gaussians of a mixture.")
    delta: float = Field(
        1.0, gt=0, le=10**6, description="Of huber: where errors begin to count by their size."
    )
