"""The model and its parts."""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Annotated, Literal

from pydantic import Field, model_validator

from regard.attention import ALIASES, LOOKS, SCOPES, SCORES, SELECTIONS
from regard.config.fields import Heads, Layers, Length, Member, Settings, Width, left_out
from regard.decoders import ASKING, BRIDGES
from regard.layers import ACTIVATIONS, CELLS, NORMS, POSITIONS, READOUTS

NO_ATTENTION = "none"  # in the place of a score: the fixed-vector model


class RecurrentEncoder(Settings):
    kind: Literal["recurrent"] = "recurrent"
    cell: Annotated[str, Member(CELLS)] = "gru"
    width: Width = Field(256, description="Of an annotation; where both directions are read, each has half.")
    layers: Layers = 1
    directions: Literal["one", "both", "first"] = Field(
        "both", description="Read in one direction, in both, or in both in the lowest layer alone."
    )
    reverse: bool = Field(False, description="Read the source from its end.")
    residual: bool = Field(False, description="Add each layer's input to its output, from the second on.")
    layer_norm: bool = Field(False, description="Normalise what each layer gives.")
    variational: bool = Field(False, description="Drop the same numbers at every step.")


class Blocks(Settings):
    """What the layers of a Transformer have, in encoders and decoders."""

    width: Width = 512
    layers: Layers = 6
    heads: Heads = Field(8, description="Of the look at itself.")
    score: Annotated[str, Member(SCORES, ALIASES)] = Field("scaled_dot", description="Of the look at itself.")
    selection: Annotated[str, Member(SELECTIONS)] = Field("soft", description="Of the look at itself.")
    projected: bool = Field(True, description="Look through matrices; else with the vectors as they are.")
    feed_forward: Width = Field(2048, description="Width inside of what thinks about each position.")
    activation: Annotated[str, Member(ACTIVATIONS)] = "relu"
    experts: int = Field(
        0,
        ge=0,
        le=1000,
        description="Feed-forward parts that share the positions among them; 0: one for all.",
    )
    experts_used: int = Field(
        2, ge=1, le=1000, description="Of the experts, how many each position is given to."
    )
    balance: float = Field(
        0.01, ge=0, le=1000, description="Weight of the penalty on experts that are not used alike."
    )
    norm: Annotated[str, Member(NORMS)] = "layer"
    pre_norm: bool = Field(True, description="Normalise what enters a part, instead of what leaves it.")
    positions: Annotated[str, Member(POSITIONS)] = "sinusoidal"
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

    width: Width = 256
    layers: Layers = 4
    kernel: int = Field(3, ge=1, le=1001, description="Positions that a layer sees at once.")
    positions: Annotated[
        str, Member({name: POSITIONS[name] for name in ("learned", "sinusoidal", "none")})
    ] = "learned"
    weight_norm: bool = Field(False, description="Learn each row of a matrix as a length and a direction.")


class ConvolutionalEncoder(Convolutions):
    kind: Literal["convolutional"] = "convolutional"


class Attention(Settings):
    score: Annotated[str, Member({**SCORES, NO_ATTENTION: None}, ALIASES)] = Field(
        "additive", description="How well a query fits a position; none: no attention, a fixed vector."
    )
    scope: Annotated[str, Member(SCOPES)] = Field("global", description="Which positions may be looked at.")
    selection: Annotated[str, Member(SELECTIONS)] = Field("soft", description="How scores become weights.")
    heads: Heads = 1
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
    history: bool = Field(
        False, description="What was looked at before is part of the score (coverage); recurrent decoders."
    )


class RecurrentDecoder(Settings):
    kind: Literal["look_then_step", "step_then_look", "step_then_look_fed"] = Field(
        "look_then_step", description="When it looks, and whether it feeds back what it saw."
    )
    cell: Annotated[str, Member(CELLS)] = "gru"
    width: Width = 256
    layers: Layers = 1
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


class TransformerDecoder(Blocks):
    kind: Literal["transformer"] = "transformer"


class ConvolutionalDecoder(Convolutions):
    kind: Literal["convolutional"] = "convolutional"


class StreamDecoder(Settings):
    """Source and target are one stream: the decoder is made of its encoder's own layers."""

    kind: Literal["stream"] = "stream"


# Runs of the time when there was one family of each have no kind in their sections.
Encoder = Annotated[
    RecurrentEncoder | TransformerEncoder | ConvolutionalEncoder,
    Field(discriminator="kind"),
    left_out("kind", "recurrent"),
]
Decoder = Annotated[
    RecurrentDecoder | TransformerDecoder | StreamDecoder | ConvolutionalDecoder,
    Field(discriminator="kind"),
    left_out("kind", "look_then_step"),
]


