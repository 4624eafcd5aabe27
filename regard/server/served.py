"""The models of a server, and what is told of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.config import Config
from regard.core.errors import UserError, did_you_mean
from regard.core.prediction import Request
from regard.engines import find_folder
from regard.predictor import Predictor, load
from regard.run import Run
from regard.search import Finder
from regard.server.problems import Problem
from regard.server.settings import Limits
from regard.tasks.codec import Codec

ALWAYS = ("pieces", "scores")  # what every model can return
MOST_EXAMPLES = 6
EXAMPLE_LETTERS = 300_000  # of all examples of a model
TOLD = (
    "beam",
    "penalty",
    "length_penalty",
    "coverage",
    "max_length",
    "no_repeat",
    "steps",
    "best",
)  # of a search


@dataclass(frozen=True, eq=False)
class Served:
    """A model under its name."""

    name: str
    predictor: Predictor
    config: Config
    looks: Mapping[str, tuple[int, int]]  # kinds of attention, with their layers and heads
    examples: tuple[str, ...] = ()  # sources to begin with

    @property
    def search(self) -> Finder:
        return self.predictor.search

    @property
    def longest_source(self) -> int:
        """Pieces, the end mark not counted."""
        return self.predictor.codec.limits.source

    def best(self, limits: Limits) -> int:
        """How many answers to a source may be asked for: one where a model says a point and nothing of others."""
        if self.predictor.codec.answers.kind != "series" or len(self.predictor.models) > 1:
            return limits.best
        decoder: Any = self.predictor.models[0].decoder
        return limits.best if decoder.head.draws else 1

    @property
    def longest_answer(self) -> int:
        return max(self.search.longest, self.predictor.codec.limits.target)

    @property
    def returns(self) -> tuple[str, ...]:
        looking = ("attention",) if self.looks else ()
        telling = self.search.tells if self.predictor.engine is None else ()
        aligned = "cross" in self.looks and self.predictor.codec.sources.words
        return (*ALWAYS, *telling, *looking, *(("alignments",) if aligned else ()))

    def why_not(self, part: str) -> str:
        """A sentence about something that it can't return."""
        if self.predictor.engine is not None:
            return f"This server runs the {self.predictor.engine.name} engine: it can't return {part}."
        if not self.looks and part in ("attention", "alignments"):
            return f"This model has no attention: it can't return {part}."
        return f"The sources or answers of this model are no texts: it can't return {part}."

    def longest(self, limits: Limits) -> int:
        """Pieces, cells or points that a source may have; where all have equally many, nobody chose them.

        Of longer ones than a model was trained with a part is read, where its configuration says which.
        """
        codec = self.predictor.codec
        if codec.sources.fixed:
            return self.longest_source
        return limits.pieces if codec.limits.read else min(limits.pieces, self.longest_source)

    @cached_property
    def directions(self) -> list[tuple[str, str]]:
        return self.config.directions

    def described(self, limits: Limits, body_bytes: int) -> dict[str, Any]:
        codec, plan = self.predictor.codec, self.search
        return {
            "name": self.name,
            "task": self.config.task.name,
            "source": {"kind": codec.sources.kind, "unit": codec.sources.unit, **codec.sources.facts},
            "answer": {"kind": codec.answers.kind, **codec.answers.facts},
            "engine": self.predictor.engine.name if self.predictor.engine else "native",
            "languages": {
                "source": sorted({source for source, _ in self.directions}),
                "target": sorted({target for _, target in self.directions}),
            },
            "directions": [list(pair) for pair in self.directions],
            "to": list(codec.languages),
            "returns": list(self.returns),
            "attention": {
                kind: {"layers": layers, "heads": heads} for kind, (layers, heads) in self.looks.items()
            },
            "examples": list(self.examples),
            "vocabulary": codec.sizes,
            "parameters": self.predictor.parameters,
            "search": {name: value for name, value in asdict(plan).items() if name in TOLD},  # type: ignore[call-overload]
            "limits": {
                "body_bytes": body_bytes,
                "pieces": self.longest(limits),
                "max_length": self.longest_answer,
                "inputs": limits.inputs,
                "beam": limits.beam,
                "best": self.best(limits),
                "alternatives": limits.alternatives,
                "phrases": limits.phrases,
            },
        }


