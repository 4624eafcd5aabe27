"""The model, and what its parts ask of each other."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator

from regard.config.fields import Settings, Width
from regard.config.parts import (
    NO_ATTENTION,
    Attention,
    Blocks,
    Context,
    ConvolutionalDecoder,
    ConvolutionalEncoder,
    Decoder,
    Encoder,
    PictureEncoder,
    Points,
    RecurrentDecoder,
    RecurrentEncoder,
    StreamDecoder,
    TransformerDecoder,
    TransformerEncoder,
)


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
    context: Context = Context()
    points: Points = Points()

    @model_validator(mode="after")
    def _fits(self) -> "Model":
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        """Combinations that make no sense, each with the reason."""
        yield from self._problems_of_looks()
        yield from _problems_of_encoder(self.encoder)
        yield from (f"beside the source, {problem}" for problem in self._problems_of_context())
        if isinstance(self.decoder, Blocks):
            yield from _problems_of_blocks("decoder", self.decoder)
        if isinstance(self.decoder, RecurrentDecoder):
            yield from self._problems_of_recurrent_decoder(self.decoder)
        if isinstance(self.decoder, ConvolutionalDecoder):
            if self.attention.score == NO_ATTENTION:
                yield "a convolutional decoder knows its source by looking at it: take another score than none"
            yield from self._problems_of_widths(self.attention, self.encoder, "embedding", self.embedding)
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
        others = self.attention.model_copy(update={"pointer": False, "pointer_head": None})
        if isinstance(self.decoder, StreamDecoder) and others != Attention():
            yield "in one stream the look at the source is part of the look at itself: set encoder.score and the like"
        yield from self._problems_of_look(self.attention)
        yield from self._problems_of_pointers()

    def _problems_of_context(self) -> Iterator[str]:
        """Of the sequence beside the source. What is learned from draws, remembered or said is of the source alone."""
        look = self.context.attention
        yield from _problems_of_encoder(self.context.encoder)
        yield from self._problems_of_look(look)
        if look.selection == "hard":
            yield "nothing is learned from draws: take another attention.selection than hard, such as nearest"
        if look.pointer or look.history:
            yield "no look is remembered and nothing is copied: leave attention.history and pointer out"
        if isinstance(self.decoder, RecurrentDecoder):
            yield from self._problems_of_widths(
                look, self.context.encoder, "decoder.width", self.decoder.width
            )

    def _problems_of_look(self, look: Attention) -> Iterator[str]:
        """Of a decoder's look at a memory."""
        width = self.decoder_width
        if look.scope in ("causal", "window"):
            yield (
                f"the {look.scope} scope is for a sequence that looks at itself: it compares positions of one "
                "sequence. A decoder's look at its source takes global, local_monotonic or local_predicted"
            )
        if isinstance(self.decoder, TransformerDecoder):
            if look.score == NO_ATTENTION:
                yield "a Transformer's decoder knows its source by looking at it: take another score than none"
            if width % look.heads:
                yield f"attention.heads = {look.heads} must divide decoder.width ({width})"
            if look.selection == "hard":
                yield (
                    "the hard selection is trained by drawing one place at each step, but a Transformer's decoder "
                    "looks in every layer and head: it is for recurrent and convolutional decoders. The nearest "
                    "selection looks at one place too"
                )
        if look.score == NO_ATTENTION and (look.heads, look.scope, look.selection) != (1, "global", "soft"):
            yield "without attention (score none) there is nothing for heads, scope or selection to do"
        if look.gated and (look.score == NO_ATTENTION or not isinstance(self.decoder, RecurrentDecoder)):
            yield "attention.gated weighs what a recurrent decoder saw: leave it out without attention or without one"

    def _problems_of_pointers(self) -> Iterator[str]:
        look, heads = self.attention, self.attention.heads
        if isinstance(self.decoder, StreamDecoder) and isinstance(self.encoder, TransformerEncoder):
            heads = self.encoder.heads
        if look.score == NO_ATTENTION and (look.pointer or look.history):
            yield "without attention (score none) there is no look to copy by or to remember: leave both out"
        if look.pointer_head is not None and look.pointer_head >= heads:
            yield f"attention.pointer_head is {look.pointer_head}, but there are {heads} heads, counted from 0"
        if look.history and self.decoder.kind not in (
            "look_then_step",
            "step_look_step",
            "step_then_look_fed",
        ):
            yield (
                f"attention.history makes each look depend on those before it, but a {self.decoder.kind} decoder looks "
                "with all steps at once. Take a look_then_step, step_look_step or step_then_look_fed decoder, or the "
                "penalty alone: training.coverage"
            )
        if look.history and look.score in ("location", "position"):
            yield f"the {look.score} score sees no memory, so no history of it either: take another score"

    def _problems_of_recurrent_decoder(self, decoder: RecurrentDecoder) -> Iterator[str]:
        encoder = self.encoder
        yield from self._problems_of_widths(self.attention, encoder, "decoder.width", decoder.width)
        if (
            decoder.kind == "step_look_step"
            and self.attention.score == NO_ATTENTION
            and self.attention.fixed == "start"
        ):
            yield (
                "a step_look_step decoder takes its second step with what it saw, which is nothing where one vector is "
                "all that is known, at the start. Take a step_then_look decoder, or attention"
            )
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

    def _problems_of_widths(
        self, look: Attention, encoder: Encoder, asking: str, width: int
    ) -> Iterator[str]:
        """Of a decoder whose query, `width` wide as the setting `asking` says, meets an encoder's memory as it is."""
        memory = self.annotation_width(encoder)
        giving = "embedding" if isinstance(encoder, ConvolutionalEncoder) else "encoder.width"
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
        return self.annotation_width(self.encoder)

    def annotation_width(self, encoder: Encoder) -> int:
        return self.embedding if isinstance(encoder, ConvolutionalEncoder) else encoder.width

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


