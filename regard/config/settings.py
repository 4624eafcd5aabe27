"""Every setting, typed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from regard.attention import ALIASES, LOOKS, SCOPES, SCORES, SELECTIONS
from regard.core.errors import did_you_mean
from regard.decoders import ASKING, BRIDGES
from regard.layers import ACTIVATIONS, CELLS, NORMS, POSITIONS, READOUTS
from regard.metrics import METRICS
from regard.search import RANKS
from regard.text import TOKENIZERS
from regard.text.normalization import NORMALIZATIONS
from regard.training import DECAYS, FEEDINGS, OPTIMIZERS, PRECISIONS, SCHEDULES


@dataclass(frozen=True)
class Member:
    """A name out of a registry: the registry stays the only place where members are listed."""

    registry: Mapping[str, Any]
    aliases: Mapping[str, str] = field(default_factory=dict)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "enum": [*self.registry, *self.aliases]}

    def _check(self, name: str) -> str:
        name = self.aliases.get(name, name)
        if name not in self.registry:
            raise ValueError(not_one_of(name, list(self.registry)))
        return name


def not_one_of(name: str, names: Sequence[str]) -> str:
    hint = did_you_mean(name, names)
    near = hint if "Did you mean" in hint else ""
    shown = name if len(name) <= 100 else f"{name[:100]}..."
    return f"{shown!r} is not one of {', '.join(names)}.{near}"


def left_out(key: str, value: str) -> BeforeValidator:
    """What the key of a union means where a section does not have it."""
    return BeforeValidator(lambda given: {key: value, **given} if isinstance(given, dict) else given)


def _device(name: str) -> str:
    if not re.fullmatch(r"auto|cpu|cuda(:[0-9]{1,2})?", name, re.ASCII):
        raise ValueError(f"{name!r} is not a device to train on. Use auto, cpu, cuda or cuda:1")
    return name


def _language(code: str) -> str:
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*", code, re.ASCII) or len(code) > 35:
        raise ValueError(f"{code[:40]!r} is not the code of a language. Write it like en, de or pt-BR")
    return code


NO_ATTENTION = "none"  # in the place of a score: the fixed-vector model

# Every number has an upper bound, far above what anybody needs: past it lies a slip of the keyboard,
# and torch would answer it with an overflow.
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Steps = Annotated[int, Field(ge=1, le=10**12)]
Pairs = Annotated[int, Field(ge=1, le=10**9)]
Tokens = Annotated[int, Field(ge=1, le=10**9)]
Length = Annotated[int, Field(ge=1, le=100_000)]
Width = Annotated[int, Field(ge=1, le=100_000)]
Layers = Annotated[int, Field(ge=1, le=1000)]
Heads = Annotated[int, Field(ge=1, le=1000)]
Year = Annotated[int, Field(ge=1, le=9999)]
Beta = Annotated[float, Field(ge=0, lt=1)]
Language = Annotated[str, AfterValidator(_language)]


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class TwoFiles(Settings):
    """Two files whose lines belong together."""

    source: str
    target: str


Files = str | TwoFiles | list[str | TwoFiles]


class Dates(Settings):
    """Free-form dates to ISO dates, made with Babel unless `data.train` names a file of pairs."""

    name: Literal["dates"] = "dates"
    locales: list[str] = Field(
        ["en", "fr", "de", "es", "it", "pt", "nl", "pl", "sv", "tr"],
        min_length=1,
        description="Languages the dates are written in.",
    )
    years: tuple[Year, Year] = Field((1900, 2099), description="First and last year.")
    pairs: Pairs = Field(60_000, description="Training pairs to make.")


class Translation(Settings):
    """Sentences of one language into another, learned from the pairs that `data.train` names."""

    name: Literal["translation"] = "translation"
    source_language: Language | None = Field(None, description='Such as "en"; for labels.')
    target_language: Language | None = Field(
        None, description='Such as "de"; for labels and for metrics that need to know it.'
    )


# Runs of the time when there was one task have no name in their section.
Task = Annotated[Dates | Translation, Field(discriminator="name"), left_out("name", "dates")]


class Data(Settings):
    """Where the pairs come from, and which of them are used."""

    train: Files | None = Field(
        None,
        description="A .tsv or .jsonl file, also .gz, {source=, target=} files, or a list of those. "
        "$REGARD_DATA/ at the start of a name is the folder of data.",
    )
    validation: Files | None = Field(None, description="Like train; left out: split off train.")
    test: Files | None = Field(None, description="Like train; left out: split off train.")
    seed: Seed = Field(1, description="Decides which pairs are made or split off, whatever training.seed is.")
    validation_size: Pairs = Field(1000, description="Pairs for validation when they are split off or made.")
    test_size: Pairs = Field(2000, description="Pairs for the test when they are split off or made.")
    source_field: str = Field("source", description="Name of the source in JSON lines.")
    target_field: str = Field("target", description="Name of the target in JSON lines.")
    max_source: Length = Field(200, description="Pieces; longer pairs are left out and counted.")
    max_target: Length = Field(200, description="Pieces; longer pairs are left out and counted.")


class Pieces(Settings):
    """How one side's text is cut into pieces."""

    kind: Annotated[str, Member(TOKENIZERS)] = Field("bpe", description="The kind of piece.")
    vocabulary: int = Field(8000, ge=5, le=10_000_000, description="Greatest number of different pieces.")
    normalization: Annotated[str, Member(NORMALIZATIONS)] = Field("nfc", description="Unicode normalisation.")
    lowercase: bool = Field(False, description="Read and write everything in small letters.")
    dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="BPE-dropout: share of merges skipped in training, so that a text comes in other pieces "
        "each time. Its rows grow, at 0.1 by about a third, and batches with them.",
    )


