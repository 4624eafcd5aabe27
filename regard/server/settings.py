"""Everything that can be set about a server. No number is without a bound."""

from collections.abc import Sequence

from pydantic import Field, ValidationError

from regard.config.fields import Settings
from regard.core.errors import UserError, did_you_mean


class Limits(Settings):
    """How much one request may ask for, how much all may ask for together, and how long anything may take."""

    body_bytes: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="Bytes of a request's body; left out: as many as the models' sources ordinarily need.",
    )
    bodies_bytes: int = Field(
        64_000_000, ge=1, le=10**11, description="Bytes of all bodies that are read at a time."
    )
    inputs: int = Field(64, ge=1, le=100_000, description="Inputs of a request.")
    pieces: int = Field(
        1000,
        ge=1,
        le=100_000,
        description="Pieces of an input; never more than the model was trained for, unless it reads a part of such.",
    )
    phrases: int = Field(8, ge=0, le=1000, description="Required and forbidden phrases of an input.")
    phrase_characters: int = Field(
        200, ge=1, le=100_000, description="Characters of its phrases and beginning, together."
    )
    beam: int = Field(16, ge=1, le=1000, description="Width of a beam, and its groups.")
    best: int = Field(16, ge=1, le=1000, description="Answers to an input.")
    alternatives: int = Field(20, ge=0, le=1000, description="Likeliest pieces told for each step.")
    numbers: int = Field(
        1_000_000, ge=1, le=10**9, description="Weights of attention and nodes of beams in a response."
    )
    requests: int = Field(128, ge=1, le=10**6, description="Requests that are worked on at a time.")
    queue: int = Field(512, ge=1, le=10**7, description="Inputs that wait for the model.")
    connections: int = Field(1000, ge=1, le=10**6, description="Open connections.")
    batch: int = Field(32, ge=1, le=10_000, description="Inputs that share a batch.")
    batch_seconds: float = Field(
        0.005, ge=0, le=10, description="How long an input waits for others to share a batch with."
    )
    deadline_seconds: float = Field(30, gt=0, le=3600, description="From a whole request to its answer.")
    header_seconds: float = Field(10, gt=0, le=3600, description="For the head of a request to come.")
    body_seconds: float = Field(15, gt=0, le=3600, description="For the body of a request to come.")
    write_seconds: float = Field(
        30, gt=0, le=3600, description="How long a client may leave its response unread."
    )
    idle_seconds: int = Field(5, ge=1, le=3600, description="How long a connection may say nothing.")
    drain_seconds: int = Field(
        30, ge=1, le=3600, description="For requests under way to be answered at the end."
    )


class ServerSettings(Settings):
    """What a server process has to know; it can be handed on as JSON."""

    runs: tuple[str, ...]
    host: str = "127.0.0.1"
    port: int = 8000
    device: str = "auto"
    engine: str | None = None  # None: native, or as a model was exported
    compute_type: str | None = None
    shortlist: bool = False
    workers: int = 1
    threads: int | None = None  # None: all cores, shared by the workers
    limits: Limits = Limits()
    origins: tuple[str, ...] = ()  # of pages elsewhere that may call
    hosts: tuple[str, ...] = ()  # names under which it is called, besides its address
    keys: tuple[str, ...] = Field((), repr=False)  # without any, everybody may call
    log: str = "requests"  # or nothing, or texts


def parse_limits(changes: Sequence[str]) -> Limits:
    """From words such as `beam=8`, as a command line has them."""
    given: dict[str, str] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise UserError(f"{change!r} is no limit. Write it as NAME=VALUE, such as beam=8.")
        if name not in Limits.model_fields:
            raise UserError(f"There is no limit {name!r}.{did_you_mean(name, Limits.model_fields)}")
        given[name] = value
    try:
        return Limits.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise UserError(f"The limit {name} can't be {given[name]!r:.40}: {first['msg']}.") from None
