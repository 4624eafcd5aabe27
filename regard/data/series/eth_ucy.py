"""Pedestrians of ETH (Pellegrini et al. 2009) and UCY (Lerner et al. 2007): eight recordings, five folds.

train/SCENE_train.txt   val/SCENE_val.txt   all/SCENE.txt     lines of `frame<TAB>person<TAB>x<TAB>y`, in metres
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.core.errors import UserError
from regard.data.lines import BadLineError, read_lines
from regard.data.pairs import Pair
from regard.data.series.tracks import Moment, Track, number, tracks_of, windows

FRAMES = 10  # between two lines of a person: 0.4 seconds
SCENES = (
    "biwi_eth",
    "biwi_hotel",
    "crowds_zara01",
    "crowds_zara02",
    "crowds_zara03",
    "students001",
    "students003",
    "uni_examples",
)


@dataclass(frozen=True)
class Fold:
    """One scene is left out of training and tested on (Alahi et al. 2016, section 4)."""

    test: tuple[str, ...]

    @property
    def seen(self) -> tuple[str, ...]:
        """The recordings to train and validate with: all others, those that no fold tests on too."""
        return tuple(scene for scene in SCENES if scene not in self.test)

    def files(self, folder: Path, part: str) -> list[Path]:
        """Of the parts `train`, `validation` and `test`."""
        if part == "test":
            return [folder / "all" / f"{scene}.txt" for scene in self.test]
        short = {"train": "train", "validation": "val"}[part]
        return [folder / short / f"{scene}_{short}.txt" for scene in self.seen]

    def pairs(
        self, folder: Path, part: str, *, observed: int = 8, predicted: int = 12, stride: int = 1
    ) -> Iterator[Pair]:
        """All windows of a part, one for each step, or every `stride`-th, that a person can begin with."""
        for path in self.files(folder, part):
            yield from windows(read_pedestrians(path), observed=observed, predicted=predicted, stride=stride)


FOLDS: dict[str, Fold] = {
    "eth": Fold(("biwi_eth",)),
    "hotel": Fold(("biwi_hotel",)),
    "univ": Fold(("students001", "students003")),
    "zara1": Fold(("crowds_zara01",)),
    "zara2": Fold(("crowds_zara02",)),
}


def read_pedestrians(path: Path, *, frames: int = FRAMES) -> list[Track]:
    """A track for each person; where frames are missing between two lines of one, another track begins."""
    people: dict[float, dict[float, Moment]] = defaultdict(dict)
    for line, text in read_lines(path):
        if not text.strip():
            continue
        fields = text.split("\t")
        read = [number(field.strip()) for field in fields]
        if len(read) != 4 or None in read:
            found = f"found {len(fields)} fields" if len(read) != 4 else f"found {text[:60]!r}"
            sentence = f"expected four numbers, frame<TAB>person<TAB>x<TAB>y, but {found}."
            raise BadLineError(path, line, "not four numbers", sentence)
        frame, person, *place = (value for value in read if value is not None)
        if frame in people[person]:
            sentence = f"person {person:g} is in frame {frame:g} twice. Remove one of the lines."
            raise BadLineError(path, line, "twice", sentence)
        people[person][frame] = Moment(frame, place)
    if not people:
        raise UserError(f"{path}: there are no pedestrians in it. Is the file empty?")
    return [
        track
        for person, moments in people.items()
        for track in tracks_of(f"{path.stem} {person:g}", moments.values(), step=frames)
    ]
