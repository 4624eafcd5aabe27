from pathlib import Path

import numpy as np
import pytest

from regard.data.rows import FlatRows, Rows, RowsWriter


def test_rows_come_back_from_plain_numpy_files(tmp_path: Path) -> None:
    with RowsWriter(tmp_path, "x", vocabulary=100) as writer:
        writer.append(FlatRows.of([[5, 6], []], 100))
        writer.append(FlatRows.of([], 100))
        writer.append(FlatRows.of([[7]], 100))
    assert np.load(tmp_path / "x.ids.npy").tolist() == [5, 6, 7]
    assert np.load(tmp_path / "x.offsets.npy").tolist() == [0, 2, 2, 3]
    rows = Rows.open(tmp_path, "x")
    assert [row.tolist() for row in (rows[0], rows[1], rows[2])] == [[5, 6], [], [7]]
    assert rows.lengths.tolist() == [2, 0, 1]
    assert len(rows) == 3


@pytest.mark.parametrize(("vocabulary", "dtype"), [(65_536, np.uint16), (65_537, np.uint32)])
def test_ids_take_two_bytes_when_the_vocabulary_allows(tmp_path: Path, vocabulary: int, dtype: type) -> None:
    with RowsWriter(tmp_path, "x", vocabulary) as writer:
        writer.append(FlatRows.of([[vocabulary - 1]], vocabulary))
    rows = Rows.open(tmp_path, "x")
    assert rows.ids.dtype == dtype
    assert rows[0].tolist() == [vocabulary - 1]


def test_rows_cannot_be_written_to(tmp_path: Path) -> None:
    with RowsWriter(tmp_path, "x", 10) as writer:
        writer.append(FlatRows.of([[1, 2]], 10))
    with pytest.raises(ValueError, match="read-only"):
        Rows.open(tmp_path, "x")[0][0] = 3


@pytest.mark.parametrize("row", [-1, 1])
def test_a_row_that_is_not_there_is_an_error(tmp_path: Path, row: int) -> None:
    with RowsWriter(tmp_path, "x", 10) as writer:
        writer.append(FlatRows.of([[1, 2]], 10))
    with pytest.raises(IndexError):
        Rows.open(tmp_path, "x")[row]


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.ids.npy", np.arange(4, dtype=np.uint16))
    np.save(tmp_path / "x.offsets.npy", np.array([0, 3]))
    with pytest.raises(ValueError, match="do not go with"):
        Rows.open(tmp_path, "x")
    np.save(tmp_path / "x.ids.npy", np.arange(3, dtype=np.float32))
    with pytest.raises(ValueError, match="unexpected types"):
        Rows.open(tmp_path, "x")
