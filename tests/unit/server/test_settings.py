"""Limits from a command line, names of models."""

import re
from pathlib import Path

import pytest
from serving import untrained

from regard.core.errors import UserError
from regard.server.served import load_models, named_runs
from regard.server.settings import Limits, parse_limits
from regard.tasks.captions import PictureCodec
from regard.tasks.codec import Sources
from regard.tasks.sight import Sight
from regard.tasks.text import TextCodec


def test_limits_are_read_by_name() -> None:
    found = parse_limits(["beam=4", "deadline_seconds=2.5"])
    assert (found.beam, found.deadline_seconds) == (4, 2.5)
    assert parse_limits([]) == Limits()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("beam", "Write it as NAME=VALUE"),
        ("baem=4", "Did you mean 'beam'?"),
        ("beam=many", "beam can't be 'many'"),
        ("beam=0", "beam can't be '0'"),
        ("deadline_seconds=nan", "deadline_seconds can't be 'nan'"),
        ("queue=1e99", "queue can't be"),
    ],
)
def test_what_is_no_limit_is_told(change: str, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        parse_limits([change])


BY_MODELS = "1,000,000; 16,000,000 where a model reads pictures"  # of a body's bytes


def test_every_limit_is_bounded_and_told_of_in_the_document() -> None:
    page = (Path(__file__).parents[3] / "docs" / "serve.md").read_text(encoding="utf-8")
    for name, field in Limits.model_fields.items():
        bounds = {type(one).__name__ for one in field.metadata}
        assert bounds & {"Ge", "Gt"}, name
        assert bounds & {"Le", "Lt"}, name
        default = f"{field.default:,}" if isinstance(field.default, int) else f"{field.default or 0:g}"
        default = BY_MODELS if name == "body_bytes" else default
        assert re.search(rf"\| `{name}` \| {re.escape(default)} \|", page), name


def test_a_body_may_be_as_large_as_the_document_says() -> None:
    texts, pictures = (int(number.replace(",", "")) for number in re.findall(r"[\d,]+\d", BY_MODELS))
    assert (Sources("text").request_bytes, TextCodec.sources.request_bytes) == (texts, texts)
    sight = Sight("pixels", 32, (4, 4), 8)
    assert PictureCodec(sight, None, 5).sources.request_bytes == pictures  # type: ignore[arg-type]


def test_models_are_called_like_their_folders_unless_they_are_named(tmp_path: Path) -> None:
    found = named_runs(["a/b", "c=a/b", "a/d/model", "a/d/averaged", "./e/"])
    assert found == {"b": "a/b", "c": "a/b", "d": "a/d/model", "d-averaged": "a/d/averaged", "e": "./e/"}
    odd = tmp_path / "a=b"
    odd.mkdir()
    assert named_runs([str(odd)]) == {"a=b": str(odd)}


def test_two_models_of_one_name_are_refused() -> None:
    with pytest.raises(UserError, match=r"Two models are called 'a'.*first=x/a second=y/a"):
        named_runs(["x/a", "y/a"])


def test_a_model_that_gives_no_numbers_is_found_out_before_anybody_asks(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    run = untrained(tmp_path / "broken")
    path = run / "model" / "model.safetensors"
    save_file({name: torch.full_like(one, torch.nan) for name, one in load_file(path).items()}, path)
    with pytest.raises(UserError, match="gives no numbers"):
        load_models([str(run)], "cpu")
