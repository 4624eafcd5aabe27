"""The benchmark against the peers: what it counts is right, and every system keeps the contract. No peer is needed."""

import ast
import json
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

PEERS = Path(__file__).parent.parent.parent / "benchmarks" / "peers"
SYSTEMS = sorted((PEERS / "systems").glob("*.py"))


@pytest.fixture(scope="module")
def peers() -> dict[str, ModuleType]:
    """Its modules, which know each other by their plain names."""
    import importlib

    names = ["contract", "arithmetic", "environments", "data", "machine"]
    names += ["worker", "teams", "measuring", "preparing"]
    before = set(sys.modules)
    sys.path.insert(0, str(PEERS))
    try:
        return {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(PEERS))
        for name in set(sys.modules) - before:
            if name in names:
                del sys.modules[name]


def test_a_batch_counts_pieces_and_ends_but_no_padding(peers: dict[str, Any]) -> None:
    batch = peers["contract"].Batch([[7, 8, 9], [7]], [[4, 5], [6]])
    assert batch.tokens == 5
    assert peers["contract"].padded(batch.targets, 0, first=1, last=2) == [[1, 4, 5, 2], [1, 6, 2, 0]]


def test_batches_hold_every_pair_once_and_about_as_many_pieces_as_asked(peers: dict[str, Any]) -> None:
    pairs = [([number + 4], list(range(4, 4 + length))) for number, length in enumerate([3, 9, 1, 5] * 30)]
    made = peers["data"].batches(pairs, 40, random.Random(1))
    assert all(40 <= batch.tokens < 50 for batch in made)
    told = [source[0] for batch in made for source in batch.sources]
    assert len(set(told)) == len(told)
    assert len(told) > 100  # what does not fill a batch is left


def test_products_of_a_step_are_those_of_its_matrices(peers: dict[str, Any]) -> None:
    """One layer of width 2, inner 3, on a source of two places and a target of one; by hand.

    Own look 4·2·2, thinking 2·2·3: 28 for each of three places; across 2·2·2 for the target and for each place of the
    source: 24; looks (2·2 + 1·1 + 2·1)·2·2 = 28; the head 1·2·10,000.
    """
    contract = peers["contract"]
    shape = contract.Shape("small", layers=1, width=2, inner=3)
    forward = 3 * 28 + 24 + 28 + 20_000
    counted = peers["arithmetic"].products(shape, contract.Batch([[5]], [[]]))
    assert counted == 3 * 2 * forward


def test_rates_medians_and_slopes_are_right(peers: dict[str, Any]) -> None:
    arithmetic = peers["arithmetic"]
    rounds = [{"tokens": 100, "seconds": 2}, {"tokens": 100, "seconds": 1}, {"tokens": 30, "seconds": 1}]
    assert arithmetic.rates(rounds, "tokens") == [50, 100, 30]
    assert arithmetic.middle([50, 100, 30]) == 50
    assert arithmetic.paired([10, 30, 20], [10, 10, 5]) == 3
    assert arithmetic.slope([(1, 5), (2, 7), (4, 11)]) == pytest.approx(2)
    assert arithmetic.table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | --: |\n| x | 1 |"


def test_the_table_of_answers_compares_with_the_fastest_peer_in_torch(peers: dict[str, Any]) -> None:
    def rounds(rate: float) -> list[dict[str, Any]]:
        each = {"sentences": rate, "seconds": 1.0, "peak": 2**20}
        return [{f"{batch} {beam}": each for batch, beam in peers["measuring"].WAYS}] * 3

    figures = {
        "Regard float32": rounds(30),
        "fairseq": rounds(20),
        "CTranslate2 float32": rounds(60),
        "Marian float32, workers": rounds(50),
    }
    told = peers["measuring"].decoded(figures, {"eole": "could not be installed"}).splitlines()
    assert told[2].count("30.0 (1.50)") == 4
    assert told[3].count("| 20.0 ") == told[4].count("| 60.0 ") == told[5].count("| 50.0 ") == 4
    assert told[6].endswith("could not be installed |")


