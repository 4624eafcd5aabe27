"""Pictures to sentences: scenes of coloured shapes that are made, or a person's own folder of images."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from safetensors.torch import save as tensors_file

from regard.core.batch import Pictures, Tokens, Vectors
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.pieces import END
from regard.core.prediction import Prediction, Request, View
from regard.core.weights import weights_of
from regard.data import Filters, Limits, Pair, PairReport, by_source, cache_folder, fingerprint
from regard.data.captions import CaptionFile, caption_file
from regard.data.held import HeldStore
from regard.data.locating import IN_CACHE
from regard.search import Found, Hypothesis, Rules
from regard.tasks.codec import Answers, Shown, Sources
from regard.tasks.examples import Examples, OwnFiles
from regard.tasks.shapes import write_scenes
from regard.tasks.sight import TOGETHER, Seen, Sight
from regard.tasks.targets import TextTargets
from regard.tasks.unknowns import Copying
from regard.text import Tokenizer
from regard.viewing import PictureView

PARTS = {"train": "train", "validation": "val", "test": "test"}
TOKENIZER = "target.tokenizer.json"
BACKBONE = "backbone.safetensors"  # of a network that sees and does not learn
GREY = "data:image/gif;base64,R0lGODdhAQABAIAAAICAgAAAACwAAAAAAQABAAACAkQBADs="  # a picture of one pixel


@dataclass(frozen=True)
class Captions:
    no_other_pairs: ClassVar[str | None] = "its sources are pictures, not lines of a file"
    folder: str | None  # of images/, captions.tsv and the lists of its parts; None: scenes are made
    filters: Filters
    skip_bad_lines: bool
    scenes: int
    size: int  # pixels a side of a scene
    validation: int
    test: int
    seed: int
    target_language: str | None = "en"

    def examples(self) -> Examples:
        """A picture is asked once; all its captions are right."""
        train, validation, test = ([file] if file else [] for file in self._files())
        own = OwnFiles(train, validation, test, self.filters, self.skip_bad_lines)
        found = own.examples(validation=self.validation, test=self.test, seed=self.seed, key="source")
        return replace(found, note=self._note(), cases=by_source, in_words=False)

    def _files(self) -> list[CaptionFile | None]:
        if self.folder is None:
            made = write_scenes(
                train=self.scenes, validation=self.validation, test=self.test, size=self.size, seed=self.seed
            )
            inside = f"{IN_CACHE}{made.relative_to(cache_folder())}"
            return [caption_file(inside, part) for part in PARTS.values()]
        whole = caption_file(self.folder)
        lists = {part: whole.captions.parent / f"{part}.txt" for part in PARTS.values()}
        train, *held = (
            caption_file(self.folder, part) if lists[part].exists() else None for part in PARTS.values()
        )
        return [train or whole, *held]  # of the whole, what is held out is left out

    def _note(self) -> str | None:
        return None if self.folder else f"scenes of coloured shapes, {self.size} pixels a side"


@dataclass(frozen=True)
class Look:
    """A picture as a model reads it."""

    text: str
    name: bytes  # of its pixels: what a network sees in them differs by a bit among other pictures
    seen: Seen = field(repr=False)
    cells: int

    def __len__(self) -> int:
        return self.cells


@dataclass(frozen=True)
class PictureCodec:
    """Paths or data URLs of pictures to what is seen of them, and hypotheses back to captions."""

    sight: Sight
    target: Tokenizer
    longest: int  # pieces of a caption
    files: bool = True  # pictures may be read from files; else data URLs alone

    languages: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    looks = False
    example = GREY
    answers = Answers("text")

    @cached_property
    def sources(self) -> Sources:
        sight = self.sight
        return Sources(
            "picture",
            unit="cells",
            facts={"grid": list(sight.grid), "size": sight.size, "fit": sight.fit},
            fixed=True,
            quick=0,  # a few letters can hold millions of pixels
            request_bytes=16_000_000,  # a photograph of 12 million bytes, as a data URL has it
        )

    @cached_property
    def view(self) -> View:
        return PictureView(partial(self.sight.pixels, files=self.files), self.sight.grid)

    @cached_property
    def targets(self) -> TextTargets:
        return TextTargets(self.target, self.longest, self.view)

    @property
    def limits(self) -> Limits:
        return Limits(source=self.sight.cells, target=self.longest)

    @property
    def sizes(self) -> dict[str, int]:
        rows, columns = self.sight.grid
        return {"source": self.sight.width, "rows": rows, "columns": columns, "target": len(self.target)}

    def agrees(self, other: "PictureCodec") -> bool:
        return (self.sight, self.target.to_json()) == (other.sight, other.target.to_json())

    def check(self, request: Request) -> None:
        if request.to is not None:
            raise UserError(
                f"the model knows one language to answer in, and is not asked for {request.to!r} or another"
            )

    def admit(self, given: Any) -> str:
        """The picture as the model sees it, as a data URL: few bytes may wait where many came in."""
        if not isinstance(given, str):
            raise UserError("A picture is given as a text: its data URL (data:image/png;base64,...).")
        return self.sight.small(given, files=self.files) if given.strip() else given

    def read(self, requests: Sequence[Request]) -> list[Look | UserError | None]:
        found: list[Look | UserError | None] = [None] * len(requests)
        asked = [number for number, request in enumerate(requests) if request.text.strip()]
        for start in range(0, len(asked), TOGETHER):
            pixels = {}
            for number in asked[start : start + TOGETHER]:
                try:
                    self.check(requests[number])
                    found[number] = self._known(requests[number].text)
                    if found[number] is None:
                        pixels[number] = self.sight.pixels(requests[number].text, files=self.files)
                except UserError as error:
                    found[number] = error
            for number, seen in zip(pixels, self.sight.see(list(pixels.values())), strict=True):
                name = hashlib.blake2b(pixels[number].tobytes(), digest_size=16).digest()
                found[number] = Look(requests[number].text, name, seen, self.sight.cells)
        return found

    def _known(self, source: str) -> Look | None:
        """What is kept of a file, as of those that a training validates with again and again."""
        kept = self.sight.known(source) if self.files else None
        return None if kept is None else Look(source, kept[0].encode(), kept[1], self.sight.cells)

    def measure(self, texts: Sequence[str]) -> list[int]:
        return [self.sight.cells] * len(texts)

    def collate(self, reads: Sequence[Look]) -> Pictures | Vectors:
        return self.sight.collate([read.seen for read in reads])

    def rules(self, request: Request) -> Rules:
        return self.targets.rules(request)

    def answer(self, read: Look, found: Found) -> Prediction:
        return self.targets.answer(self._shown(read), found)

    def encode_targets(
        self, texts: Sequence[str], sources: Sequence[str], to: str | None = None
    ) -> list[list[int]]:
        return self.targets.encode(texts, to)

    def forced(self, read: Look, target: str, hypothesis: Hypothesis) -> Prediction:
        return self.targets.forced(self._shown(read), target, hypothesis)

    def said(self, tokens: Sequence[int], source: str) -> tuple[tuple[str, ...], str]:
        return self.targets.said(Shown(source, (), None), tokens)

    def nothing(self, text: str, *, problem: str | None = None) -> Prediction:
        return self.targets.nothing(text, problem=problem)

    def copying_unknown(self, copying: Copying) -> "PictureCodec":
        raise UserError("Unknown words are copied from a source that is a text, not from a picture.")

    def _shown(self, read: Look) -> Shown:
        """Cells are called by their row and column, counted from 1."""
        rows, columns = self.sight.grid
        return Shown(
            read.text,
            tuple(f"{row},{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)),
        )

    def guarded(self) -> "PictureCodec":
        return replace(self, files=False)

    def store(self, cache: Path, pairs: Callable[[], Iterable[Pair]]) -> HeldStore:
        held = list(pairs())
        rows = self.target.encode_many([pair.target for pair in held])
        kept = [number for number, row in enumerate(rows) if len(row) <= self.longest]
        if not kept:
            raise UserError(
                f"Nothing is left to work with: of {len(held):,} captions none has at most {self.longest} pieces "
                "(data.max_target)."
            )
        sources = list(dict.fromkeys(held[number].source for number in kept))
        places = {source: place for place, source in enumerate(sources)}
        targets = [np.array([*rows[number], END], dtype=np.uint32) for number in kept]
        return HeldStore(
            fingerprint=fingerprint(
                [[self.sight.name, self.sight.fit, self.target.to_json()], *(pair.texts for pair in held)]
            ),
            report=PairReport(kept=len(kept), target_too_long=len(held) - len(kept)),
            sources=self.sight.kept(cache.parent / "pictures", sources),
            of=np.array([places[held[number].source] for number in kept]),
            targets=targets,
            source_lengths=np.full(len(kept), self.sight.cells),
            target_lengths=np.array([len(row) for row in targets]),
            collate_sources=self.sight.collate,
            collate_targets=Tokens.pad,
        )

    def save(self, folder: Path) -> None:
        self.target.save(folder / TOKENIZER)
        if self.sight.backbone is not None:
            write_whole(folder / BACKBONE, tensors_file(weights_of(self.sight.backbone)))

    @staticmethod
    def load(folder: Path, sight: Sight, longest: int) -> "PictureCodec":
        return PictureCodec(sight, Tokenizer.load(folder / TOKENIZER), longest)
