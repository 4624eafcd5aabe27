"""`regard predict` with several processes and in int8."""

from pathlib import Path

import pytest
from commands import regard
from untrained import sources, transformer_changes, write_model

ODD = "\n".join([*sources(70, longest=12), "", "  ", "ab\tc", "é€"]) + "\n"


def test_several_processes_give_the_lines_of_one_in_order_in_int8_too(tmp_path: Path) -> None:
    run = write_model(tmp_path / "model", transformer_changes("both.width=64"))
    words = ("predict", run, "--scores", "--compute-type", "int8")
    alone, together = (
        regard(*words, *more, folder=tmp_path, stdin=ODD.encode()).stdout.decode()
        for more in ((), ("--workers", "2"))
    )
    assert together.count("\n") == ODD.count("\n")
    (texts, scores), (their_texts, their_scores) = (
        zip(*(line.split("\t") for line in lines.splitlines()), strict=True) for lines in (alone, together)
    )
    assert their_texts == texts
    # a window of lines is shared out in other batches than one process makes of it: sums differ in their last digit
    assert list(map(float, their_scores)) == pytest.approx(list(map(float, scores)), abs=1e-5)


def test_a_number_that_the_native_engine_does_not_compute_in_is_refused(tmp_path: Path) -> None:
    run = write_model(tmp_path / "model", transformer_changes())
    refused = regard("predict", run, "--compute-type", "int9", folder=tmp_path, stdin=b"abc\n", code=2)
    assert "does not compute in 'int9'" in refused.stderr.decode()
