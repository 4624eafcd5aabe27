"""Exported folders appear whole or not at all, and nothing else is lost for them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from untrained import sources, transformer_changes, write_model

import regard
from regard import UserError
from regard.crowd import Crowd
from regard.engines import export, exporting, find_export
from regard.engines.folders import CACHE

pytest.importorskip("ctranslate2")

ASKED = sources(12)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "runs/x/model", transformer_changes())


def answers(path: Path, **options: str) -> list[str]:
    return [one.text for one in regard.load(path, **options).predict(ASKED, attention="none")]


def cached(model: Path) -> list[Path]:
    return sorted((model / CACHE).glob("ctranslate2*"))


def test_what_was_exported_is_all_that_is_needed(model: Path, tmp_path: Path) -> None:
    expected = answers(model)
    made = export(model.parent, to="ctranslate2", output=tmp_path / "out")
    shutil.rmtree(model)
    assert answers(tmp_path / "out") == expected
    assert not (tmp_path / "out/model.safetensors").exists()
    assert find_export(tmp_path / "out") == made


def test_without_an_output_it_stands_beside_the_run(model: Path, tmp_path: Path) -> None:
    assert export(model.parent, to="ctranslate2").folder == tmp_path / "runs/x-ctranslate2"
    assert export(model, to="ctranslate2").folder == tmp_path / "runs/x-ctranslate2"


def test_int8_is_smaller(model: Path, tmp_path: Path) -> None:
    sizes = [
        (
            export(model, to="ctranslate2", output=tmp_path / kind, compute_type=kind).files / "model.bin"
        ).stat()
        for kind in ("float32", "int8")
    ]
    assert sizes[1].st_size < sizes[0].st_size
    assert regard.load(tmp_path / "int8").predict(ASKED[0], min_length=2).text


def test_an_earlier_export_is_replaced_and_nothing_else_is(model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    export(model, to="ctranslate2", output=tmp_path / "empty")
    (tmp_path / "empty/stray").write_text("of an earlier export")
    export(model, to="ctranslate2", output=tmp_path / "empty")
    assert not (tmp_path / "empty/stray").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")
    for output in (mine, mine / "thesis.txt"):
        with pytest.raises(UserError, match="no earlier export"):
            export(model, to="ctranslate2", output=output)
    assert (mine / "thesis.txt").read_text() == "mine"


def test_an_export_that_fails_leaves_nothing_and_the_earlier_one(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(model, to="ctranslate2", output=tmp_path / "out")
    before = answers(tmp_path / "out")

    def half(*_: object) -> dict[str, object]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "_write", half)
    for output in ("out", "new"):
        with pytest.raises(OSError, match="No space"):
            export(model, to="ctranslate2", output=tmp_path / output)
    assert answers(tmp_path / "out") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "runs"]


def test_a_run_is_translated_once_and_again_when_its_weights_change(model: Path) -> None:
    first = answers(model, engine="ctranslate2")
    (made,) = cached(model)
    when = (made / "ctranslate2/model.bin").stat().st_mtime_ns
    assert answers(model, engine="ctranslate2") == first
    assert (made / "ctranslate2/model.bin").stat().st_mtime_ns == when
    write_model(model, transformer_changes(), seed=1)
    second = answers(model, engine="ctranslate2")
    assert second == answers(model) != first
    assert len(cached(model)) == 1


def test_what_is_damaged_in_the_cache_is_made_again(model: Path) -> None:
    first = answers(model, engine="ctranslate2")
    (made,) = cached(model)
    (made / "export.json").write_text("{")
    assert answers(model, engine="ctranslate2") == first
    (made / "ctranslate2/model.bin").write_bytes(b"")
    assert answers(model, engine="ctranslate2") == first


def test_an_export_of_which_a_part_is_gone_is_told_of(model: Path, tmp_path: Path) -> None:
    out = export(model, to="ctranslate2", output=tmp_path / "out").folder
    weights = out / "ctranslate2/model.bin"
    content = weights.read_bytes()
    weights.write_bytes(content[:5000])
    with pytest.raises(UserError, match=r"can't read what was exported here .*export the model again"):
        regard.load(out)
    weights.unlink()
    with pytest.raises(UserError, match=r"can't read what was exported here .*model\.bin"):
        regard.load(out)
    weights.write_bytes(content)
    manifest = json.loads((out / "export.json").read_text())
    (out / "export.json").write_text(json.dumps({**manifest, "facts": {}}))
    with pytest.raises(UserError, match="does not tell its parameters"):
        regard.load(out)


@pytest.mark.parametrize("whole", [True, False])
def test_damage_of_any_kind_is_a_sentence(model: Path, tmp_path: Path, whole: bool) -> None:
    """Where the manifest has digests, and in one of before there were any."""
    out = export(model, to="ctranslate2", output=tmp_path / "out").folder
    manifest = json.loads((out / "export.json").read_text())
    if not whole:
        (out / "export.json").write_text(json.dumps({**manifest, "digests": {}}))
    weights, names = out / "ctranslate2/model.bin", out / "ctranslate2/shared_vocabulary.json"
    kept, words = weights.read_bytes(), names.read_text()
    for content in (bytes(len(kept)), kept[: len(kept) // 2]):
        weights.write_bytes(content)
        with pytest.raises(UserError, match="can't read what was exported here"):
            regard.load(out)
    weights.write_bytes(kept)
    if whole:
        names.write_text(json.dumps(json.loads(words)[:-3]))
        with pytest.raises(UserError, match=r"shared_vocabulary\.json is damaged"):
            regard.load(out)
        names.write_text(words)
    for change in ({"facts": None}, {"facts": {**manifest["facts"], "parameters": "many"}}, {"digests": 3}):
        (out / "export.json").write_text(json.dumps({**manifest, **change}))
        with pytest.raises(UserError, match=r"damaged|how many parameters"):
            regard.load(out)


def test_a_flipped_bit_is_found(model: Path, tmp_path: Path) -> None:
    out = export(model, to="ctranslate2", output=tmp_path / "out").folder
    weights = out / "ctranslate2/model.bin"
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    with pytest.raises(UserError, match=r"model\.bin is damaged"):
        regard.load(out)


@pytest.mark.parametrize("workers", [0, -3, 1.5, True])
@pytest.mark.parametrize("engine", ["native", "ctranslate2"])
def test_workers_that_are_none_are_refused(model: Path, engine: str, workers: Any) -> None:
    with pytest.raises(UserError, match="should be a number from 1"):
        regard.load(model, engine=engine, workers=workers)
    with pytest.raises(UserError, match="should be a number from 1"):
        Crowd(model, workers=workers)


def test_a_folder_that_can_not_be_written_is_told_of(model: Path) -> None:
    (model / CACHE).write_text("a file in its place")
    with pytest.raises(UserError, match=r"can't be written .*regard export"):
        regard.load(model, engine="ctranslate2")


def test_exports_of_another_time_or_another_kind_are_told_of(model: Path, tmp_path: Path) -> None:
    out = export(model, to="ctranslate2", output=tmp_path / "out").folder
    manifest = json.loads((out / "export.json").read_text())
    for changed, said in (
        ({**manifest, "format": 99}, "format 99"),
        ({**manifest, "strange": 1}, "damaged"),
        ({**manifest, "to": "onnx"}, "exported to onnx"),
    ):
        (out / "export.json").write_text(json.dumps(changed))
        with pytest.raises(UserError, match=said):
            regard.load(out)
    export(model, to="ctranslate2", output=out)  # as the sentences say, it helps
    assert json.loads((out / "export.json").read_text()) == manifest
    with pytest.raises(UserError, match="Give the run itself"):
        regard.load(out, engine="native")
    with pytest.raises(UserError, match="was exported and can only be asked"):
        export(out, to="ctranslate2")


def test_what_is_not_known_is_refused(model: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'ctranslate2'"):
        export(model, to="ctranslate")
    with pytest.raises(UserError, match="Did you mean 'int8'"):
        export(model, to="ctranslate2", compute_type="int88")


def test_packages_that_are_missing_are_named(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ModuleNotFoundError("No module named 'ctranslate2'", name="ctranslate2")

    monkeypatch.setattr(exporting, "import_module", missing)
    with pytest.raises(UserError, match=r"pip install 'regard\[fast\]'"):
        export(model, to="ctranslate2")
    with pytest.raises(UserError, match=r"pip install 'regard\[fast\]'"):
        regard.load(model, engine="ctranslate2")
