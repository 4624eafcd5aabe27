import re
from pathlib import Path

import pytest

from regard.core.points import read_series_source
from regard.data.series import FOLDS
from regard.layers.points import POINT_HEADS
from regard.metrics import METRICS
from regard.tasks.forecasts import ConstantVelocity, LastPoint
from regard.tasks.scaling import MODES

PAGE = (Path(__file__).parent.parent.parent / "docs/trajectories.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """The rows of the first table under a heading, their cells stripped."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    return rows[2:]


def test_the_sources_of_the_page_can_be_read() -> None:
    (block,) = re.findall(r"```\n(\[\[.*?)```", PAGE, re.DOTALL)
    plain, whole = map(read_series_source, block.splitlines())
    assert plain.series.shape == (3, 2)
    assert whole.context is not None and whole.target is not None  # noqa: PT018


def test_the_code_of_the_page_makes_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"p,{0.4 * step:.1f},{step},0" for step in range(22)]
    Path("tracks.csv").write_text("\n".join(["person,time,x,y", *lines]) + "\n")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    found: dict[str, object] = {}
    exec(code, found)
    assert len(list(found["pairs"])) == 3


def test_the_page_tells_every_head_measure_and_score_there_is() -> None:
    assert [row[0].strip("`") for row in table("What a model says of the next point")] == list(POINT_HEADS)
    assert [row[0].strip("`") for row in table("Measures")] == list(MODES)
    told = {name for row in table("Scores") for name in re.findall(r"`(\w+)`", row[0])}
    assert told == {name for name, make in METRICS.items() if make().answers == "points"}


def test_the_table_of_pedestrians_has_every_fold_and_forecast_and_its_means() -> None:
    header = PAGE.split("## Pedestrians")[1].split("\n|")[1]
    assert [cell.strip() for cell in header.split("|")[1:-2]] == list(FOLDS)
    forecasts = table("Pedestrians: ETH-UCY")[:2]
    assert [row[0] for row in forecasts] == [ConstantVelocity.name, LastPoint.name]
    for _, *folds, mean in forecasts:
        for place in (0, 1):
            values = [float(cell.split(" / ")[place]) for cell in folds]
            assert sum(values) / 5 == pytest.approx(float(mean.split(" / ")[place]), abs=0.0101)
