"""The result of a comparison on a terminal."""

import pytest

from regard.cli.compare import _fitting
from regard.cli.console import results

HEADS = ["model", "rouge_1 ↑", "p", "rouge_2 ↑", "perplexity", "parameters", "sentences/s", "memory"]
ROWS = [
    ["attention=pointer", "12.34 ±0.56", "0.0120 worse", "1.23 ±0.45", "99.1", "1,234,567", "12", "300 MiB"]
]


@pytest.mark.parametrize("width", [50, 80, 200])
def test_columns_that_do_not_fit_beside_each_other_stand_below(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(results, "width", width)
    with results.capture() as told:
        for part in _fitting(HEADS, ROWS):
            results.print(part)
    lines = [line.rstrip() for line in told.get().splitlines()]
    heads = [line for line in lines if line.startswith("model")]
    assert (len(heads) == 1) == (width == 200)
    assert all(len(line) <= width for line in lines)
    for cell in (*HEADS[1:], *ROWS[0][1:]):
        assert any(cell in line for line in lines), cell
    assert sum(line.startswith("attention=pointer") for line in lines) == len(heads)
