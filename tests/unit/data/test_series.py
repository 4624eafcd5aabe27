"""Tracks from files, and windows of them."""

import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.core.errors import UserError
from regard.core.points import read_points, read_series_source
from regard.data import data_folder
from regard.data.series import FOLDS, SCENES, Columns, Track, read_csv, read_npz, read_pedestrians, windows

NAN = float("nan")
needs_data = pytest.mark.skipif(
    not (data_folder() / "eth-ucy").is_dir(), reason="needs eth-ucy in the folder of data (REGARD_DATA)"
)


def track(length: int, **more: Any) -> Track:
    return Track("t", np.arange(2.0 * length).reshape(length, 2), **more)


# ---- windows


def test_a_window_begins_at_every_step_that_leaves_room() -> None:
    pairs = list(windows([track(5), track(3), track(4)], observed=2, predicted=2))
    assert [pair.source for pair in pairs] == ["[[0, 1], [2, 3]]", "[[2, 3], [4, 5]]", "[[0, 1], [2, 3]]"]
    assert [pair.target for pair in pairs] == ["[[4, 5], [6, 7]]", "[[6, 7], [8, 9]]", "[[4, 5], [6, 7]]"]


def test_a_stride_leaves_windows_out() -> None:
    pairs = windows([track(8)], observed=2, predicted=1, stride=3)
    assert [pair.source[:7] for pair in pairs] == ["[[0, 1]", "[[6, 7]"]


def test_a_window_of_which_a_side_knows_nothing_is_left_out() -> None:
    values = np.array([[1.0], [2], [NAN], [NAN], [5]])
    pairs = list(windows([Track("t", values)], observed=2, predicted=2))
    assert [pair.target for pair in pairs] == ["[[null], [5]]"]


def test_a_context_goes_with_each_window_whole_or_step_by_step() -> None:
    context = np.arange(4.0)[:, None]
    whole = list(windows([track(4, context=context)], observed=2, predicted=1))
    assert [read_series_source(pair.source).context.tolist() for pair in whole] == [context.tolist()] * 2
    cut = list(windows([track(4, context=context, aligned=True)], observed=2, predicted=1))
    assert [read_series_source(pair.source).context.tolist() for pair in cut] == [[[0], [1]], [[1], [2]]]


# ---- CSV

CSV = """who,when,x,y,heat
b,2,3,4,0.5
a,1,1.5,,7
b,1,1,2,0.25
a,2,2.5,6,
"""
COLUMNS = Columns(("x", "y"), series="who", order="when", context=("heat",))


