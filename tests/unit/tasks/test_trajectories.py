import json
from pathlib import Path

import numpy as np
import pytest

from regard import build
from regard.config import Config, parse_config
from regard.core.errors import UserError
from regard.core.points import read_series_source
from regard.core.prediction import Request
from regard.tasks.examples import Examples


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


@pytest.mark.parametrize(("tracks", "steps"), [(12, 8), (1, 80), (3, 40)])
def test_no_two_parts_share_a_step(tracks: int, steps: int, tmp_path: Path) -> None:
    examples = build.task(config(npz(tmp_path / "a.npz", tracks, steps))).examples()
    parts = [steps_of(examples, part) for part in ("train", "validation", "test")]
    assert all(parts)
    for one, another in ((0, 1), (0, 2), (1, 2)):
        assert not parts[one] & parts[another]


def test_tracks_that_are_too_short_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has 5 steps in a row: 3 observed and 2 predicted"):
        build.task(config(npz(tmp_path / "a.npz", 9, 4))).examples()


def test_a_table_needs_to_know_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(UserError, match="say which columns"):
        build.task(config(tmp_path / "a.csv")).examples()


@pytest.mark.parametrize(
    ("there", "asked", "said"),
    [(False, True, "There is nothing beside the series"), (True, None, "nothing says that it is to be read")],
)
def test_a_context_is_there_where_it_is_asked_for(
    there: bool, asked: bool | None, said: str, tmp_path: Path
) -> None:
    more = {} if asked is None else {"context": asked}
    settings = config(npz(tmp_path / "a.npz", 12, 8, context=there), **more)
    if there and asked is None:
        examples = build.task(settings).examples()  # it is left out of the sources, and so nobody misses it
        assert not any("context" in pair.source for pair in examples.test)
        return
    with pytest.raises(UserError, match=said):
        build.learn_codec(settings, build.task(settings).examples())


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