@dataclass(frozen=True)
class Models:
    """All models of a server, by name."""

    by_name: Mapping[str, Served]

    def __iter__(self) -> Iterator[Served]:
        return iter(self.by_name.values())

    def body_bytes(self, limits: Limits) -> int:
        """Of a request: as was set, or as many as the heaviest ordinary one has."""
        return limits.body_bytes or max(one.predictor.codec.sources.request_bytes for one in self)

    def get(self, name: str | None) -> Served:
        if name is None and len(self.by_name) == 1:
            return next(iter(self))
        if name is None:
            raise Problem(422, f"Say which model: {', '.join(self.by_name)}.", field="model")
        if name not in self.by_name:
            raise Problem(
                404, f"There is no such model.{did_you_mean(name[:100], self.by_name)}", field="model"
            )
        return self.by_name[name]


def named_runs(runs: Sequence[str]) -> dict[str, str]:
    """The folders by the names of their models: `NAME=RUN`, or a run whose folder gives the name."""
    found: dict[str, str] = {}
    for run in runs:
        name, equals, path = run.partition("=")
        if not equals or Path(run).exists():
            name, path = _name(Path(run)), run
        if name in found:
            raise UserError(
                f"Two models are called {name!r}. Give them names: first={found[name]} second={path}."
            )
        found[name] = path
    return found


def _name(path: Path) -> str:
    """The last part of the path, with the one before it where that says little: dates, dates-averaged."""
    whole = path.resolve()
    if whole.name == "model":
        return whole.parent.name
    return f"{whole.parent.name}-averaged" if whole.name == "averaged" else whole.name


def load_models(
    runs: Sequence[str],
    device: str,
    *,
    engine: str | None = None,
    compute_type: str | None = None,
    shortlist: bool = False,
    workers: int | None = None,
) -> Models:
    """Loads every model and lets it answer once: what is broken shows before anybody asks."""
    found = {}
    for name, path in named_runs(runs).items():
        predictor = load(
            path,
            device=device,
            engine=engine,
            compute_type=compute_type,
            shortlist=shortlist,
            workers=workers,
        )
        folder = find_folder(path)
        examples = _examples(folder.folder.parent, predictor.codec)  # before files are out of reach
        predictor.codec = predictor.codec.guarded()
        found[name] = Served(name, predictor, folder.config(), _looks(predictor), examples)
    return Models(found)


def _examples(run: Path, codec: Codec) -> tuple[str, ...]:
    """Sources that its training kept samples of, if they can be read still; none where the model came alone."""
    kept = sorted(Run(run).samples.glob("step-*/predictions.jsonl"))
    if not kept:
        return ()
    try:
        lines = kept[-1].read_text(encoding="utf-8").splitlines()
        sources = list(dict.fromkeys(str(json.loads(line)["source"]) for line in lines))
    except (OSError, ValueError, LookupError, TypeError):  # no reason not to serve the model
        return ()
    found: list[str] = []
    for source in sources[:MOST_EXAMPLES]:
        with suppress(UserError):
            example = codec.admit(source)
            if sum(map(len, found)) + len(example) <= EXAMPLE_LETTERS:
                found.append(example)
    return tuple(found)


def _looks(predictor: Predictor) -> dict[str, tuple[int, int]]:
    sample = Request(predictor.codec.example, to=next(iter(predictor.codec.languages), None))
    attention = "all" if predictor.engine is None else "none"
    (answer,) = predictor.answer([sample], predictor.search.short(), attention=attention)
    return {
        kind: (int(weights.shape[0]), int(weights.shape[1]))
        for kind, weights in answer.attention.weights.items()
    }