def test_steps_are_timed_here_unless_a_system_tells_its_own_time(peers: dict[str, Any]) -> None:
    contract, worker = peers["contract"], peers["worker"]
    batch = contract.Batch([[7], [8]], [[4, 5], [6]])

    def trained(step: Any) -> dict[str, Any]:
        child = worker.Child(SimpleNamespace(trainer=lambda shape: step), [batch], [], threads=1)
        child.trainer("tiny")
        told: dict[str, Any] = child.train([0, 0])
        return told

    own = trained(lambda batch: contract.Timed(loss=8.5, seconds=100.0))
    assert (own["seconds"], own["tokens"], own["loss"]) == (200.0, 10, 8.5)
    measured = trained(lambda batch: 9.2)
    assert measured["seconds"] < 100
    assert measured["loss"] == 9.2


def test_what_is_built_comes_after_what_it_is_built_with(peers: dict[str, Any]) -> None:
    told = "a==1\n\n# a remark\nb==2\n# built here, with the others\nc==3\n"
    assert peers["environments"].parts(told) == [["a==1", "b==2"], ["c==3"]]


@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.stem)
def test_a_system_keeps_the_contract(
    path: Path, peers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "contract", peers["contract"])
    system = peers["worker"].load(path)  # nothing of the peer is imported before it starts
    assert system.TITLE
    assert set(system.TRAINS) <= set(peers["contract"].SHAPES)
    assert system.LACKS or set(system.TRAINS) == set(peers["contract"].SHAPES)
    assert all(callable(getattr(system, name)) for name in ("start", "trainer"))
    assert not system.DECODERS or callable(system.decoder)
    if system.ENVIRONMENT != "regard":
        lines = (PEERS / "requirements" / f"{system.ENVIRONMENT}.txt").read_text().splitlines()
        assert {line for line in lines if line.startswith("torch==")} <= {"torch==2.13.0"}  # Marian has none
        assert all("==" in line for line in lines if line and not line.startswith("#"))