class Text(Settings):
    source: Pieces = Pieces()
    target: Pieces = Pieces()
    shared: bool = Field(
        False, description="One tokenizer for both sides, set up as text.source says, but for its dropout."
    )

    @model_validator(mode="after")
    def _merges_can_be_skipped(self) -> "Text":
        for side, pieces in (("source", self.source), ("target", self.target)):
            kind = self.source.kind if self.shared else pieces.kind
            if pieces.dropout and kind != "bpe":
                raise ValueError(
                    f"{side}.dropout skips merges of bpe, but the pieces are {kind}. Set it to 0, or take bpe"
                )
        return self

    @model_validator(mode="after")
    def _same_case(self) -> "Text":
        if self.shared and self.target.lowercase and not self.source.lowercase:
            raise ValueError(
                "one shared tokenizer is set up as source says, and source.lowercase is false. Set it to true for "
                "small letters on both sides, or set shared to false"
            )
        return self


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
        if isinstance(self.decoder, StreamDecoder) and look != Attention():
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


class Training(Settings):
    seed: Seed = 1
    device: Annotated[str, AfterValidator(_device)] = Field(
        "auto", description='"auto", "cpu", "cuda", "cuda:1" ...'
    )
    precision: Annotated[str, Member(PRECISIONS)] = Field(
        "float32", description="bfloat16 and float16 run under autocast; meant for GPUs."
    )
    steps: Steps = Field(10_000, description="Optimizer steps, at the most.")
    batch_tokens: Tokens = Field(4096, description="Pieces of the longer side in one batch, with padding.")
    accumulate: int = Field(1, ge=1, le=10**6, description="Batches for one optimizer step.")
    step_tokens: Tokens | None = Field(
        None,
        description="Batches are taken until they have this many target pieces for one optimizer step, "
        "instead of counting them with accumulate.",
    )
    optimizer: Annotated[str, Member(OPTIMIZERS)] = "adam"
    learning_rate: float = Field(1e-3, gt=0, le=1000)
    betas: tuple[Beta, Beta] = (0.9, 0.999)
    weight_decay: float = Field(0.0, ge=0, le=1000)
    schedule: Annotated[str, Member(SCHEDULES)] = "inverse_sqrt"
    warmup: int = Field(400, ge=0, le=10**12, description="Steps during which the learning rate rises.")
    clip: float = Field(1.0, ge=0, le=10**9, description="Greatest norm of the gradient; 0 is no clipping.")
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    feeding: Annotated[str, Member(FEEDINGS)] = Field(
        "teacher",
        description="What the decoder is fed: the truth; the truth less and less often, step by step "
        "(scheduled) or in two unrolled passes (two_pass); always its own pieces (free).",
    )
    decay: Annotated[str, Member(DECAYS)] = Field(
        "inverse_sigmoid", description="How the share of truth falls when feeding is scheduled or two_pass."
    )
    decay_steps: Steps = Field(2000, description="How fast it falls: the greater, the slower.")
    least_truth: float = Field(0.25, ge=0, le=1, description="The share of truth that it never falls below.")
    reinforce: float = Field(1.0, ge=0, le=1000, description="Weight of the hard selection's own gradient.")
    entropy_bonus: float = Field(0.01, ge=0, le=1000, description="Reward for hard choices that stay open.")
    log_every: Steps = 50
    validate_every: Steps = 500
    save_every: Steps = 500
    keep: int = Field(2, ge=2, le=10**6, description="Newest checkpoints kept; the best is kept too.")
    average: int = Field(
        1,
        ge=1,
        le=10**6,
        description="Newest checkpoints whose mean becomes the model at the end, if it validates better than the "
        "best of them all; 1 is no averaging.",
    )
    ema: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Decay of a moving average of the weights, such as 0.999, which is validated and becomes the "
        "model; 0 is none.",
    )
    patience: int | None = Field(
        None, ge=1, le=10**9, description="Validations without improvement before it stops."
    )
    metric: str = Field("loss", description="What decides which checkpoint is best: loss or a metric's name.")
    samples: int = Field(
        4, ge=0, le=10**6, description="Validation examples whose predictions are kept at each validation."
    )
    tensorboard: bool = Field(True, description="Write TensorBoard files too, where it is installed.")

    @model_validator(mode="after")
    def _known_metric(self) -> "Training":
        known = ["loss", *METRICS]
        if self.metric not in known:
            raise ValueError(f"metric = {self.metric!r} is not known.{did_you_mean(self.metric, known)}")
        return self

    @model_validator(mode="after")
    def _enough_is_kept(self) -> "Training":
        if self.keep < self.average:
            raise ValueError(
                f"keep is {self.keep}, but average is {self.average}: only checkpoints that are kept can be "
                f"averaged. Set training.keep to {self.average} or more"
            )
        return self

    @model_validator(mode="after")
    def _one_way_to_count(self) -> "Training":
        if self.step_tokens is not None and self.accumulate > 1:
            raise ValueError(
                "accumulate counts the batches of a step and step_tokens its target pieces: only one of them "
                "can decide when a step is full. Leave one of them out"
            )
        return self