class Model(Settings):
    preset: str | None = Field(
        None, description="A model out of a paper, whose settings the others are laid over."
    )
    embedding: Width = Field(
        128, description="Width of a piece's vector in recurrent and convolutional parts."
    )
    tie: Literal["none", "output", "all"] = Field(
        "none",
        description="Share a table: of target pieces with the output, and with source pieces if text.shared.",
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="On embeddings, between layers and on features.")
    embedding_noise: float = Field(0.0, ge=0, le=100, description="Gaussian noise on embeddings in training.")
    word_dropout: float = Field(0.0, ge=0, lt=1, description="Share of pieces read as unknown in training.")
    encoder: Encoder = RecurrentEncoder()
    attention: Attention = Attention()
    decoder: Decoder = RecurrentDecoder()

    @model_validator(mode="after")
    def _fits(self) -> "Model":
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        """Combinations that make no sense, each with the reason."""
        yield from self._problems_of_looks()
        for side, part in (("encoder", self.encoder), ("decoder", self.decoder)):
            if isinstance(part, Blocks):
                yield from _problems_of_blocks(side, part)
        if isinstance(self.encoder, TransformerEncoder):
            scope, look = self.encoder.scope, self.encoder.look
            if look != "full" and scope != "global":
                yield f"the {look} look chooses its positions itself: encoder.scope must be global, not {scope}"
        if isinstance(self.encoder, RecurrentEncoder):
            encoder = self.encoder
            if encoder.directions != "one" and encoder.width % 2:
                yield (
                    f"encoder.width is {encoder.width}, but two directions need an even width: each has half of it"
                )
        if isinstance(self.encoder, ConvolutionalEncoder) and self.encoder.kernel % 2 == 0:
            yield (
                f"encoder.kernel is {self.encoder.kernel}, but an encoder's convolution sees as many positions before "
                "as after its own: take an odd one"
            )
        if isinstance(self.decoder, RecurrentDecoder):
            yield from self._problems_of_recurrent_decoder(self.decoder)
        if isinstance(self.decoder, ConvolutionalDecoder):
            if self.attention.score == NO_ATTENTION:
                yield "a convolutional decoder knows its source by looking at it: take another score than none"
            yield from self._problems_of_widths("embedding", self.embedding)
        if isinstance(self.decoder, StreamDecoder):
            if not isinstance(self.encoder, TransformerEncoder):
                yield "the stream decoder is made of its encoder's layers: encoder.kind must be transformer"
            elif self.encoder.scope == "window":
                yield "in one stream the source sees all of itself (encoder.scope global) or its past (causal)"
            elif set(self.encoder.looks) == {"local"}:
                yield (
                    "in one stream the target sees nothing of its source by a local look: some layer must look "
                    'otherwise. Take encoder.look = "alternating" and two layers or more, or another look'
                )
        if self.tie != "none" and self.features != self.pieces_width("decoder"):
            yield (
                f"tie = {self.tie!r} needs features as wide as a piece's vector, but the one is {self.features} and "
                f'the other {self.pieces_width("decoder")}. Make them equal, or set tie = "none"'
            )

    def _problems_of_looks(self) -> Iterator[str]:
        look, width = self.attention, self.decoder_width
        if look.scope in ("causal", "window"):
            yield (
                f"the {look.scope} scope is for a sequence that looks at itself: it compares positions of one "
                "sequence. A decoder's look at its source takes global, local_monotonic or local_predicted"
            )
        others = look.model_copy(update={"pointer": False, "pointer_head": None})
        if isinstance(self.decoder, StreamDecoder) and others != Attention():
            yield "in one stream the look at the source is part of the look at itself: set encoder.score and the like"
        if isinstance(self.decoder, TransformerDecoder):
            if look.score == NO_ATTENTION:
                yield "a Transformer's decoder knows its source by looking at it: take another score than none"
            if width % look.heads:
                yield f"attention.heads = {look.heads} must divide decoder.width ({width})"
            if look.selection == "hard":
                yield (
                    "the hard selection is trained by drawing one place at each step: it is for recurrent decoders. "
                    "The nearest selection looks at one place too"
                )
        if look.score == NO_ATTENTION and (look.heads, look.scope, look.selection) != (1, "global", "soft"):
            yield "without attention (score none) there is nothing for heads, scope or selection to do"
        yield from self._problems_of_pointers()

    def _problems_of_pointers(self) -> Iterator[str]:
        look, heads = self.attention, self.attention.heads
        if isinstance(self.decoder, StreamDecoder) and isinstance(self.encoder, TransformerEncoder):
            heads = self.encoder.heads
        if look.score == NO_ATTENTION and (look.pointer or look.history):
            yield "without attention (score none) there is no look to copy by or to remember: leave both out"
        if look.pointer_head is not None and look.pointer_head >= heads:
            yield f"attention.pointer_head is {look.pointer_head}, but there are {heads} heads, counted from 0"
        if look.history and self.decoder.kind not in ("look_then_step", "step_then_look_fed"):
            yield (
                f"attention.history makes each look depend on those before it, but a {self.decoder.kind} decoder looks "
                "with all steps at once. Take a look_then_step or step_then_look_fed decoder, or the penalty alone: "
                "training.coverage"
            )
        if look.history and look.score in ("location", "position"):
            yield f"the {look.score} score sees no memory, so no history of it either: take another score"

    def _problems_of_recurrent_decoder(self, decoder: RecurrentDecoder) -> Iterator[str]:
        encoder = self.encoder
        yield from self._problems_of_widths("decoder.width", decoder.width)
        if decoder.readout == "state" and decoder.features not in (None, decoder.width):
            yield "the state readout gives the state as it is: leave decoder.features out"
        if decoder.bridge == "last" and not (
            isinstance(encoder, RecurrentEncoder)
            and encoder.width == decoder.width
            and encoder.layers == decoder.layers
            and encoder.cell == decoder.cell
        ):
            yield (
                "the last bridge hands over the encoder's states as they are, so cell, width and layers of "
                "encoder and decoder must be the same. Make them so, or take the projection bridge"
            )

    def _problems_of_widths(self, asking: str, width: int) -> Iterator[str]:
        """Of a decoder whose query, `width` wide as the setting `asking` says, meets the memory as it is."""
        look, memory = self.attention, self.memory_width
        giving = "embedding" if isinstance(self.encoder, ConvolutionalEncoder) else "encoder.width"
        if look.score in ("dot", "scaled_dot", "cosine", "rbf") and width != memory:
            yield (
                f"the {look.score} score compares the decoder's query with the memory as they are: both must be "
                f"equally wide, but {asking} is {width} and {giving} is {memory}. "
                "Make them equal, or take the general score"
            )
        if width % look.heads or memory % look.heads:
            yield f"attention.heads = {look.heads} must divide {asking} ({width}) and {giving} ({memory})"

    @property
    def memory_width(self) -> int:
        """Width of an annotation."""
        return self.embedding if isinstance(self.encoder, ConvolutionalEncoder) else self.encoder.width

    @property
    def decoder_width(self) -> int:
        return self.encoder.width if isinstance(self.decoder, StreamDecoder) else self.decoder.width

    @property
    def features(self) -> int:
        """Width of what the head reads."""
        if isinstance(self.decoder, RecurrentDecoder):
            return self.decoder.features or self.decoder.width
        return self.embedding if isinstance(self.decoder, ConvolutionalDecoder) else self.decoder_width

    def pieces_width(self, side: Literal["encoder", "decoder"]) -> int:
        """Width of a piece's vector on this side."""
        part = self.encoder if side == "encoder" or isinstance(self.decoder, StreamDecoder) else self.decoder
        return part.width - part.position_width if isinstance(part, Blocks) else self.embedding


def _problems_of_blocks(side: str, part: Blocks) -> Iterator[str]:
    if part.width % part.heads:
        yield f"{side}.heads = {part.heads} must divide {side}.width ({part.width})"
    elif part.positions == "rotary" and part.width // part.heads % 2:
        yield (
            f"rotary positions turn pairs of numbers, but a head of {side} is {part.width // part.heads} wide. "
            "Take a number of heads that leaves an even width"
        )
    if 0 < part.experts < part.experts_used:
        yield (
            f"{side}.experts_used is {part.experts_used}, but there are only {part.experts} experts to use. "
            f"Lower it, or raise {side}.experts"
        )
    if part.score in ("location", "position"):
        yield (
            f"the {part.score} score does not see what it looks at: a sequence that looks at itself needs a score "
            "of content, such as scaled_dot"
        )
    if part.selection == "hard":
        yield f'{side}.selection = "hard" is for a decoder\'s look at its source, not for a sequence and itself'
    if part.position_width >= part.width:
        yield f"{side}.position_width must be smaller than {side}.width: the rest is for the piece"
    if part.position_width and part.positions not in ("sinusoidal", "learned"):
        yield f"{part.positions} positions have no vectors that could stand beside a piece's: set position_width = 0"
