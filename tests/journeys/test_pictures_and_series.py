"""Captions and forecasts by the same commands as texts."""

import json
import shutil
from pathlib import Path

import pytest
from commands import regard, sentence

import regard as library
from regard.core.points import read_points, read_series_source
from regard.data import located

SHAPES = """
[task]
name = "captions"
scenes = 24
size = 32

[data]
validation_size = 6
test_size = 8
max_target = 20

[text.target]
kind = "words"

[model]
embedding = 16
[model.encoder]
kind = "picture"
size = 32
stages = 2
width = 16
[model.decoder]
width = 16
[model.attention]
gated = true

[training]
steps = 6
batch_tokens = 1024
log_every = 2
validate_every = 3
save_every = 2
samples = 2
tensorboard = false

[search]
max_length = 12

[evaluation]
metrics = ["exact_match", "caption_bleu_4"]
"""

TRACKS = """
[task]
name = "forecast"
values = ["x", "y"]
beside = ["wind"]
series = "who"
observed = 4
predicted = 3
context = true

[data]
train = "tracks.csv"
validation_size = 10
test_size = 10

[model]
embedding = 8
encoder.width = 8
decoder.width = 8
context.encoder.width = 8
points.kind = "gaussian"

[training]
steps = 6
batch_tokens = 256
log_every = 2
validate_every = 3
save_every = 2
samples = 2
tensorboard = false
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of each kind."""
    folder = tmp_path_factory.mktemp("others")
    (folder / "shapes.toml").write_text(SHAPES)
    (folder / "tracks.toml").write_text(TRACKS)
    lines = ["who,x,y,wind"]
    for who in range(12):
        lines += [
            f"{who},{step * 0.1 * who},{'' if step == 2 else step * step * 0.01},{who}" for step in range(12)
        ]
    (folder / "tracks.csv").write_text("\n".join(lines) + "\n")
    regard("train", "shapes.toml", folder=folder)
    for source, copy in zip(samples(folder, "shapes"), pictures(folder), strict=True):
        shutil.copy(located(source), folder / copy)  # the cache of a test goes with it
    regard("train", "tracks.toml", folder=folder)
    return folder


def samples(home: Path, run: str) -> list[str]:
    """Sources of the last validation."""
    last = sorted((home / f"runs/{run}/samples").iterdir())[-1] / "predictions.jsonl"
    return [json.loads(line)["source"] for line in last.read_text().splitlines()]


def pictures(home: Path) -> list[str]:
    return [str(home / name) for name in ("one.png", "two.png")]


def series(home: Path) -> list[str]:
    return samples(home, "tracks")