def test_figures_are_written_between_the_marks_of_the_page(
    peers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, module in peers.items():
        monkeypatch.setitem(sys.modules, name, module)
    whole = peers["worker"].load(PEERS / "__main__.py")
    page = (PEERS.parent.parent / "docs" / "speed.md").read_text()
    written = whole.between_marks(page, "| new |")
    assert written.count("| new |") == 1
    assert whole.between_marks(written, "| newer |") == whole.between_marks(page, "| newer |")
    assert written.partition(whole.FIRST)[0] == page.partition(whole.FIRST)[0]
    assert written.partition(whole.LAST)[2] == page.partition(whole.LAST)[2]


def test_what_every_environment_imports_needs_the_standard_library_alone() -> None:
    for name in ("contract.py", "worker.py"):
        tree = ast.parse((PEERS / name).read_text())
        imported = {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        known = sys.stdlib_module_names | {"contract"}
        assert {module.partition(".")[0] for module in imported} <= known


def test_its_help_names_every_part_and_system() -> None:
    printed = subprocess.run(
        [sys.executable, str(PEERS), "--help"], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    parts = ("training", "decoding", "startup", "growth", "preparation")
    for word in (*parts, "--rounds", *(path.stem for path in SYSTEMS)):
        assert word in printed


DEADLY = """
import os, signal
def start(): pass
def trainer(shape): return lambda batch: 1.0 if len(batch.sources) > 1 else os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_is_told_and_the_next_model_is_asked(tmp_path: Path) -> None:
    (tmp_path / "system.py").write_text(DEADLY)
    batches = [[[[4], [5]], [[6], [7]]], [[[4]], [[6]]]]
    (tmp_path / "data.json").write_text(json.dumps({"batches": batches, "sources": []}))
    lines = [{"do": "open"}, {"do": "trainer", "shape": "tiny"}, {"do": "train", "numbers": [0]}]
    lines += [{"do": "train", "numbers": [1]}, {"do": "close"}, *lines, {"do": "close"}]
    command = [
        sys.executable,
        str(PEERS / "worker.py"),
        str(tmp_path / "system.py"),
        str(tmp_path / "data.json"),
        "1",
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers = [json.loads(process.stdout.readline())]
    for line in lines:
        process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        answers.append(json.loads(process.stdout.readline()))
    process.stdin.close()
    process.stdout.close()
    assert process.wait() == 0
    problems = [number for number, answer in enumerate(answers) if "error" in answer]
    assert problems == [4]
    assert "killed" in answers[4]["error"]
    assert answers[8]["tokens"] == 4


@pytest.mark.parametrize(("room", "begun"), [(100, 1), (3, 4)], ids=["for all", "for some"])
def test_where_not_all_fit_each_is_made_ready_in_every_round(
    room: int, begun: int, peers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    measuring, open_now, times = peers["measuring"], set(), []
    monkeypatch.setattr(measuring, "available", lambda: room - len(open_now))

    def entry(name: str) -> SimpleNamespace:
        def begin() -> None:
            times.append(name)
            open_now.add(name)

        system = SimpleNamespace(begin=begin, end=lambda: open_now.discard(name))
        return SimpleNamespace(title=name, system=system)

    entries = [entry(name) for name in "abc"]
    found, reasons = measuring._alternate(entries, lambda _: 1, lambda _: 1, lambda one, n: (one.title, n), 3)
    assert found == {name: [(name, n) for n in range(3)] for name in "abc"}
    assert not reasons
    assert not open_now
    assert times.count("a") == begun


class Pretended:
    """A system in this process, that does nothing and tells as much as its share of a batch has."""

    name, title = "regard_itself", "Regard"

    def __init__(self, peers: dict[str, Any]):
        contract = peers["contract"]
        batch = contract.Batch([[7]] * 8, [[4, 5, 6]] * 8)
        answers = lambda sources, batch, beam, steps: [steps] * len(sources)  # noqa: E731
        system = SimpleNamespace(trainer=lambda shape: lambda batch: 1.0, decoder=lambda shape, way: answers)
        self.child = peers["worker"].Child(system, [batch] * 3, [[7]] * 20, threads=1)
        self.asked: list[str] = []

    def begin(self) -> None:
        self.asked.append("begin")

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        self.asked.append(do)
        told: dict[str, Any] = getattr(self.child, do)(**arguments)
        return told

    def end(self) -> None:
        self.asked.append("end")


def test_growth_tells_steps_and_memory_over_shares_of_a_batch(peers: dict[str, Any]) -> None:
    system = Pretended(peers)
    found = peers["measuring"].growth([system], SimpleNamespace(rounds=2), None)
    assert list(found.figures["seconds"]) == [16, 32, 64, 128, 256]
    assert list(found.figures["peaks"]) == [
        8,
        16,
        32,
    ]  # tokens: a quarter, a half and all of eight rows of four
    assert "milliseconds a step" in found.told
    assert system.asked.count("begin") == system.asked.count("end") == 4


def test_who_answers_in_a_moment_is_asked_for_more(peers: dict[str, Any]) -> None:
    def counts(rate: float, count: int = 12) -> list[int]:
        asked = []

        def ask(do: str, *, count: int, **how: Any) -> dict[str, Any]:
            asked.append(count)
            return {"seconds": count / rate, "sentences": count}

        found = peers["measuring"].answered(SimpleNamespace(ask=ask), count, batch=1, beam=1)
        assert found["sentences"] == asked[-1]
        return asked

    assert counts(10) == [12]
    assert counts(40) == [12, 48]
    assert counts(4000) == [12, 768]
    assert counts(4000, 900) == [900, 900]


def test_the_seconds_of_preparation_are_those_of_its_stage(peers: dict[str, Any]) -> None:
    printed = "| encode, store | 5.0 | 60 |\n| all | 12.5 | 24 | 1.0 |\n| second start | 0.6 | 500 |\n"
    assert peers["preparing"].seconds(printed, "all") == 12.5
    assert peers["preparing"].seconds(printed, "second start") == 0.6
    with pytest.raises(ValueError, match="no stage 'none'"):
        peers["preparing"].seconds(printed, "none")


def test_ratios_of_answers_are_medians_over_rounds(peers: dict[str, Any]) -> None:
    def rounds(*seconds: float) -> list[dict[str, Any]]:
        ways = [f"{batch} {beam}" for batch, beam in peers["measuring"].WAYS]
        return [{way: {"sentences": 10, "seconds": one, "peak": 0} for way in ways} for one in seconds]

    figures = {"Regard float32": rounds(1, 2, 4), "fairseq": rounds(4, 2, 4)}
    told = peers["measuring"].decoded(figures, {}).splitlines()
    assert told[2].count("5.0 (1.00)") == 4  # of 4, 1 and 1; the ratio of the medians, 5.0 and 2.5, is 2
