import gzip
import json
import random
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from commands import TINY, command, environment, regard, sentence, start
from forked import Started

import regard as library

WEIGHTS = "model/model.safetensors"


def newest(run: Path) -> bytes:
    return max(run.glob("checkpoints/step-*")).joinpath("model.safetensors").read_bytes()


def write(folder: Path, text: str = TINY) -> None:
    (folder / "tiny.toml").write_text(text)


def wait_for(condition: object, process: Started) -> None:
    """Until the condition holds or the process ends, five minutes at the most."""
    assert callable(condition)
    deadline = time.monotonic() + 300
    while not condition() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_run_folder_has_everything_the_design_names(tiny: Path) -> None:
    run = tiny / "runs/tiny"
    for name in ("config.toml", "metrics.jsonl", "curves.png", "model/README.md", WEIGHTS):
        assert (run / name).stat().st_size > 0, name
    written = {path.name for path in (run / "model").iterdir()}
    assert {
        name for name in written if not name.startswith(".")
    } == {  # an engine may keep its own form of it there
        "config.json",
        "model.safetensors",
        "source.tokenizer.json",
        "target.tokenizer.json",
        "README.md",
    }
    assert len(list(run.glob("checkpoints/step-*"))) >= 2
    assert (run / "samples/step-000024/0.png").read_bytes().startswith(b"\x89PNG")
    assert len((run / "samples/step-000024/predictions.jsonl").read_text().splitlines()) == 2
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if line["kind"] == "train"] == [4, 8, 12, 16, 20, 24]
    assert [line["step"] for line in lines if line["kind"] == "validation"] == [8, 16, 24]
    assert not any(path.suffix in (".pt", ".pkl", ".pth", ".bin") for path in run.rglob("*"))


def test_a_finished_run_is_not_trained_again(tiny: Path) -> None:
    before = newest(tiny / "runs/tiny")
    done = regard("train", "tiny.toml", folder=tiny)
    assert b"all 24 steps are done" in done.stderr
    assert newest(tiny / "runs/tiny") == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_by_a_signal_it_saves_says_how_to_go_on_and_goes_on_exactly(
    number: int, tiny: Path, tmp_path: Path
) -> None:
    write(tmp_path)
    process = start("train", "tiny.toml", folder=tmp_path)
    record = tmp_path / "runs/tiny/metrics.jsonl"
    wait_for(lambda: record.exists() and record.stat().st_size > 0, process)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 128 + number
    assert b"To go on, run the same command again" in stderr
    assert b"regard train tiny.toml" in stderr
    stopped = max(path.name for path in (tmp_path / "runs/tiny/checkpoints").glob("step-*"))
    assert stopped < "step-000024"
    done = regard("train", "tiny.toml", folder=tmp_path)
    assert f"going on from step {int(stopped[5:])}".encode() in done.stderr
    assert newest(tmp_path / "runs/tiny") == newest(tiny / "runs/tiny")
    assert (tmp_path / "runs/tiny" / WEIGHTS).read_bytes() == (tiny / "runs/tiny" / WEIGHTS).read_bytes()
    figures = ("kind", "step", "loss", "gradient_norm", "exact_match")
    records = [
        [{name: json.loads(line).get(name) for name in figures} for line in text.splitlines()]
        for text in ((folder / "runs/tiny/metrics.jsonl").read_text() for folder in (tmp_path, tiny))
    ]
    assert records[0] == records[1]


def test_killed_again_and_again_it_ends_bit_identical(tiny: Path, tmp_path: Path) -> None:
    write(tmp_path)
    chance = random.Random(1)
    run = tmp_path / "runs/tiny"
    for _ in range(4):
        process = start("train", "tiny.toml", folder=tmp_path)
        before = set(run.glob("checkpoints/*"))
        wait_for(lambda before=before: set(run.glob("checkpoints/*")) - before, process)
        time.sleep(chance.random() * 0.1)
        process.kill()
        process.communicate()
        if (run / WEIGHTS).exists():
            assert library.load(run).predict("3 May 2018").text
    regard("train", "tiny.toml", folder=tmp_path)
    assert newest(run) == newest(tiny / "runs/tiny")
    assert (run / WEIGHTS).read_bytes() == (tiny / "runs/tiny" / WEIGHTS).read_bytes()