def saved(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_table_is_read_by_series_and_in_order(tmp_path: Path, name: str) -> None:
    b, a = read_csv(saved(tmp_path, CSV, name), COLUMNS)
    assert (b.name, a.name) == ("b", "a")
    np.testing.assert_array_equal(b.values, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(a.values, [[1.5, NAN], [2.5, 6]])
    np.testing.assert_array_equal(a.context, [[7], [NAN]])
    assert a.aligned


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_seen_in_the_first_line(tmp_path: Path, delimiter: str) -> None:
    (first, _) = read_csv(saved(tmp_path, CSV.replace(",", delimiter)), COLUMNS)
    np.testing.assert_array_equal(first.values, [[1, 2], [3, 4]])


def test_without_a_series_or_an_order_the_lines_are_one_track(tmp_path: Path) -> None:
    (only,) = read_csv(saved(tmp_path, CSV), Columns(("x",)))
    assert only.name == "t"
    assert only.context is None
    np.testing.assert_array_equal(only.values[:, 0], [3, 1.5, 1, 2.5])


def test_parts_of_a_second_are_steps_of_a_clock_too(tmp_path: Path) -> None:
    text = "at,x\n" + "".join(f"2024-05-31T12:00:{0.4 * step:09.6f},{step}\n" for step in (0, 1, 2, 4, 5))
    parts = read_csv(saved(tmp_path, text), Columns(("x",), order="at"), step=0.4)
    assert [part.values[:, 0].tolist() for part in parts] == [[0, 1, 2], [4, 5]]


def test_a_gap_cuts_a_track_where_the_step_is_known(tmp_path: Path) -> None:
    text = "day,v\n2024-01-01,1\n2024-01-02,2\n\n2024-01-04,4\n2024-01-05,5\n"
    columns = Columns(("v",), order="day")
    (whole,) = read_csv(saved(tmp_path, text), columns)
    assert len(whole.values) == 4
    parts = read_csv(saved(tmp_path, text), columns, step=86_400)
    assert [part.values[:, 0].tolist() for part in parts] == [[1, 2], [4, 5]]
    assert [part.name for part in parts] == ["t, part 1", "t, part 2"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("who,when,x,y,heat\n", "no line under the names"),
        ("who,when,x,z,heat\n", "line 1: there is no column 'y'"),
        ("who,when,x,y,heat,y\n", "line 1: there are several columns 'y'"),
        (CSV + "a,3,1\n", "line 6: expected 5 fields, as in line 1, but found 3"),
        (CSV + "a,3,one,2,3\n", "line 6: x is 'one'"),
        (CSV + "a,3,nan,2,3\n", "line 6: x is 'nan'"),
        (CSV + "a,3,1,1e300,3\n", "line 6: y is '1e300'"),
        (CSV + "a,3,1,1,1_0\n", "line 6: heat is '1_0'"),
        (CSV + "a,2,1,1,1\n", "line 6: the series has a line with the when 2 already"),
        (CSV + "a,soon,1,1,1\n", "line 6: 'soon' is no number and no date"),
        (
            CSV + "a,2024-05-31,1,1,1\n",
            "line 6: '2024-05-31' is a date, but the lines before have numbers as when",
        ),
    ],
)
def test_what_is_wrong_in_a_table_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    path = saved(tmp_path, text)
    with pytest.raises(UserError) as error:
        read_csv(path, COLUMNS)
    assert str(error.value).startswith(str(path))
    assert words in str(error.value)


def test_a_table_needs_columns_of_values() -> None:
    with pytest.raises(UserError, match="No column of values"):
        Columns(())


# ---- NPZ


def packed(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "t.npz", **arrays)
    return folder / "t.npz"


def test_arrays_of_one_length_are_tracks(tmp_path: Path) -> None:
    series, context = np.arange(12.0).reshape(2, 3, 2), np.ones((2, 4, 1), dtype=np.int32)
    first, second = read_npz(packed(tmp_path, series=series, context=context))
    np.testing.assert_array_equal(second.values, series[1])
    np.testing.assert_array_equal(first.context, context[0])
    assert not first.aligned


def test_tracks_of_different_lengths_are_padded_or_stand_one_after_the_other(tmp_path: Path) -> None:
    flat = np.arange(10.0).reshape(5, 2)
    padded = np.full((2, 3, 2), NAN)
    padded[0, :3], padded[1, :2] = flat[:3], flat[3:]
    for series in (flat, padded):
        first, second = read_npz(packed(tmp_path, series=series, lengths=np.array([3, 2])))
        np.testing.assert_array_equal(first.values, flat[:3])
        np.testing.assert_array_equal(second.values, flat[3:])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"track": np.ones((1, 2, 2))}, "no array 'series' in it. It has: track"),
        ({"series": np.array([{}], dtype=object)}, "no NPZ file of plain numbers"),
        ({"series": np.array([["a"]])}, "must hold real numbers"),
        ({"series": np.ones((2, 2), dtype=bool)}, "must hold real numbers"),
        ({"series": np.ones((2, 2))}, "must be [tracks, steps, values]"),
        ({"series": np.ones((0, 3, 2))}, "is empty"),
        ({"series": np.full((1, 2, 2), np.inf)}, "beyond"),
        ({"series": np.ones((4, 2)), "lengths": np.array([3, 2])}, "sum to 5"),
        ({"series": np.ones((4, 2)), "lengths": np.array([4.0])}, "whole numbers from 1"),
        ({"series": np.ones((4, 2)), "lengths": np.array([4, 0])}, "whole numbers from 1"),
        ({"series": np.ones((1, 4, 2)), "lengths": np.array([5])}, "do not go with"),
        ({"series": np.ones((1, 2, 2)), "context": np.ones((2, 2, 2))}, "for 1 tracks"),
    ],
)
def test_what_is_wrong_in_arrays_is_told(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    path = packed(tmp_path, **arrays)
    with pytest.raises(UserError) as error:
        read_npz(path)
    assert str(error.value).startswith(f"{path}: ")
    assert words in str(error.value)


def test_what_is_no_npz_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    with pytest.raises(UserError, match="no such file"):
        read_npz(path)
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(UserError, match="damaged"):
        read_npz(path)
    path.write_bytes(b"not an archive at all")
    with pytest.raises(UserError, match=r"or it is damaged\.$"):  # and nobody is told to allow pickles
        read_npz(path)
    np.save(tmp_path / "t.npy", np.ones(3))
    with pytest.raises(UserError, match="one array"):
        read_npz(tmp_path / "t.npy")


def test_a_member_that_is_no_array_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("series", b"1 2 3")
    with pytest.raises(UserError, match="'series' is no array"):
        read_npz(path)


def test_a_flipped_bit_or_a_boast_in_an_array_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez_compressed(path, series=np.random.default_rng(1).random((3, 40, 2)))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(UserError, match="damaged"):
        read_npz(path)
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000, 1000), }"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "series.npy", b"\x93NUMPY\x01\x00" + bytes([len(header), 0]) + header.encode() + bytes(64)
        )
    with pytest.raises(UserError, match="damaged"):
        read_npz(path)


