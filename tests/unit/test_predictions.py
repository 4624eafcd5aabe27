import json
from dataclasses import replace
from pathlib import Path

import pytest

from regard.core.prediction import AttentionRecord, Prediction, Request
from regard.predictions import Basis, Kept, basis
from regard.run import ModelFolder
from regard.search import SearchPlan

ANSWERS = [
    Prediction("a b", "x", ("x",), -0.5, AttentionRecord(("a", "b", "</s>"), ("x", "</s>"), {})),
    Prediction("c\u2028", "", (), float("-inf"), AttentionRecord(("c",), ("</s>",), {}), finished=False),
]
SOURCES = [one.source for one in ANSWERS]


@pytest.fixture
def model(tmp_path: Path) -> ModelFolder:
    folder = ModelFolder(tmp_path / "model")
    folder.folder.mkdir()
    (folder.folder / "model.safetensors").write_bytes(b"weights")
    (folder.folder / "tokenizer.json").write_text("{}")
    folder.card_path.write_text("a card")
    return folder


def kept(model: ModelFolder, sources: list[str] = SOURCES, search: SearchPlan | None = None) -> Kept:
    path = model.folder.parent / "predictions/test.jsonl"
    requests = [Request(source) for source in sources]
    return Kept(path, basis(model, requests, search or SearchPlan()))


def test_what_was_saved_comes_back(model: ModelFolder) -> None:
    kept(model).save(ANSWERS, [["x"], ["y", "z"]])
    found = kept(model).load()
    assert found is not None
    assert [(one.source, one.text, one.finished) for one in found] == [
        ("a b", "x", True),
        ("c\u2028", "", False),
    ]
    assert [len(one.attention.source_pieces) for one in found] == [3, 1]
    lines = [json.loads(line) for line in kept(model).path.read_text().split("\n")[:-1]]
    assert [(line["text"], line["references"]) for line in lines] == [("x", ["x"]), ("", ["y", "z"])]


def test_a_file_that_is_another_now_is_answered_anew(model: ModelFolder, tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    requests = [Request(str(picture)), Request("data:image/png;base64,AA"), Request("gone.png")]

    def depends() -> Basis:
        return basis(model, requests, SearchPlan(), are_files=True)

    picture.write_bytes(b"damaged")
    before = depends()
    assert depends() == before
    picture.write_bytes(b"copied again")
    assert depends() != before


def test_a_new_card_changes_nothing(model: ModelFolder) -> None:
    kept(model).save(ANSWERS, [["x"], ["y"]])
    model.card_path.write_text("another card")
    assert kept(model).load() is not None


@pytest.mark.parametrize("changed", ["model.safetensors", "tokenizer.json"])
def test_another_model_answers_anew(model: ModelFolder, changed: str) -> None:
    kept(model).save(ANSWERS, [["x"], ["y"]])
    (model.folder / changed).write_bytes(b"others")
    assert kept(model).load() is None


def test_other_sources_or_another_search_are_answered_anew(model: ModelFolder) -> None:
    kept(model).save(ANSWERS, [["x"], ["y"]])
    assert kept(model, [*SOURCES[:-1], "d"]).load() is None
    assert kept(model, search=SearchPlan(beam=2)).load() is None
    assert kept(model, search=replace(SearchPlan(), length_penalty=0.1)).load() is None


def test_another_version_answers_anew(model: ModelFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(model).save(ANSWERS, [["x"], ["y"]])
    monkeypatch.setattr("regard.predictions.__version__", "999")
    assert kept(model).load() is None


def test_lines_that_somebody_changed_or_lost_are_not_used(model: ModelFolder) -> None:
    assert kept(model).load() is None
    kept(model).save(ANSWERS, [["x"], ["y"]])
    path = kept(model).path
    whole = path.read_text()
    path.write_text(whole.replace('"text":"x"', '"text":"better"'))
    assert kept(model).load() is None
    path.write_text(whole)
    assert kept(model).load() is not None
    path.with_suffix(".json").write_text("{")
    assert kept(model).load() is None
