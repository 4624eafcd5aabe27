"""What is asked and answered, in words that JSON has."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from regard.core.prediction import Request

Part = Literal["pieces", "scores", "attention", "beam", "alignments", "alternatives"]
Language = Annotated[str, Field(max_length=100)]
Phrase = Annotated[str, Field(min_length=1, max_length=100_000, pattern=r"\S")]
Phrases = Annotated[list[Phrase], Field(max_length=1000)]

LIKELIEST = 5  # alternatives of a step, unless another number is asked for


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Wish(_Asked):
    """An input with wishes of its own, which go before those for all inputs."""

    source: str
    prefix: str | None = Field(None, max_length=100_000)
    require: Phrases | None = None
    forbid: Phrases | None = None
    to: Language | None = None


class Ask(_Asked):
    """All but `inputs` can be left out: then it is as the model's configuration says."""

    model: str | None = Field(None, max_length=1000, description="Its name, where several are served.")
    inputs: list[str | Wish] = Field(min_length=1, max_length=100_000)
    to: Language | None = Field(None, description="The language of the answers, where a model knows several.")
    prefix: str = Field("", max_length=100_000, description="Every answer begins with this.")
    require: Phrases = Field([], description="Words or phrases that every answer has.")
    forbid: Phrases = Field([], description="Words or phrases that no answer has.")
    beam: int | None = Field(None, ge=1, le=1000, description="Width of the beam; 1 is greedy.")
    best: int | None = Field(
        None, ge=1, le=1000, description="So many answers to each input, the best first."
    )
    penalty: Literal["gnmt", "average"] | None = Field(None, description="How lengths are compared.")
    length_penalty: float | None = Field(None, ge=0, le=1000)
    coverage: float | None = Field(None, ge=0, le=1000)
    min_length: int | None = Field(None, ge=0, le=10**6, description="Pieces.")
    max_length: int | None = Field(None, ge=1, le=10**6, description="Pieces.")
    min_ratio: float | None = Field(None, ge=0, le=1000, description="Pieces for each piece of source.")
    max_ratio: float | None = Field(None, gt=0, le=1000, description="The same, plus 10.")
    end_threshold: float | None = Field(None, ge=0, le=1000)
    no_repeat: int | None = Field(None, ge=0, le=10**6)
    groups: int | None = Field(None, ge=1, le=1000)
    diversity: float | None = Field(None, ge=0, le=1000)
    sample: bool | None = Field(None, description="Draw by chance instead of searching.")
    temperature: float | None = Field(None, gt=0, le=1000)
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

    def requests(self) -> list[Request]:
        common = Request("", self.prefix, self.require, self.forbid, self.to)
        return [_request(one, common) for one in self.inputs]

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
    "groups",
    "diversity",
    "sample",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "seed",
)


def _request(one: str | Wish, common: Request) -> Request:
    if isinstance(one, str):
        return Request(one, common.prefix, common.require, common.forbid, common.to)
    own = (one.prefix, one.require, one.forbid, one.to)
    shared = (common.prefix, common.require, common.forbid, common.to)
    prefix, require, forbid, to = (
        mine if mine is not None else theirs for mine, theirs in zip(own, shared, strict=True)
    )
    return Request(one.source, prefix, require, forbid, to)  # type: ignore[arg-type]


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


class Model(BaseModel):
    name: str
    task: str
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


class Status(BaseModel):
    status: str