def test_a_line_for_each_picture_and_why_where_there_is_no_caption(home: Path) -> None:
    one, two = pictures(home)
    (home / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and nothing more")
    asked = f"{one}\nbroken.png\n\n{two}\nmissing.png\n"
    done = regard("predict", "runs/shapes", folder=home, stdin=asked.encode())
    lines = done.stdout.decode().split("\n")
    assert len(lines) == 6
    assert lines[0]
    assert lines[3]
    assert lines[1] == lines[2] == lines[4] == ""
    told = done.stderr.decode()
    assert "line 2 has no answer: broken.png" in told
    assert "line 5 has no answer: missing.png" in told


def test_a_line_of_points_for_each_series(home: Path) -> None:
    one, two = series(home)
    done = regard("predict", "runs/tracks", folder=home, stdin=f"{one}\n[[1, 2], [3]]\n{two}\n".encode())
    first, nothing, second = done.stdout.decode().splitlines()
    assert read_points(first).shape == read_points(second).shape == (3, 2)
    assert nothing == ""
    assert "line 2 has no answer" in done.stderr.decode()


def test_both_are_scored_and_the_scores_say_what_they_are_worth(home: Path) -> None:
    captions = regard("evaluate", "runs/shapes", folder=home).stdout.decode()
    assert "exact_match" in captions
    assert "(8 sources)" in captions
    forecasts = regard("evaluate", "runs/tracks", folder=home).stdout.decode()
    assert "constant_velocity" in forecasts
    scores = json.loads((home / "runs/tracks/scores.json").read_text())["test"]
    assert scores["ade"]["value"] > 0


def test_the_best_of_several_futures_is_no_worse_than_the_first(home: Path) -> None:
    done = regard(
        *("evaluate", "runs/tracks", "--metric", "min_ade", "--best", "5", "--search", "sample=true"),
        folder=home,
    ).stdout.decode()
    values = [float(cell) for cell in done.split("all")[1].split() if cell.replace(".", "").isdigit()]
    ade, _, least = values[:3]
    assert 0 < least < ade
    beside = next(line for line in done.split("this run")[1].splitlines() if line.startswith("min_ade"))
    assert float(beside.split()[1]) == least  # the table beside counts all futures too
    assert "right answers" not in done  # of which nothing is told here


@pytest.mark.parametrize("suffix", [".png", ".html", ".json"])
@pytest.mark.parametrize("run", ["shapes", "tracks"])
def test_both_are_explained(run: str, suffix: str, home: Path) -> None:
    source = (pictures if run == "shapes" else series)(home)[0]
    regard("explain", f"runs/{run}", source, "-o", f"{run}{suffix}", folder=home)
    assert (home / f"{run}{suffix}").stat().st_size > 500
    if suffix == ".json":
        kinds = json.loads((home / f"{run}.json").read_text())["attention"]
        assert ("context" in kinds) == (run == "tracks")
        assert "cross" in kinds


def test_both_are_explained_in_letters(home: Path) -> None:
    assert "▕" in regard("explain", "runs/shapes", pictures(home)[0], folder=home).stdout.decode()
    assert "context [" in regard("explain", "runs/tracks", series(home)[0], folder=home).stdout.decode()


def test_training_goes_on_where_it_was(home: Path) -> None:
    for name in ("shapes", "tracks"):
        done = regard("train", f"{name}.toml", folder=home)
        assert "all 6 steps are done" in (done.stderr + done.stdout).decode()


def test_the_library_answers_too(home: Path) -> None:
    model = library.load(home / "runs/shapes")
    answer = model.predict(pictures(home)[0], beam=3)
    assert answer.attention.cross().shape[1] == 64
    source = series(home)[0]
    forecast = library.load(home / "runs/tracks").predict(source, best=4)
    assert len(forecast.alternatives) == 3
    assert forecast.attention.matrix("context").shape == (3, len(read_series_source(source).context))


def test_what_a_series_cannot_be_asked_is_told(home: Path) -> None:
    done = regard("predict", "runs/tracks", "--beam", "4", folder=home, stdin=b"[[1, 2]]\n", code=2)
    assert "no option 'beam'" in sentence(done)
    several = ["--best", "3", "--search", "sample=true", "--mbr", "chrf"]
    done = regard("predict", "runs/tracks", *several, folder=home, stdin=b"[[1, 2]]\n", code=2)
    assert "mbr compares texts" in sentence(done)


def test_models_of_other_kinds_do_not_answer_together(home: Path) -> None:
    done = regard("predict", "runs/tracks", "--with", "runs/shapes", folder=home, stdin=b"[[1, 2]]\n", code=2)
    assert "models answer together only with" in sentence(done)


def test_points_are_no_measure_of_captions(home: Path) -> None:
    done = regard("evaluate", "runs/shapes", "--metric", "ade", folder=home, code=2)
    assert "ade is about points" in sentence(done)


def test_texts_are_no_measure_of_points(home: Path) -> None:
    before = (home / "runs/tracks/scores.json").read_bytes()
    done = regard("evaluate", "runs/tracks", "--metric", "bleu", folder=home, code=2)
    assert "bleu is about texts, but the answers of the task forecast are points" in sentence(done)
    assert (home / "runs/tracks/scores.json").read_bytes() == before


def test_examples_of_points_are_shown_without_a_verdict(home: Path) -> None:
    shown = regard("evaluate", "runs/tracks", "--examples", "3", folder=home).stdout.decode()
    assert "what is right" in shown
    assert "WRONG" not in shown
    assert "wrong." not in shown


def test_the_card_tells_what_is_read_and_said(home: Path) -> None:
    told = {run: (home / f"runs/{run}/model/README.md").read_text() for run in ("shapes", "tracks")}
    assert "| reads and says | picture to pieces (words) |" in told["shapes"]
    assert "backbone small_cnn" in told["shapes"]
    assert "| reads and says | points to points |" in told["tracks"]
    assert "| points | gaussian |" in told["tracks"]


def test_both_can_be_compared(home: Path) -> None:
    done = regard("compare", "tracks.toml", "--vary", "model.attention.score=none,additive", folder=home)
    assert "additive" in done.stdout.decode()