class Search(Settings):
    beam: int = Field(1, ge=1, le=1000, description="Width of the beam; 1 is greedy.")
    penalty: Annotated[str, Member(RANKS)] = Field(
        "gnmt", description="How answers of different lengths are compared: gnmt or average."
    )
    length_penalty: float = Field(0.6, ge=0, le=10, description="Exponent of the length penalty; 0 is none.")
    coverage: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="How much it counts that source pieces were not looked at; 0 is nothing.",
    )
    min_length: int = Field(0, ge=0, le=10**6, description="Smallest number of pieces in an answer.")
    min_ratio: float = Field(0.0, ge=0, le=1000, description="And at least this many for each source piece.")
    max_length: Length = Field(200, description="Greatest number of pieces in an answer.")
    max_ratio: float = Field(
        3.0, gt=0, le=1000, description="And at most this many for each source piece, plus 10."
    )
    end_threshold: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="The end must be this many times as likely as the likeliest other piece.",
    )
    no_repeat: int = Field(
        0, ge=0, le=10**6, description="So many pieces in a row never come twice in an answer; 0 is no rule."
    )
    groups: int = Field(1, ge=1, le=1000, description="Parts of the beam that avoid each other.")
    diversity: float = Field(0.5, ge=0, le=1000, description="How much they avoid each other.")


class Evaluation(Settings):
    metrics: list[Annotated[str, Member(METRICS)]] = Field(["bleu", "chrf"], min_length=1)
    batch_tokens: Tokens = Field(
        8192, description="Pieces of source in one batch, with padding, for each hypothesis of the beam."
    )


class Config(Settings):
    """A whole configuration: enough to train again."""

    task: Task = Dates()
    data: Data = Data()
    text: Text = Text()
    model: Model = Model()
    training: Training = Training()
    search: Search = Search()
    evaluation: Evaluation = Evaluation()

    @property
    def longest(self) -> int:
        """Positions that can come up: pieces of a source or an answer, and the end mark."""
        source, target = self.data.max_source, max(self.data.max_target, self.search.max_length)
        if isinstance(self.model.decoder, StreamDecoder):
            return 2 + source + target
        return 1 + max(source, target)

    @model_validator(mode="after")
    def _pairs_are_given(self) -> "Config":
        if self.task.name == "translation" and self.data.train is None:
            raise ValueError(
                "data.train is missing: the task translation learns from pairs of your own. Give a file, such as "
                "data.train = 'pairs.tsv', or two parallel ones: data.train = {source = 'a.en', target = 'a.de'}"
            )
        return self

    @model_validator(mode="after")
    def _draws_can_be_learned_from(self) -> "Config":
        if self.model.attention.selection == "hard" and self.training.feeding not in ("teacher", "two_pass"):
            raise ValueError(
                "the hard selection learns from its draws over a whole unrolled target, so training.feeding must "
                "be teacher or two_pass. Take the nearest selection to train with the model's own pieces"
            )
        return self

    @model_validator(mode="after")
    def _positions_are_known(self) -> "Config":
        look = self.model.attention
        if (
            look.score in ("location", "position")
            and look.longest is not None
            and look.longest < self.longest
        ):
            raise ValueError(
                f"model.attention.longest is {look.longest}, but data.max_source, data.max_target and "
                f"search.max_length let {self.longest} positions come up. Raise it, leave it out, or lower those"
            )
        return self

    @model_validator(mode="after")
    def _tables_fit(self) -> "Config":
        source, target = self.model.pieces_width("encoder"), self.model.pieces_width("decoder")
        if self.model.tie == "all" and self.text.shared and source != target:
            raise ValueError(
                f'model.tie = "all" shares one table of pieces, but their vectors are {source} wide in the encoder '
                f'and {target} in the decoder. Make them equal, or set model.tie = "output"'
            )
        return self

    def to_toml(self) -> str:
        return tomli_w.dumps(self.model_dump(mode="json", exclude_none=True))
