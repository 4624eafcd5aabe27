"""Public data as a person comes to it: listed, fetched without a network, and found by recipes."""

import os
import re
import shutil
import socket
from pathlib import Path

import pytest
from commands import regard, sentence

from regard.config import load_config, recipes
from regard.data.sets import DATA_SETS

REAL = os.environ.get("REGARD_DATA")  # before a test hides it
PAGE = (Path(__file__).parent.parent.parent / "docs/data.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of data; every connection of a process started here is refused."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_the_list_tells_licences_and_what_is_here(folder: Path, tmp_path: Path) -> None:
    (folder / "cmudict").mkdir(parents=True)
    (folder / "cmudict/dev.txt").write_text("A  AH\n")
    said = regard("data", folder=tmp_path).stdout.decode()
    for name, one in DATA_SETS.items():
        (line,) = [line for line in said.splitlines() if line.startswith(f"{name} ")]
        assert one.licence in line
        assert one.about in line
        assert f"{1 if name == 'cmudict' else 0} of {len(one.parts)} files" in line
    assert str(folder) in said


def test_without_a_network_it_is_said_where_the_files_can_be_put_by_hand(
    folder: Path, tmp_path: Path
) -> None:
    done = regard("data", "cmudict", folder=tmp_path, code=2)
    said = sentence(done)
    assert "could not be fetched (Connection refused)" in said
    assert f"by hand into {folder / 'cmudict'}: train.txt, dev.txt, test.txt." in said
    assert DATA_SETS["cmudict"].licence in done.stderr.decode()
    assert not folder.exists()


def test_nothing_that_is_tested_reaches_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that all other journeys, which train, answer, explain and export, show that they work offline."""
    with pytest.raises(OSError, match="tests have no network"):
        socket.create_connection(("8.8.8.8", 443), timeout=1)
    with pytest.raises(socket.gaierror, match="tests have no network"):
        socket.create_connection(("example.org", 443), timeout=1)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    assert "tests have no network" in sentence(regard("data", "cmudict", folder=tmp_path, code=2))


def test_a_set_that_nobody_knows_gets_the_nearest_name(folder: Path, tmp_path: Path) -> None:
    assert "Did you mean 'multi30k'?" in sentence(regard("data", "multi30", folder=tmp_path, code=2))


def test_files_that_were_put_there_by_hand_are_checked_and_kept(folder: Path, tmp_path: Path) -> None:
    if REAL is None or not Path(REAL, "cmudict/train.txt").exists():
        pytest.skip("REGARD_DATA names no folder with cmudict")
    shutil.copytree(Path(REAL, "cmudict"), folder / "cmudict")
    done = regard("data", "cmudict", folder=tmp_path)
    assert done.stdout.decode() == f"All 3 files are in {folder / 'cmudict'}.\n"
    assert done.stderr.decode().count("was here already (as published)") == 3


def test_what_recipes_learn_from_is_what_the_sets_bring_or_the_page_asks_for() -> None:
    brought = {f"$REGARD_DATA/{name}/{part.name}" for name, one in DATA_SETS.items() for part in one.parts}
    asked = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \| (.*?) \|$", PAGE, flags=re.MULTILINE)
    assert {recipe for recipe, _, _ in asked} <= recipes().keys()
    brought |= {
        f"$REGARD_DATA/{folder}/{name}" for _, folder, names in asked for name in re.findall("`(.*?)`", names)
    }
    for recipe in recipes():
        document = load_config(recipe).data.model_dump_json()
        assert set(re.findall(r"\$REGARD_DATA/[^\"]+", document)) <= brought


def test_the_page_tells_of_every_set() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| (\d+) \| (.*?) \| (.*?) \|$", PAGE, flags=re.MULTILINE)
    assert rows == [(name, str(len(one.parts)), one.about, one.licence) for name, one in DATA_SETS.items()]
