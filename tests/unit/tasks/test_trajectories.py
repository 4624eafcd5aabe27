import json
from pathlib import Path

import numpy as np
import pytest

from regard import build
from regard.config import Config, parse_config
from regard.core.errors import UserError
from regard.core.points import read_points, read_series_source
from regard.core.prediction import Request
from regard.data.series import SCENES
from regard.run import ModelFolder
from regard.tasks.examples import Examples
from regard.tasks.series import Observed


def config(path: Path, **task: object) -> Config:
    settings = {"name": "forecast", "observed": 3, "predicted": 2, **task}
    data = {"train": str(path), "validation_size": 4, "test_size": 4}
    return parse_config({"task": settings, "data": data}, origin="a test")


def npz(path: Path, tracks: int, steps: int, *, context: bool = False) -> Path:
    """The first value tells the track and the step."""
    series = np.arange(tracks * steps, dtype=np.float64).reshape(tracks, steps, 1).repeat(2, axis=2)
    beside = {"context": np.ones((tracks, 2, 1))} if context else {}
    np.savez(path, series=series, **beside)
    return path


def steps_of(examples: Examples, part: str) -> set[int]:
    pairs = list(examples.train()) if part == "train" else getattr(examples, part)
    points = [read_series_source(text).series[:, 0] for pair in pairs for text in (pair.source, pair.target)]
    return {int(value) for some in points for value in some}


@pytest.mark.parametrize(("tracks", "steps"), [(12, 8), (1, 80), (3, 40), (5, 8), (3, 8)])
def test_no_two_parts_share_a_step(tracks: int, steps: int, tmp_path: Path) -> None:
    examples = build.task(config(npz(tmp_path / "a.npz", tracks, steps))).examples()
    parts = [steps_of(examples, part) for part in ("train", "validation", "test")]
    assert all(parts)
    for one, another in ((0, 1), (0, 2), (1, 2)):
        assert not parts[one] & parts[another]


@pytest.mark.parametrize("seed", range(5))
def test_tracks_without_a_window_do_not_count_among_those_that_are_split(seed: int, tmp_path: Path) -> None:
    long = [f"{name},{step},{step}" for name in "abc" for step in range(60)]
    short = [f"{number},{step},{step}" for number in range(20) for step in range(2)]
    (tmp_path / "a.csv").write_text("\n".join(["track,x,y", *long, *short]))
    given = config(tmp_path / "a.csv", values=["x", "y"], series="track")
    given = given.model_copy(update={"data": given.data.model_copy(update={"seed": seed})})
    examples = build.task(given).examples()
    assert all(steps_of(examples, part) for part in ("train", "validation", "test"))


def test_parts_of_a_series_with_gaps_stay_together(tmp_path: Path) -> None:
    rows = [f"{who},{time},{who}" for who in range(12) for time in (*range(8), *range(20, 28))]
    (tmp_path / "a.csv").write_text("\n".join(["who,time,x", *rows]))
    given = config(tmp_path / "a.csv", values=["x"], series="who", order="time", step=1)
    examples = build.task(given).examples()
    parts = [steps_of(examples, part) for part in ("train", "validation", "test")]
    assert all(parts)
    assert sum(map(len, parts)) == len(set().union(*parts)) == 12  # nobody is in two of them


def test_tracks_that_are_too_short_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has 5 steps in a row: 3 observed and 2 predicted"):
        build.task(config(npz(tmp_path / "a.npz", 9, 4))).examples()


def test_a_table_needs_to_know_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(UserError, match="say which columns"):
        build.task(config(tmp_path / "a.csv")).examples()


@pytest.mark.parametrize(
    ("there", "asked", "said"),
    [
        (False, True, "There is nothing beside the series"),
        (True, None, "Set task.context to true or false"),
    ],
)
def test_a_context_is_read_or_left_out_as_somebody_says(
    there: bool, asked: bool | None, said: str, tmp_path: Path
) -> None:
    settings = config(npz(tmp_path / "a.npz", 12, 8, context=there), context=asked)
    with pytest.raises(UserError, match=said):
        build.learn_codec(settings, build.task(settings).examples())


