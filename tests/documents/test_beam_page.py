"""What the page on the tree of a beam says can be typed, can be."""

import json
import re
import shlex
from pathlib import Path

import pytest
from commands import TINY, regard

from regard.viewing.tree_figure import MOST as ON_A_PICTURE
from regard.viewing.tree_page import MOST as ON_THE_PAGE
from regard.viewing.tree_terminal import MOST as IN_THE_TERMINAL

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/beam.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page's commands and program were run, on a small model."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "tiny.toml").write_text(TINY)
    (folder / "docs/images").mkdir(parents=True)
    regard("train", "tiny.toml", "--run", "runs/dates", folder=folder)
    (commands,) = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in commands.splitlines():
        _, *words = shlex.split(line, comments=True)
        if words != ["train", "dates"]:  # a smaller one stands for it
            regard(*words, folder=folder)
    return folder


def test_the_commands_and_the_program_of_the_page_write_what_it_says(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    monkeypatch.chdir(home)
    exec(program, {})
    assert (home / "docs/images/beam.png").read_bytes().startswith(b"\x89PNG")
    assert 'role="treeitem"' in (home / "beam.html").read_text(encoding="utf-8")


def test_the_table_of_the_page_lists_the_fields_of_a_node(home: Path) -> None:
    node = json.loads((home / "beam.json").read_text(encoding="utf-8"))["beam"][0]
    assert re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE) == list(node)


def test_the_page_states_the_bounds() -> None:
    bounds = f"At most {IN_THE_TERMINAL} hypotheses are shown there, {ON_THE_PAGE:,} on the page and {ON_A_PICTURE} on"
    assert bounds in PAGE.replace("\n", " ")
