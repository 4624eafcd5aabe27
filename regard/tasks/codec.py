"""What stands between texts and a model: sources are read, what a search found becomes predictions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from regard.core.batch import Source
from regard.core.errors import UserError
from regard.core.prediction import Prediction, Request, View
from regard.core.words import Words
from regard.data import Limits, Pair, Store
from regard.search import Rules
from regard.tasks.unknowns import Copying


class Read(Protocol):
    """A source as a model reads it."""

    @property
    def text(self) -> str:
        """What it was read from."""
        ...

    @property
    def name(self) -> bytes:
        """The same for the same source, wherever it stands: what draws depend on."""
        ...

    def __len__(self) -> int:
        """Positions that a model can look at."""
        ...


@dataclass(frozen=True)
class Sources:
    """What the sources of a codec are, for who takes them in and who shows them."""

    kind: str  # text, picture or series
    unit: str = "pieces"  # what they are counted in
    facts: Mapping[str, Any] = field(default_factory=dict)  # that whoever shows them has to know
    words: bool = False  # they have some, to which an answer's words can be aligned
    fixed: bool = False  # all are equally long, whatever is in them
    letters: int | None = None  # of each unit at most, on the average; None: they tell nothing of a length
    quick: int = 2000  # letters that are admitted in no time
    request_bytes: int = 1_000_000  # of a request with ordinary ones


@dataclass(frozen=True)
class Answers:
    """What the answers of a codec are, for who shows them."""

    kind: str  # text or series
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """A source as a prediction shows it."""

    text: str
    names: tuple[str, ...]  # of all positions that a model can look at
    words: Words | None = None  # that they are part of, where they are
    lent: Mapping[int, str] = field(default_factory=dict)  # ids of the answer that are words of this source
    unread: int = 0  # pieces besides, of a source that was too long


class Codec(Protocol):
    """Texts to what a model reads, and what was found back to predictions. There is one for each kind of source."""

    @property
    def view(self) -> View: ...

    @property
    def sources(self) -> Sources: ...

    @property
    def answers(self) -> Answers: ...

    @property
    def sizes(self) -> Mapping[str, int]:
        """What a model has to know of each side: how many different ids it has, or how wide its vectors are."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """That can be asked for; none: there is only one."""
        ...

    @property
    def marks(self) -> tuple[str, ...]:
        """Other tags that were trained with."""
        ...

    @property
    def example(self) -> str:
        """A source that can be answered, to try a model with."""
        ...

    @property
    def limits(self) -> Limits:
        """The most that a source and an answer may have."""
        ...

    @property
    def looks(self) -> bool:
        """Whether its answers need to know where a model looked."""
        ...

    def agrees(self, other: Any) -> bool:
        """Both read and say the same, so that their models can answer together."""
        ...

    def check(self, request: Request) -> None:
        """A UserError where it asks for what the model does not know, whatever its source is."""
        ...

    def admit(self, given: Any) -> str:
        """The text of a source that somebody gave, as a text or as JSON; a UserError where it cannot be read.

        It may be another text than was given, shorter and sooner read, but it is answered alike.
        """
        ...

    def read(self, requests: Sequence[Request]) -> Sequence[Read | UserError | None]:
        """Their sources. None for one with nothing in it, an error for one that cannot be read."""
        ...

    def measure(self, texts: Sequence[str]) -> list[int]:
        """How long each source is, before anything of it is left out."""
        ...

    def collate(self, reads: Sequence[Any]) -> Source: ...

    def rules(self, request: Request) -> Rules:
        """What the request asks of the answer; a UserError where the model cannot do that."""
        ...

    def answer(self, read: Any, found: Any) -> Prediction:
        """The best that was found, with the others as its alternatives."""
        ...

    def encode_targets(
        self, texts: Sequence[str], sources: Sequence[str], to: str | None = None
    ) -> list[list[int]]:
        """A row for each text that a model is told as its answer; a UserError where answers are no pieces."""
        ...

    def forced(self, read: Any, target: str, hypothesis: Any) -> Prediction:
        """For an answer that was told: it reads as it was written."""
        ...

    def said(self, tokens: Sequence[Any], source: str) -> tuple[tuple[str, ...], str]:
        """The pieces of an answer to a source that is not finished yet, and its text so far."""
        ...

    def nothing(self, text: str, *, problem: str | None = None) -> Prediction:
        """The answer to a source with nothing in it: nothing, and certainly so. Or to one that has a problem."""
        ...

    def copying_unknown(self, copying: Copying) -> "Codec":
        """The same, with unknown pieces of an answer copied from its source; a UserError where that is no text."""
        ...

    def guarded(self) -> "Codec":
        """The same for sources that strangers send: no file of this machine is read, and no log quotes them."""
        ...

    def store(self, cache: Path, pairs: Callable[[], Iterable[Pair]]) -> Store:
        """Pairs to train with, prepared once and kept in the cache."""
        ...

    def save(self, folder: Path) -> None: ...
