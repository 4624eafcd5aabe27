"""Answers of many workers are those of `regard predict`, in order."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import environment, regard

from regard import bulk
from regard.core.errors import UserError

ODD = "Saturday 09 May 2018\n\n3 août 1999\r\n5 May\u2028 2003\n".encode() + b"bad \xff byte\n"
MORE = b"7 May 2010\n8 May 2011\n9 May 2012"
PROGRAM = """
import sys
import ray
from regard import bulk

ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=80 * 2**20)
sources = bulk.lines("odd.txt", "more.txt")
for row in bulk.predict(sources, sys.argv[1], workers=2, window=2, beam=2, min_length=6).iter_rows():
    print(row["line"], row["source"].encode(), row["answer"].replace("\\n", " "), f"{row['score']:.4f}", sep="\\t")
"""


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: pip install 'regard[ray]'")
def test_two_workers_answer_as_one_process_does(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_bytes(ODD)
    (tmp_path / "more.txt").write_bytes(MORE)
    run = tiny / "runs/tiny"
    words = ("--beam", "2", "--search", "min_length=6", "--scores")
    alone = regard("predict", run, *words, folder=tmp_path, stdin=ODD + MORE).stdout.decode().splitlines()
    here = os.pathsep.join(sys.path)  # of a worker too, wherever Ray starts it
    quiet = {**environment(), "PYTHONPATH": here, "PYTHONWARNINGS": "", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(run)], cwd=tmp_path, env=quiet, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5", "1", "2", "3"]
    assert rows[1][1] == "b''"
    assert rows[4][1] == repr("bad \ufffd byte".encode())
    assert [row[2] for row in rows] == [line.split("\t")[0] for line in alone]
    assert len({row[2] for row in rows}) > 2  # or any order would be right
    assert [float(row[3]) for row in rows] == pytest.approx(
        [float(line.split("\t")[1]) for line in alone], abs=1e-3
    )


def test_what_is_not_there_is_told_before_any_worker_starts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothing\.txt: there is no such file"):
        bulk.lines(tmp_path / "nothing.txt")
    with pytest.raises(UserError, match="there is no such run"):
        bulk.predict(object(), tmp_path / "nowhere", workers=1)  # type: ignore[arg-type]
