"""Imports point downwards only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import regard

PACKAGE = Path(regard.__file__).parent

# A part may import the parts of the lines above its own, and itself.
ORDER = [
    ["core"],
    ["layers"],
    ["text", "metrics", "attention", "search", "viewing"],
    ["encoders", "decoders", "data"],
    ["models", "records", "alignments"],
    ["answers"],
    ["training"],
    ["tasks"],
    ["config"],
    ["run", "card"],
    ["predictions"],
    ["build"],
    ["engines"],
    ["predictor", "starting"],
    ["forcing", "validating", "bulk", "crowd"],
    ["beside"],
    ["evaluation", "trainer", "averaging", "shortlisting"],
    ["report"],
    ["comparing", "server"],
    ["cli"],
]
RANK = {part: number for number, parts in enumerate(ORDER) for part in parts}
MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            if node.module == "regard":
                yield from (f"regard.{alias.name}" for alias in node.names)
            else:
                yield node.module


def own(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards_only(path: Path) -> None:
    part = own(path)
    if part in ("__init__", "__main__"):
        return
    for module in imports(path):
        if module.startswith("regard.") and (other := part_of(module)) in RANK and other != part:
            assert RANK[other] < RANK[part], f"{path.name} of {part} imports {module}"


def test_every_part_has_its_place_in_the_order() -> None:
    assert {own(path) for path in MODULES} - {"__init__", "__main__"} == set(RANK)


@pytest.mark.parametrize("path", sorted((PACKAGE / "text").rglob("*.py")), ids=lambda path: path.name)
def test_text_knows_no_torch(path: Path) -> None:
    assert not any(module.split(".")[0] == "torch" for module in imports(path))


@pytest.mark.parametrize("path", sorted((PACKAGE / "search").rglob("*.py")), ids=lambda path: path.name)
def test_search_knows_no_model(path: Path) -> None:
    known = [module for module in imports(path) if module.startswith("regard.")]
    assert all(part_of(module) in ("core", "search") for module in known)
    assert "isinstance(" not in path.read_text()


def test_only_the_command_line_prints() -> None:
    for path in MODULES:
        if own(path) != "cli":
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            names = [node.func.id for node in calls if isinstance(node.func, ast.Name)]
            assert "print" not in names, path
