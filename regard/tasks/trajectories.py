"""Series to what follows them: made arm movements and figures, pedestrians, or a person's own tracks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import ClassVar

from regard.core.errors import UserError
from regard.core.points import read_series_source, write_series_source
from regard.core.prediction import View
from regard.data import Pair
from regard.data.series import FOLDS, Columns, Fold, Track, read_csv, read_npz, windows
from regard.tasks.arms import Arms, Lissajous
from regard.tasks.examples import Examples
from regard.tasks.forecasts import ConstantVelocity, LastPoint

MADE: dict[str, Arms | Lissajous] = {"arms": Arms(), "lissajous": Lissajous()}


@dataclass(frozen=True)
class OwnTracks:
    """Files of tracks; validation and test are split off the training tracks where they are missing."""

    train: Sequence[Path]
    validation: Sequence[Path]
    test: Sequence[Path]
    columns: Columns | None  # of CSV files
    step: float | None = None  # between two lines of one, in its order: a track is cut where it is another

    def tracks(self, paths: Sequence[Path]) -> list[Track]:
        """Series of different files are different ones, whatever they are called."""
        return [
            replace(track, series=f"{number} {track.series or track.name}")
            for number, path in enumerate(paths)
            for track in self._read(path)
        ]

    def _read(self, path: Path) -> list[Track]:
        if path.suffix.lower() == ".npz":
            return read_npz(path)
        if self.columns is None:
            raise UserError(
                f"{path}: say which columns of the table are predicted, such as task.values = ['x', 'y']."
            )
        return read_csv(path, self.columns, step=self.step)


@dataclass(frozen=True)
class Trajectories:
    no_other_pairs: ClassVar[str | None] = "its sources are series of points, not lines of a file"
    made: str  # one of MADE, where nothing else is given
    pairs: int  # to make
    scene: str | None  # one of FOLDS: it is tested on, and the others are learned from
    folder: Path  # of the pedestrians
    own: OwnTracks | None
    observed: int
    predicted: int
    stride: int
    validation: int
    test: int
    seed: int
    alone: bool  # what stands beside the series is left out
    view: View
    target_language: str | None = None

    def examples(self) -> Examples:
        found = self._examples()
        if self.alone:
            found = replace(
                found,
                train=partial(_all_alone, found.train),
                validation=_all_alone(lambda: found.validation),
                test=_all_alone(lambda: found.test),
            )
        baselines = (ConstantVelocity(self.steps), LastPoint(self.steps))
        return replace(found, baselines=baselines, in_words=False)

    @property
    def steps(self) -> int:
        """Of an answer."""
        return MADE[self.made].predicted if self.own is None and self.scene is None else self.predicted

    @property
    def seen(self) -> int:
        """Steps of a source."""
        return MADE[self.made].observed if self.own is None and self.scene is None else self.observed

    def _examples(self) -> Examples:
        if self.own is not None:
            return self._of_own(self.own)
        if self.scene is not None:
            return self._of_pedestrians(FOLDS[self.scene])
        made = MADE[self.made].pairs(
            train=self.pairs, validation=self.validation, test=self.test, seed=self.seed
        )
        return Examples(lambda: made.train, made.validation, made.test)

    def _of_pedestrians(self, fold: Fold) -> Examples:
        parts = {
            part: list(fold.pairs(self.folder, part, **self._window))
            for part in ("train", "validation", "test")
        }
        note = f"pedestrians of {', '.join(fold.seen)}; {', '.join(fold.test)} to test on"
        return Examples(lambda: parts["train"], parts["validation"], parts["test"], note)

    def _of_own(self, own: OwnTracks) -> Examples:
        """No two parts share a step of a track."""
        train = [track for track in own.tracks(own.train) if any(self._of([track]))]
        if not train:
            self._windows(train, "train")  # tells what is missing
        split = self._cut_off if self._are_few(train) else self._split_off
        wanted = {"validation": self.validation, "test": self.test}
        given = {"validation": own.tracks(own.validation), "test": own.tracks(own.test)}
        for part, number in wanted.items():
            if not given[part]:
                given[part], train = split(train, number, Random(f"{self.seed} {part}"))
        validation, test = (self._windows(given[part], part) for part in wanted)
        pairs = self._windows(train, "train")
        return Examples(lambda: pairs, validation, test)

    def _are_few(self, tracks: Sequence[Track]) -> bool:
        """Of so few series that parts of them must do, and long enough for that."""
        few = len({track.series for track in tracks}) < 5
        return few and max(len(track.values) for track in tracks) >= 3 * self._length

    def _cut_off(self, tracks: Sequence[Track], *_: object) -> tuple[list[Track], list[Track]]:
        """Their last fifths, of a window at least, and the rest."""
        cuts = [max(0, len(track.values) - max(len(track.values) // 5, self._length)) for track in tracks]
        parts = list(zip(tracks, cuts, strict=True))
        return [_cut(track, cut, None) for track, cut in parts], [_cut(track, 0, cut) for track, cut in parts]

    def _split_off(
        self, tracks: Sequence[Track], number: int, chance: Random
    ) -> tuple[list[Track], list[Track]]:
        """Whole series with about so many windows, at most a fifth of them, and the rest."""
        every = list(dict.fromkeys(track.series for track in tracks))
        taken: set[str] = set()
        found = 0
        for name in chance.sample(every, len(every))[: max(1, len(every) // 5)]:
            if found >= number:
                break
            taken.add(name)
            found += sum(1 for _ in self._of([track for track in tracks if track.series == name]))
        return [one for one in tracks if one.series in taken], [
            one for one in tracks if one.series not in taken
        ]

    @property
    def _length(self) -> int:
        return self.observed + self.predicted

    @property
    def _window(self) -> dict[str, int]:
        return {"observed": self.observed, "predicted": self.predicted, "stride": self.stride}

    def _of(self, tracks: Sequence[Track]) -> Iterator[Pair]:
        return windows(tracks, **self._window)

    def _windows(self, tracks: Sequence[Track], part: str) -> list[Pair]:
        found = list(self._of(tracks))
        if not found:
            raise UserError(
                f"No track for {part} has {self._length} steps in a row: {self.observed} observed and "
                f"{self.predicted} predicted, with known values on both sides. Give more or longer tracks, lower "
                "task.observed or task.predicted, or give files of their own for data.validation and data.test."
            )
        return found


def _cut(track: Track, first: int, last: int | None) -> Track:
    beside = track.context[first:last] if track.context is not None and track.aligned else track.context
    return replace(track, values=track.values[first:last], context=beside)


def _all_alone(pairs: Callable[[], Iterable[Pair]]) -> list[Pair]:
    return [_alone(pair) for pair in pairs()]


def _alone(pair: Pair) -> Pair:
    """Without what stands beside the series."""
    source = read_series_source(pair.source)
    return pair._replace(source=write_series_source(source.series, None, source.target))
