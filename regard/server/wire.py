"""What is asked and answered, in words that JSON has."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

Part = Literal["pieces", "scores", "attention", "beam", "alignments", "alternatives"]
Language = Annotated[str, Field(max_length=100)]
Phrase = Annotated[str, Field(min_length=1, max_length=100_000, pattern=r"\S")]
# `fail_fast`, here and below: a list may hold half a million things that are wrong, and one is told.
Phrases = Annotated[list[Phrase], Field(max_length=1000, fail_fast=True)]
MOST_INPUTS = 100_000  # whatever the limits say

# What is wrong with points is told by who reads them: here they are any lists.
_POINTS = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "array", "minItems": 1, "items": {"type": ["number", "null"]}},
}
_SERIES = {
    "type": "object",
    "description": "A series, what stands beside it, and how it really went on, which no model reads.",
    "properties": {"series": _POINTS, "context": _POINTS, "target": _POINTS},
    "required": ["series"],
    "additionalProperties": False,
}
Points = Annotated[list[Any], WithJsonSchema(_POINTS)]
Series = Annotated[dict[str, Any], WithJsonSchema(_SERIES)]

LIKELIEST = 5  # alternatives of a step, unless another number is asked for


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Wish(_Asked):
    """An input with wishes of its own, which go before those for all inputs."""

    source: str | Points | Series
    prefix: str | None = Field(None, max_length=100_000)
    require: Phrases | None = None
    forbid: Phrases | None = None
    to: Language | None = None


def _form(given: Any) -> str | None:
    if isinstance(given, str):
        return "text"
    if isinstance(given, list):
        return "points"
    if isinstance(given, Wish):
        return "wish"
    return ("series" if "series" in given else "wish") if isinstance(given, dict) else None


Input = Annotated[
    Annotated[str, Tag("text")]
    | Annotated[Wish, Tag("wish")]
    | Annotated[Points, Tag("points")]
    | Annotated[Series, Tag("series")],
    Discriminator(
        _form,
        custom_error_type="input",
        custom_error_message="should be a text, a list of points, or an object",
    ),
]


class Ask(_Asked):
    """All but `inputs` can be left out: then it is as the model's configuration says."""

    model: str | None = Field(None, max_length=1000, description="Its name, where several are served.")
    inputs: list[Input] = Field(
        min_length=1,
        max_length=MOST_INPUTS,
        fail_fast=True,
        description="Sources, or objects with a source and wishes of its own: texts, pictures as data URLs "
        "(data:image/png;base64,...), series as lists of points or as objects; as the model reads them.",
    )
    to: Language | None = Field(None, description="The language of the answers, where a model knows several.")
    prefix: str = Field("", max_length=100_000, description="Every answer begins with this.")
    require: Phrases = Field([], description="Words or phrases that every answer has.")
    forbid: Phrases = Field([], description="Words or phrases that no answer has.")
    beam: int | None = Field(None, ge=1, le=1000, description="Width of the beam; 1 is greedy.")
    best: int | None = Field(
        None, ge=1, le=1000, description="So many answers to each input, the best first."
    )
    penalty: Literal["gnmt", "average"] | None = Field(None, description="How lengths are compared.")
    length_penalty: float | None = Field(None, ge=0, le=10)
    coverage: float | None = Field(None, ge=0, le=1000)
    min_length: int | None = Field(None, ge=0, le=10**6, description="Pieces.")
    max_length: int | None = Field(None, ge=1, le=10**6, description="Pieces.")
    min_ratio: float | None = Field(None, ge=0, le=1000, description="Pieces for each piece of source.")
    max_ratio: float | None = Field(None, gt=0, le=1000, description="The same, plus 10.")
    end_threshold: float | None = Field(None, ge=0, le=1000)
    no_repeat: int | None = Field(None, ge=0, le=10**6)
    unknown: bool | None = Field(None, description="Answers may say that a word is unknown.")
    groups: int | None = Field(None, ge=1, le=1000)
    diversity: float | None = Field(None, ge=0, le=1000)
    sample: bool | None = Field(None, description="Draw by chance instead of searching.")
    temperature: float | None = Field(None, ge=1e-6, le=1000)
    top_k: int | None = Field(None, ge=0, le=10**6)
    top_p: float | None = Field(None, gt=0, le=1)
    min_p: float | None = Field(None, ge=0, le=1)
    seed: int | None = Field(None, ge=0, lt=2**63)
    returns: list[Part] = Field(
        [], alias="return", max_length=6, description="What to tell besides the text."
    )
    attention: Literal["cross", "all"] = Field(
        "cross",
        description="Which looks to return: those at the source, or those of both sides at themselves too.",
    )
    alternatives: int = Field(
        LIKELIEST, ge=1, le=1000, description="So many of the likeliest pieces for each step, if returned."
    )

    def wishes(self) -> list[Wish]:
        """The inputs, each with its own wishes or those for all."""
        return [self._wish(one if isinstance(one, Wish) else Wish(source=one)) for one in self.inputs]

    def _wish(self, own: Wish) -> Wish:
        missing = {name: getattr(self, name) for name in _WISHES if getattr(own, name) is None}
        return own.model_copy(update=missing)

    def options(self) -> dict[str, Any]:
        """What it asks of the search."""
        chosen = {name: getattr(self, name) for name in _OPTIONS}
        chosen["record"] = True if "beam" in self.returns else None
        chosen["likeliest"] = self.alternatives if "alternatives" in self.returns else None
        return {name: value for name, value in chosen.items() if value is not None}

    @property
    def recorded(self) -> str:
        """The attention that has to be recorded for what is returned."""
        if "attention" in self.returns:
            return self.attention
        return "cross" if "alignments" in self.returns else "none"