# ---- pedestrians


def test_a_person_who_is_lost_from_sight_comes_back_as_another_track(tmp_path: Path) -> None:
    path = saved(tmp_path, "0\t1.0\t5\t6\n10\t1.0\t7\t8\n0\t2.0\t0\t0\n30\t1.0\t9\t9\n\n", "scene.txt")
    tracks = read_pedestrians(path)
    assert [one.name for one in tracks] == ["scene 1, part 1", "scene 1, part 2", "scene 2"]
    assert [one.values.tolist() for one in tracks] == [[[5, 6], [7, 8]], [[9, 9]], [[0, 0]]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("10\t1\t2", "found 3 fields"),
        ("10 1 2 3", "found 1 fields"),
        ("10\t1\t2\t", "four numbers"),
        ("10\t1\t2\tnan", "four numbers"),
        ("0\t1\t2\t2", "person 1 is in frame 0 twice"),
    ],
)
def test_a_line_that_is_no_sighting_is_told(tmp_path: Path, line: str, words: str) -> None:
    path = saved(tmp_path, f"0\t1\t2\t3\n{line}\n", "scene.txt")
    with pytest.raises(UserError) as error:
        read_pedestrians(path)
    assert str(error.value).startswith(f"{path}, line 2: ")
    assert words in str(error.value)


def test_a_scene_without_people_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no pedestrians"):
        read_pedestrians(saved(tmp_path, "\n", "scene.txt"))


def test_no_fold_sees_what_it_is_tested_on() -> None:
    folder = Path("f")
    for fold in FOLDS.values():
        assert set(fold.seen) | set(fold.test) == set(SCENES)
        assert not set(fold.seen) & set(fold.test)
        assert {"crowds_zara03", "uni_examples"} <= set(fold.seen)
    assert FOLDS["univ"].files(folder, "test") == [
        folder / "all/students001.txt",
        folder / "all/students003.txt",
    ]
    assert FOLDS["eth"].files(folder, "validation")[0] == folder / "val/biwi_hotel_val.txt"


@needs_data
@pytest.mark.parametrize(
    ("name", "count"), [("eth", 364), ("hotel", 1197), ("univ", 24_334), ("zara1", 2356), ("zara2", 5910)]
)
def test_the_folds_have_as_many_test_windows_as_the_files_hold(name: str, count: int) -> None:
    """Counted apart from the code under test: lengths of a person's runs of frames."""
    folder = data_folder() / "eth-ucy"
    expected = 0
    for scene in FOLDS[name].test:
        frames: dict[str, list[float]] = {}
        for line in (folder / "all" / f"{scene}.txt").read_text().splitlines():
            frame, person, *_ = line.split("\t")
            frames.setdefault(person, []).append(float(frame))
        for some in frames.values():
            expected += sum(
                later - first == 190 for first, later in zip(sorted(some), sorted(some)[19:], strict=False)
            )
    pairs = list(FOLDS[name].pairs(folder, "test"))
    assert len(pairs) == expected == count
    assert read_series_source(pairs[0].source).series.shape == (8, 2)
    assert read_points(pairs[0].target).shape == (12, 2)


@needs_data
def test_a_fold_trains_and_validates_at_different_times() -> None:
    folder = data_folder() / "eth-ucy"
    train, validation = (set(FOLDS["univ"].pairs(folder, part)) for part in ("train", "validation"))
    assert train and validation  # noqa: PT018
    assert not train & validation
