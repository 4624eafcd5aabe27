"""The scripts that documents point to can be run, and the pictures they point to are there."""

import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from commands import TINY, regard

from regard.core.prediction import AttentionRecord
from regard.core.words import Words

ROOT = Path(__file__).parent.parent.parent


def run(*words: str | Path, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "REGARD_DATA"}
    if data is not None:
        environment["REGARD_DATA"] = str(data)
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=ROOT,
        env={**environment, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def first_cells(table: str) -> list[str]:
    """The first cell of each row of a Markdown table, its head left out."""
    return [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][1:]


def test_the_benchmark_of_processes_prints_what_they_spend_on_each_other() -> None:
    printed = run("benchmarks/ranks.py").stdout
    assert "a small sum" in printed
    assert "16,000,000 parameters" in printed


def test_the_benchmark_of_unrolling_prints_rates_and_a_ratio() -> None:
    sizes = ["--widths", "8", "--rows", "2", "--length", "5", "--vocabulary", "20", "--rounds", "1"]
    printed = run("benchmarks/unrolling.py", *sizes).stdout
    assert first_cells(printed) == ["8", "8", "8"]
    assert printed.count("times as fast") == 3


def test_the_benchmark_of_precision_prints_a_ratio_for_each_recipe() -> None:
    small = [
        "--set",
        "model.encoder.width=8",
        "--set",
        "model.decoder.width=8",
        "--rows",
        "2",
        "--rounds",
        "1",
    ]
    printed = run("benchmarks/precision.py", "--recipes", "pronounce", *small).stdout
    assert printed.startswith("pronounce  ")
    assert printed.count("times as fast") == 1


def test_the_benchmark_of_compiling_can_be_asked() -> None:
    assert (
        "--threads" in run("benchmarks/compiling.py", "--help").stdout
    )  # compiling takes a minute and a compiler


def test_the_benchmark_of_products_prints_both_ways() -> None:
    printed = run("benchmarks/products.py", "--shapes", "8x16", "--rows", "1", "9", "--rounds", "1").stdout
    assert first_cells(printed) == ["8x16", "8x16"]


def test_the_benchmark_of_looks_prints_a_ratio_for_each_length() -> None:
    small = ["--lengths", "4", "6", "--places", "24", "--heads", "2", "--width", "8", "--rounds", "1"]
    assert first_cells(run("benchmarks/looks.py", *small, "--threads", "1").stdout) == ["4", "6"]


def crossing() -> ModuleType:
    found = spec_from_file_location("crossing", ROOT / "experiments/crossing.py")
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_experiment_on_crossing_knows_an_adjective_that_stands_elsewhere() -> None:
    asked = list(crossing().phrases())
    assert len(asked) == 96
    assert asked[0] == ("La casa blanca es muy grande.", ("casa", "blanca"), ("house", "white"))
    source, target = ("La", "casa", "blanca."), ("The", "white", "house.")
    weights = np.array([[0.8, 0.1, 0.1], [0.0, 0.25, 0.75], [0.0, 0.875, 0.125]], dtype=np.float32)
    words = Words(source, ((0,), (1,), (2,))), Words(target, ((0,), (1,), (2,)))
    record = AttentionRecord(source, target, {"cross": weights[None, None]}, *words)
    seen = crossing().looks(record, ("casa", "blanca."), ("house", "white"))
    assert seen == [
        [0.875, 0.125],
        [0.25, 0.75],
    ]  # the noun's look at noun and adjective, then the adjective's
    assert crossing().looks(record, ("casa", "blanca."), ("house", "red")) == []


def test_the_benchmark_of_long_sources_prints_memory_and_shares() -> None:
    sizes = ["--source", "20", "--width", "8", "--layers", "2", "--heads", "2", "--feed-forward", "8"]
    printed = run("benchmarks/long_sources.py", *sizes, "--target", "4", "--block", "4").stdout
    assert printed.startswith("source 20, target 4, width 8")
    assert printed.count("an encoder, ") == printed.count("one stream, ") == 3
    assert printed.count("MiB") == printed.count("of full") == 2 * 9


def test_the_benchmark_of_the_server_prints_rates_answers_and_what_is_left() -> None:
    short = ["--width", "16", "--layers", "1", "--seconds", "0.5", "--overload", "0.5", "--clients", "8"]
    printed = run("benchmarks/serve.py", *short, "--sockets", "4", "--cancellations", "5").stdout
    assert "times as many" in printed
    assert "every request answered with 200, 429 or 503: yes" in printed
    assert "4 slow sockets" in printed
    assert "5: 0 requests, 0 inputs, 0 connections left" in printed


def test_the_benchmark_of_preparation_prints_every_stage_and_a_second_start(tmp_path: Path) -> None:
    printed = run("benchmarks/preparation.py", "--pairs", "300", "--folder", tmp_path).stdout
    stages = ["read, filter, split", "learn the pieces", "encode, store", "all", "second start"]
    assert first_cells(printed) == stages
    assert "store: 255 pairs" in printed


def test_the_experiment_on_the_family_knows_every_score_and_selection() -> None:
    from regard.attention import SCORES, SELECTIONS

    printed = run("experiments/family.py", "--help").stdout
    for name in (*SCORES, *SELECTIONS, "none"):
        assert name in printed or name == "soft"


def test_the_experiment_on_the_family_tells_and_draws_what_is_trained(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    for member in ("additive", "none"):
        change = f"model.attention.score={member}"
        regard("train", "tiny.toml", "--run", f"{member}-1", "--set", change, folder=tmp_path)
        regard("evaluate", f"{member}-1", folder=tmp_path)
    pictures = tmp_path / "pictures"
    wanted = ["--members", "none", "additive", "--seeds", "1", "--pictures", pictures]
    assert first_cells(run("experiments/family.py", tmp_path, *wanted).stdout) == ["additive", "none"]
    assert [path.name for path in pictures.iterdir()] == [
        "additive.png"
    ]  # a fixed vector has no look to draw


def test_the_experiment_on_the_argument_trains_both_models_equally_and_draws_them(tmp_path: Path) -> None:
    small = ["--steps", "2", "--pairs", "400", "--pictures", tmp_path / "pictures"]
    done = run("experiments/argument.py", tmp_path, *small)
    *buckets, whole = first_cells(done.stdout)
    assert len(buckets) >= 4
    assert whole == "all"
    assert buckets[0].startswith("5 to ")  # four letters and the end mark
    trained = re.findall(r"parameters, (2 steps, [\d,]+ target pieces)", done.stdout)
    assert len(trained) == 2
    assert trained[0] == trained[1]
    assert (tmp_path / "pictures" / "argument.png").read_bytes().startswith(b"\x89PNG")
    assert "Spanish is left out: REGARD_DATA names no folder" in done.stderr


def test_the_experiment_on_few_pairs_shows_both_models_few_of_czech(tmp_path: Path) -> None:
    (tmp_path / "multi30k").mkdir()
    for part, count in (("train", 40), ("val", 5), ("test2016", 5)):
        for language in ("en", "de", "fr", "cs"):
            lines = [f"{language} {part} {number}\n" for number in range(count)]
            (tmp_path / "multi30k" / f"{part}.{language}").write_text("".join(lines))
    small = [
        "training.steps=1",
        "text.source.vocabulary=270",
        "model.encoder.layers=1",
        "model.decoder.layers=1",
    ]
    changes = [word for one in small for word in ("--set", one)]
    done = run("experiments/few_pairs.py", tmp_path / "runs", "--pairs", "7", *changes, data=tmp_path)
    assert first_cells(done.stdout) == ["alone", "beside the others"]
    assert (tmp_path / "runs" / "few.cs").read_text().count("\n") == 7


def test_the_experiment_on_forecasts_prints_every_fold(tmp_path: Path) -> None:
    """Everybody walks straight on: constant velocity is right, and who stands still is 6.5 steps off in the mean."""
    (tmp_path / "all").mkdir()
    walk = "".join(f"{10 * step}\t1\t{step}\t0\n" for step in range(21))
    for scene in ("biwi_eth", "biwi_hotel", "students001", "students003", "crowds_zara01", "crowds_zara02"):
        (tmp_path / "all" / f"{scene}.txt").write_text(walk)
    printed = run("experiments/forecasts.py", tmp_path).stdout
    assert first_cells(printed) == ["constant_velocity", "last_point", "test windows"]
    assert printed.count("0.00 / 0.00") == printed.count("6.50 / 12.00") == 6
    assert printed.splitlines()[-1] == "| test windows | 2 | 2 | 4 | 2 | 2 | |"


@pytest.mark.parametrize("page", ["attention.md", "argument.md", "beam.md"])
def test_every_picture_of_a_page_is_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert pictures
    for picture in pictures:
        assert (ROOT / "docs" / picture).read_bytes().startswith(b"\x89PNG"), picture