def _problems_of_encoder(encoder: Encoder) -> Iterator[str]:
    if isinstance(encoder, Blocks):
        yield from _problems_of_blocks("encoder", encoder)
    if isinstance(encoder, TransformerEncoder) and encoder.look != "full" and encoder.scope != "global":
        yield (
            f"the {encoder.look} look chooses its positions itself: encoder.scope must be global, not {encoder.scope}"
        )
    if isinstance(encoder, RecurrentEncoder) and encoder.directions != "one" and encoder.width % 2:
        yield f"encoder.width is {encoder.width}, but two directions need an even width: each has half of it"
    if isinstance(encoder, PictureEncoder):
        yield from _problems_of_pictures(encoder)
    if isinstance(encoder, ConvolutionalEncoder) and encoder.kernel % 2 == 0:
        yield (
            f"encoder.kernel is {encoder.kernel}, but an encoder's convolution sees as many positions before as after "
            "its own: take an odd one"
        )


def _problems_of_pictures(encoder: PictureEncoder) -> Iterator[str]:
    if encoder.layers and encoder.width % encoder.heads:
        yield f"encoder.heads = {encoder.heads} must divide encoder.width ({encoder.width})"
    if not encoder.trained and encoder.backbone in ("small_cnn", "patches"):
        yield (
            f"encoder.backbone is {encoder.backbone}, which knows nothing before it has learned. Set encoder.trained "
            "to true, or take an efficientnet"
        )


def _problems_of_blocks(side: str, part: Blocks) -> Iterator[str]:
    if part.width % part.heads:
        yield f"{side}.heads = {part.heads} must divide {side}.width ({part.width})"
    elif part.positions == "rotary" and part.width // part.heads % 2:
        yield (
            f"rotary positions turn pairs of numbers, but a head of {side} is {part.width // part.heads} wide. "
            "Take a number of heads that leaves an even width"
        )
    if part.positions == "rotary" and part.score == "additive":
        yield (
            "rotary positions turn queries and keys, whose product then tells how far apart they stand, but the "
            f"additive score has none. Take another {side}.score, such as scaled_dot, or relative positions"
        )
    if 0 < part.experts < part.experts_used:
        yield (
            f"{side}.experts_used is {part.experts_used}, but there are only {part.experts} experts to use. "
            f"Lower it, or raise {side}.experts"
        )
    strange = [layer for layer in part.expert_layers if not 1 <= layer <= part.layers]
    if strange:
        yield f"{side}.expert_layers names layer {strange[0]}, but there are layers 1 to {part.layers}"
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
