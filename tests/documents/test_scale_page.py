import ast
import inspect
import re
import shlex
from pathlib import Path

from torch.distributed.run import get_args_parser
from typer.testing import CliRunner

from regard import bulk
from regard.cli.app import app
from regard.config import load_config

PAGE = (Path(__file__).parent.parent.parent / "docs/scale.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]


def test_every_command_of_the_page_is_understood() -> None:
    said = CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "200"}).output
    started = 0
    for program, *words in COMMANDS:
        if program == "torchrun":
            read = get_args_parser().parse_args(words)
            assert read.module
            program, words = read.training_script, read.training_script_args
            started += 1
        assert (program, words[0]) == ("regard", "train")
        assert all(word in said for word in words if word.startswith("-")), words
        load_config(words[1], [words[words.index("--set") + 1]] if "--set" in words else [])
    assert started == 3


def test_what_it_calls_for_bulk_prediction_is_there() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    calls = [
        node
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    ours = [call for call in calls if getattr(call.func.value, "id", "") == "bulk"]
    assert {call.func.attr for call in ours} == {"lines", "predict"}
    for call in ours:
        given = {word.arg: None for word in call.keywords}
        inspect.signature(getattr(bulk, call.func.attr)).bind(*call.args, **given)
