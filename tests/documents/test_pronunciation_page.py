import os
import re
from pathlib import Path

import pytest

from regard import build
from regard.config import load_config, recipes
from regard.metrics import METRICS

PAGE = (Path(__file__).parent.parent.parent / "docs/pronunciation.md").read_text(encoding="utf-8")


def test_the_page_names_metrics_and_recipes_that_exist() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert named == load_config("pronounce").evaluation.metrics
    assert set(named) <= set(METRICS)
    assert {name for name in recipes() if name.startswith("pronounce")} == set(
        re.findall(r"^- `(pronounce[\w-]*)`", PAGE, flags=re.MULTILINE)
    )


def test_the_page_tells_the_sizes_of_the_recipe() -> None:
    data = load_config("pronounce").data
    assert f"{data.validation_size:,} pronunciations are set apart" in PAGE
    assert f"{data.test_size:,} for the test" in PAGE


def test_the_published_split_leaves_out_as_many_training_lines_as_the_page_says() -> None:
    data = os.environ.get("REGARD_DATA")
    if data is None or not Path(data, "cmudict/train.txt").exists():
        pytest.skip("REGARD_DATA names no folder with cmudict")
    found = build.task(load_config("pronounce-published")).examples()
    assert len(list(found.train())) == 107_882
    assert len(found.cases(found.test)) == 11_994, "words of the split of Yao & Zweig"
    (said,) = found.reports()
    left_out = said.split(" training pairs are left out")[0]
    assert f"{left_out} are left out for that" in PAGE.replace("\n", " ")
