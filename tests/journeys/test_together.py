"""`regard train` in several processes: as torchrun starts them, and torchrun itself."""

import json
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import forked
import pytest
from commands import TINY, environment, regard
from torch.distributed import TCPStore

ENDING = Path(__file__).parent / "ending.py"
LOST = "Error: Another process of this training has ended"
STILL = TINY.replace("dropout = 0.2", "dropout = 0.0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a training without chance and one with dropout."""
    made = tmp_path_factory.mktemp("together")
    (made / "still.toml").write_text(STILL + "at_end = false\n")
    (made / "tiny.toml").write_text(TINY + "at_end = false\n")
    return made


@pytest.fixture(scope="module")
def place(folder: Path) -> Path:
    """Where one process has trained alone, and two have without being disturbed."""
    regard("train", "still.toml", "--run", "alone", folder=folder)
    regard_twice("train", "still.toml", "--run", "still", folder=folder)
    regard_twice("train", "tiny.toml", "--run", "straight", folder=folder)
    return folder


def regard_twice(
    *arguments: str, folder: Path, words: Sequence[str] = ("-m", "regard"), code: int = 0
) -> list[str]:
    """What each of two processes said that know of each other what torchrun would tell them."""
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # torchrun has it too
    told = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "WORLD_SIZE": "2",
        "TORCHELASTIC_RUN_ID": "a test",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }
    started = [
        forked.Started(
            [*words, *arguments],
            folder=folder,
            environment={
                **environment(),
                **told,
                "RANK": rank,
                "LOCAL_RANK": rank,
                "TORCHELASTIC_RUN_ID": "a",
            },
        )
        for rank in ("0", "1")
    ]
    said = [one.communicate(timeout=300)[1].decode() for one in started]
    assert [one.returncode for one in started] == [code, code], said
    assert not any("Traceback" in one for one in said), said
    return said


def torchrun(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[bytes]:
    words = ["-m", "torch.distributed.run", "--nproc-per-node", "2", *map(str, arguments)]
    quiet = {**environment(), "PYTHONWARNINGS": ""}  # torchrun's own are not ours to mend
    return forked.run(words, folder=folder, environment=quiet, timeout=300)


def lines(run: Path, kind: str) -> list[dict[str, float]]:
    found = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line for line in found if line["kind"] == kind]


def bits(run: Path) -> dict[str, bytes]:
    """All that going on depends on, but the clock."""
    kept = {path: path.read_bytes() for path in sorted((run / "checkpoints").glob("*/*.safetensors"))}
    state = json.loads((max((run / "checkpoints").iterdir()) / "state.json").read_text())
    assert len(state["rng"]) == 2
    known = {str(path.relative_to(run)): content for path, content in kept.items()}
    return {**known, "chance": json.dumps(state["rng"]).encode()}


def test_two_processes_take_the_steps_that_one_takes(place: Path) -> None:
    for kind in ("train", "validation"):
        one, two = (lines(place / run, kind) for run in ("alone", "still"))
        assert [line["step"] for line in two] == [line["step"] for line in one]
        assert [line["loss"] for line in two] == pytest.approx([line["loss"] for line in one], rel=1e-4)
        for name in {"tokens", "gradient_norm", "character_error_rate"} & one[0].keys():
            assert [line[name] for line in two] == pytest.approx([line[name] for line in one], rel=1e-4)


def test_a_killed_process_ends_all_and_the_same_command_of_torchrun_goes_on_exactly(place: Path) -> None:
    command = ("train", "still.toml", "--run", "killed")
    done = torchrun(ENDING, "--", "killed", *command, folder=place)
    assert done.returncode == 1
    said = done.stderr.decode()
    assert said.count(LOST) == said.count("Error: ") - said.count("ChildFailedError: "), said
    assert said.count(LOST) == 1, said
    run = place / "killed"
    assert sorted(path.name for path in (run / "checkpoints").iterdir()) == ["step-000008", "step-000009"]
    done = torchrun("-m", "--", "regard", *command, folder=place)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr.count(b"going on from step 9") == 1
    assert bits(run) == bits(place / "still")
    assert (run / "model/model.safetensors").read_bytes() == (
        place / "still/model/model.safetensors"
    ).read_bytes()


def test_one_that_is_asked_to_stop_stops_all_and_they_go_on_exactly(place: Path) -> None:
    command = ("train", "tiny.toml", "--run", "stopped")
    first, second = regard_twice(
        "stopped", *command, folder=place, words=[str(ENDING)], code=128 + signal.SIGTERM
    )
    assert "Stopped and saved at step 11." in first
    assert "torchrun ... -m regard train tiny.toml --run stopped" in first
    assert not second
    first, second = regard_twice(*command, folder=place)
    assert "going on from step 11" in first
    assert not second
    assert bits(place / "stopped") == bits(place / "straight")


def test_processes_draw_apart(place: Path) -> None:
    state = json.loads((max((place / "straight/checkpoints").iterdir()) / "state.json").read_text())
    assert set(state["rng"]) == {"cpu", "cpu 1"}
    assert state["rng"]["cpu"] != state["rng"]["cpu 1"]


def test_another_number_of_processes_goes_on_with_the_same_batches(place: Path) -> None:
    command = ("train", "still.toml", "--run", "fewer")
    regard_twice("stopped", *command, folder=place, words=[str(ENDING)], code=128 + signal.SIGTERM)
    said = regard(*command, folder=place).stderr.decode()
    assert "saved by 2 processes, going on with 1" in said
    one, two = (lines(place / run, "train") for run in ("alone", "fewer"))
    assert [line["tokens"] for line in two] == [line["tokens"] for line in one]
    assert [line["loss"] for line in two] == pytest.approx([line["loss"] for line in one], rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["data.train=nowhere.tsv"], "nowhere.tsv"),  # found by the first, while the other waits
        (["training.stepz=3"], "training.stepz"),  # found by both
    ],
)
def test_an_error_is_said_once(changes: list[str], said: str, folder: Path) -> None:
    words = [word for change in changes for word in ("--set", change)]
    both = "".join(regard_twice("train", "tiny.toml", "--run", "wrong", *words, folder=folder, code=2))
    assert both.count("Error:") == 1, both
    assert said in both