_OPTIONS = (
    "beam",
    "best",
    "penalty",
    "length_penalty",
    "coverage",
    "min_length",
    "max_length",
    "min_ratio",
    "max_ratio",
    "end_threshold",
    "no_repeat",
    "unknown",
    "groups",
    "diversity",
    "sample",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "seed",
)
_WISHES = ("prefix", "require", "forbid", "to")


class Alternative(BaseModel):
    piece: str
    probability: float


class Answer(BaseModel):
    """`attention` is the document that `regard explain -o map.json` writes, with labels."""

    text: str
    finished: bool = Field(description="False: cut off at the longest length allowed.")
    pieces: list[str] | None = None
    score: float | None = Field(None, description="Log-probability, the end mark's included.")
    rank: float | None = Field(None, description="What the search ordered it by.")
    piece_scores: list[float] | None = Field(None, description="Of each piece; the score is their sum.")
    alignment: str | None = Field(None, description="Source and target words, counted from 0: 0-0 1-2.")
    alternatives: list[list[Alternative]] | None = Field(
        None, description="The likeliest pieces of each step."
    )
    attention: dict[str, Any] | None = None


class BeamNode(BaseModel):
    parent: int | None = Field(description="Number of the node it goes on from.")
    piece: str
    score: float | None
    rank: float | None
    fate: Literal["kept", "pruned", "finished"]
    step: int = Field(description="Counted from 1.")


class Predicted(BaseModel):
    answers: list[Answer] = Field(description="The best first.")
    problem: str | None = Field(None, description="Why there is no answer.")
    unread: int | None = Field(
        None, description="Pieces of the input that were not read, because it is longer than the model reads."
    )
    source_pieces: int | None = Field(
        None, description="How many pieces the input has, marks not counted; told with pieces."
    )
    beam: list[BeamNode] | None = Field(None, description="All that the search considered.")


class Predictions(BaseModel):
    model: str
    predictions: list[Predicted] = Field(description="One for each input, in their order.")


class Look(BaseModel):
    layers: int
    heads: int


class SourceKind(BaseModel):
    kind: Literal["text", "picture", "series"]
    unit: str = Field(description="What sources are counted in: pieces, cells or points.")
    grid: list[int] | None = Field(
        None, description="Rows and columns of the cells of a picture, row by row."
    )
    size: int | None = Field(None, description="Pixels a side that are seen of a picture.")
    fit: str | None = Field(None, description="How a picture becomes a square: crop, stretch or pad.")
    values: int | None = Field(None, description="Of a point.")
    context: int | None = Field(
        None, description="Values of a point of the context; none: there is no context."
    )
    steps: int | None = Field(None, description="Points of a series, as a rule.")
    mean: list[float] | None = Field(None, description="Of each value, in what was trained with.")
    scale: list[float] | None = Field(None, description="The standard deviation of each value there.")
    stride: float | None = Field(None, description="How far a step goes there, where that is known.")


class AnswerKind(BaseModel):
    kind: Literal["text", "series"]
    values: int | None = Field(None, description="Of a point.")


class Model(BaseModel):
    name: str
    task: str
    source: SourceKind
    answer: AnswerKind
    engine: str = Field(description="What runs the model: native, or another that tells less.")
    languages: dict[str, list[str]]
    directions: list[list[str]]
    to: list[str] = Field(description="Languages of which one must be asked for; none: there is one.")
    returns: list[str]
    attention: dict[str, Look] = Field(description="Kinds of attention: encoder, decoder, cross.")
    examples: list[str] = Field(description="Sources to begin with.")
    vocabulary: dict[str, int]
    parameters: int
    search: dict[str, Any] = Field(description="What holds where a request says nothing else.")
    limits: dict[str, int]


class ModelList(BaseModel):
    models: list[Model]


class Refusal(BaseModel):
    error: str
    field: str | None = None
    found: int | None = Field(None, description="What was too much of something, where it can be counted.")
    most: int | None = Field(None, description="What is allowed of it.")


class Status(BaseModel):
    status: str