def test_a_context_that_is_not_wanted_is_left_out_of_the_sources(tmp_path: Path) -> None:
    examples = build.task(config(npz(tmp_path / "a.npz", 12, 8, context=True), context=False)).examples()
    pairs = [*examples.train(), *examples.validation, *examples.test]
    assert pairs
    assert not any("context" in pair.source for pair in pairs)


def test_a_model_knows_whether_it_was_trained_with_a_context(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", 12, 8, context=True)
    settings = config(path, context=False)
    build.learn_codec(settings, build.task(settings).examples()).save(tmp_path)
    with pytest.raises(UserError, match=r"trained without a context .* Set task\.context to false"):
        build.load_codec(config(path, context=True), ModelFolder(tmp_path))


def test_a_table_is_cut_where_a_step_is_missing(tmp_path: Path) -> None:
    days = [day for day in range(1, 25) if day != 13]
    rows = [f"{who},2024-05-{day:02d},{day},{who}" for who in range(6) for day in days]
    (tmp_path / "a.csv").write_text("who,day,x,y\n" + "\n".join(rows) + "\n")
    columns = {"values": ["x", "y"], "series": "who", "order": "day"}

    def over_the_gap(**more: float) -> int:
        examples = build.task(config(tmp_path / "a.csv", **columns, **more)).examples()
        windows = [(read_points(pair.source), read_points(pair.target)) for pair in examples.train()]
        return sum(np.ptp(np.concatenate(window)[:, 0]) > 4 for window in windows)

    assert over_the_gap() > 0
    assert over_the_gap(step=86400) == 0  # seconds


def test_pedestrians_have_windows_at_every_stride(tmp_path: Path) -> None:
    for part, end in (("train", "_train"), ("val", "_val"), ("all", "")):
        (tmp_path / part).mkdir()
        for scene in SCENES:
            lines = [f"{10 * step}\t1\t{step}\t0" for step in range(9)]
            (tmp_path / part / f"{scene}{end}.txt").write_text("\n".join(lines) + "\n")
    sizes = []
    for stride in (1, 2):
        task = {"name": "forecast", "scene": "eth", "folder": str(tmp_path), "observed": 3, "predicted": 2}
        settings = parse_config({"task": {**task, "stride": stride}}, origin="a test")
        sizes.append(len(build.task(settings).examples().test))
    assert sizes == [5, 3]  # of nine steps, those that begin at 0, 1, 2, 3, 4, or at 0, 2, 4


def test_points_that_are_too_many_are_counted_and_quoted_to_their_owner_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = config(npz(tmp_path / "a.npz", 12, 8))
    settings = settings.model_copy(update={"data": settings.data.model_copy(update={"max_source": 3})})
    codec = build.learn_codec(settings, build.task(settings).examples())
    long = Request(json.dumps([[1, 2], [3, 4], [5, 6], [7, 8]]))
    (read,) = codec.guarded().read([long])
    assert not caplog.text
    assert isinstance(read, Observed)
    assert read.unread == 1
    codec.read([long])
    assert "[[1, 2], [3, 4]" in caplog.text


def test_what_cannot_be_read_is_told_for_each_source(tmp_path: Path) -> None:
    settings = config(npz(tmp_path / "a.npz", 12, 8))
    codec = build.learn_codec(settings, build.task(settings).examples())
    texts = ["", json.dumps([[1, 2], [3, 4]]), "[[1]]", "nonsense"]
    nothing, series, narrow, nonsense = codec.read([Request(text) for text in texts])
    assert nothing is None
    assert len(series) == 2  # type: ignore[arg-type]
    assert "1 values here, but 2" in str(narrow)
    assert isinstance(nonsense, UserError)
    with pytest.raises(UserError, match="nothing can be asked of it by to"):
        codec.check(Request("[[1, 2]]", to="de"))
    with pytest.raises(UserError, match="are points"):
        codec.encode_targets(["[[1, 2]]"], ["[[1, 2]]"])