def test_a_damaged_checkpoint_is_passed_over_with_a_warning(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    damaged = max((tmp_path / "runs/tiny/checkpoints").glob("step-*")) / "optimizer.safetensors"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 4
    damaged.write_bytes(content)
    done = regard("train", "tiny.toml", folder=tmp_path)
    assert b"optimizer.safetensors has changed since it was written" in done.stderr
    assert newest(tmp_path / "runs/tiny") == newest(tiny / "runs/tiny")


def test_a_flipped_bit_in_the_best_checkpoint_never_reaches_the_model(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    run = tmp_path / "runs/tiny"
    best = json.loads((max(run.glob("checkpoints/step-*")) / "state.json").read_text())["best"]["step"]
    damaged = run / f"checkpoints/step-{best:06d}/model.safetensors"
    content = bytearray(damaged.read_bytes())
    content[-5] ^= 1
    damaged.write_bytes(content)
    before = (run / WEIGHTS).read_bytes()
    done = regard("train", "tiny.toml", folder=tmp_path)
    assert b"has changed since it was written" in done.stderr
    assert (run / WEIGHTS).read_bytes() == before


def test_a_first_try_that_failed_can_be_mended_in_the_same_folder(tmp_path: Path) -> None:
    write(tmp_path)
    regard("train", "tiny.toml", "--set", "data.train=missing.tsv", folder=tmp_path, code=2)
    regard("train", "tiny.toml", "--set", "training.steps=3", folder=tmp_path)


def test_own_pairs_in_every_form_are_trained_on(tmp_path: Path) -> None:
    write(tmp_path)
    rows = [
        (f"{day} mai {year}", f"{year}-05-{day:02}") for year in (1999, 2000, 2001) for day in range(1, 29)
    ]
    text = "".join(json.dumps({"von": source, "nach": target}) + "\n" for source, target in rows)
    (tmp_path / "pairs.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    for name, side in (("a.src", 0), ("a.tgt", 1)):
        (tmp_path / name).write_text("".join(f"{row[side]}\n" for row in rows[:10]))
    changes = [
        "data.train=pairs.jsonl.gz",
        "data.source_field=von",
        "data.target_field=nach",
        "data.validation={source='a.src', target='a.tgt'}",
        "data.test_size=7",
        "text.shared=true",
        "text.source.kind=bpe",
        "text.source.vocabulary=300",
        "training.steps=2",
    ]
    done = regard(
        "train", "tiny.toml", *(word for change in changes for word in ("--set", change)), folder=tmp_path
    )
    assert b"10 training pairs are left out: validation or test has the same" in done.stderr
    assert b"train: 67 pairs" in done.stderr
    assert (tmp_path / "runs/tiny/model/tokenizer.json").exists()
    regard("evaluate", "runs/tiny", folder=tmp_path)
    data = json.loads((tmp_path / "runs/tiny/model/config.json").read_text())["data"]
    assert {name: split["pairs"] for name, split in data.items()} == {
        "train": 67,
        "validation": 10,
        "test": 7,
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["data.validation=rows.tsv"], "without data.train"),
        (["data.train=rows.tsv", "data.validation=nothing.tsv"], "nothing.tsv: no pair to work with"),
    ],
)
def test_own_pairs_are_never_silently_replaced(changes: list[str], words: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "rows.tsv").write_text("a\tb\n" * 50)
    (tmp_path / "nothing.tsv").write_text("")
    options = [word for change in changes for word in ("--set", change)]
    assert words in sentence(regard("train", "tiny.toml", *options, folder=tmp_path, code=2))


def test_another_configuration_in_the_same_run_is_refused_with_the_difference(tiny: Path) -> None:
    done = regard("train", "tiny.toml", "--set", "training.seed=2", folder=tiny, code=2)
    assert "training.seed: 1 -> 2" in sentence(done)
    assert "--run" in sentence(done)


def test_a_longer_training_goes_on_with_the_bits_of_one_that_was_longer_from_the_start(
    tiny: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny / "runs", tmp_path / "runs")
    (tmp_path / "tiny.toml").write_text(TINY)
    longer = ["--set", "training.steps=30"]
    done = regard("train", "tiny.toml", *longer, folder=tmp_path)
    assert b"changed since it was started: training.steps: 24 -> 30" in done.stderr
    assert "training.steps: 24 -> 30" in (tmp_path / "runs/tiny/notes.txt").read_text()
    regard("train", "tiny.toml", *longer, "--run", "runs/straight", folder=tmp_path)
    last = "checkpoints/step-000030/model.safetensors"
    assert (tmp_path / "runs/tiny" / last).read_bytes() == (tmp_path / "runs/straight" / last).read_bytes()


def test_a_search_that_was_chosen_later_is_kept_and_scored_again(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny / "runs", tmp_path / "runs")
    (tmp_path / "tiny.toml").write_text(TINY)
    weights = (tmp_path / "runs/tiny" / WEIGHTS).read_bytes()
    done = regard("train", "tiny.toml", "--set", "search.beam=3", folder=tmp_path)
    assert b"Scoring it on the test pairs" in done.stderr
    assert json.loads((tmp_path / "runs/tiny/model/config.json").read_text())["config"]["search"]["beam"] == 3
    assert (tmp_path / "runs/tiny" / WEIGHTS).read_bytes() == weights


def test_other_data_in_the_same_run_is_refused_with_the_difference(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    lines = [f"{day} may 2018\t2018-05-{day:02}\n" for day in range(1, 29)]
    pairs.write_text("".join(lines))
    changes = ["data.train=pairs.tsv", "data.validation_size=3", "data.test_size=3", "training.steps=2"]
    arguments = ["train", "tiny.toml", *(word for change in changes for word in ("--set", change))]
    write(tmp_path)
    regard(*arguments, folder=tmp_path)
    regard("evaluate", "runs/tiny", folder=tmp_path)
    pairs.write_text("".join([*lines, "29 may 2018\t2018-05-29\n"]))
    done = regard(*arguments, folder=tmp_path, code=2)
    assert "train had 22 pairs then and has 23 now" in sentence(done)
    pairs.write_text("".join(lines[:14]))
    done = regard("evaluate", "runs/tiny", folder=tmp_path, code=2)
    assert "test pairs are not the ones" in sentence(done)


def test_a_second_process_in_the_same_run_is_refused(tmp_path: Path) -> None:
    write(tmp_path, TINY.replace("steps = 24", "steps = 100000"))
    process = start("train", "tiny.toml", folder=tmp_path)
    try:
        wait_for((tmp_path / "runs/tiny/checkpoints").exists, process)
        done = regard("train", "tiny.toml", folder=tmp_path, code=2)
        assert f"process {process.pid} is training here already" in sentence(done)
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


def test_a_full_disk_loses_nothing(tiny: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk: small ones fit, checkpoints do not."""
    write(tmp_path)
    done = subprocess.run(
        command("train", "tiny.toml"),
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000)),
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert "File too large" in sentence(done)
    assert "intact" in sentence(done)
    assert list((tmp_path / "runs/tiny/checkpoints").iterdir()) == []
    regard("train", "tiny.toml", folder=tmp_path)
    assert newest(tmp_path / "runs/tiny") == newest(tiny / "runs/tiny")


def test_a_full_file_system_loses_nothing(tiny: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=180k", "tmpfs", disk], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs to be root")
    try:
        write(disk)
        done = regard("train", "tiny.toml", folder=disk, code=2)
        assert "No space left" in sentence(done)
        subprocess.run(["mount", "-o", "remount,size=50m", disk], check=True)
        regard("train", "tiny.toml", folder=disk)
        assert newest(disk / "runs/tiny") == newest(tiny / "runs/tiny")
    finally:
        subprocess.run(["umount", disk], check=True)
