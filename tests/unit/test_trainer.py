import shutil
import tomllib
from pathlib import Path

import pytest
from commands import TINY

import regard.trainer
from regard.config import parse_config
from regard.core.errors import UserError
from regard.data import Limits, Pair, TokenStore, open_store
from regard.text import TOKENIZERS, BpeDropout
from regard.trainer import StoreBatches, Trainer
from regard.training import Ended

TEXTS = [f"the {animal} sat on the {place}" for animal in ("cat", "dog", "bird") for place in ("mat", "roof")]
TOKENIZER = TOKENIZERS["bpe"](TEXTS, vocabulary=300)


def store(folder: Path) -> TokenStore:
    pairs = [Pair(text, text) for text in TEXTS]
    return open_store(folder, lambda: pairs, TOKENIZER, TOKENIZER, Limits(50, 50))


def batches(folder: Path, *, seed: int = 1) -> StoreBatches:
    return StoreBatches(store(folder), 40, seed, {"source": BpeDropout(TOKENIZER, 0.3, longest=50)})


def test_a_batch_with_dropout_hangs_on_seed_epoch_and_position_alone(tmp_path: Path) -> None:
    one, other = batches(tmp_path), batches(tmp_path)
    other.batch(0, 0)
    assert one.batch(3, 1).source.ids.equal(other.batch(3, 1).source.ids)
    rows = [
        {
            tuple(row)
            for position in range(found.length(epoch))
            for row in found.batch(epoch, position).source.ids.tolist()
        }
        for found, epoch in ((one, 0), (one, 1), (batches(tmp_path, seed=2), 0))
    ]
    assert rows[0] != rows[1]
    assert rows[0] != rows[2]


def test_dropout_cuts_its_own_side_and_changes_no_text(tmp_path: Path) -> None:
    batch = batches(tmp_path).batch(0, 0)
    sources = [TOKENIZER.decode(row) for row in batch.source.ids.tolist()]
    assert sources == [TOKENIZER.decode(row) for row in batch.target.ids.tolist()]
    for row, length, text in zip(
        batch.target.ids.tolist(), batch.target.lengths.tolist(), sources, strict=True
    ):
        assert row[: length - 1] == TOKENIZER.encode(text)
    assert batch.source.lengths.sum() > batch.target.lengths.sum()


def test_without_dropout_rows_are_those_of_the_store(tmp_path: Path) -> None:
    plain = StoreBatches(store(tmp_path), 100, 1)
    assert plain.batch(0, 0).source.ids.equal(plain.batch(0, 0).target.ids)


def test_scores_of_an_earlier_model_are_forgotten(tmp_path: Path) -> None:
    changes = [
        "training.steps=4",
        "training.validate_every=2",
        "training.save_every=2",
        "data.validation_size=2",
    ]
    config = parse_config(tomllib.loads(TINY), origin="here", changes=changes)
    asked = iter([None, None, "stopped"])
    for _ in Trainer(config, tmp_path, stop=lambda: next(asked, None)).events():
        pass
    trainer = Trainer(config, tmp_path)
    trainer.run.add_scores("test", {})
    for _ in trainer.events():
        pass
    assert not trainer.run.has_scores("test"), "the model of step 4 is a better one"
    trainer.run.add_scores("test", {})
    for _ in Trainer(config, tmp_path).events():
        pass
    assert trainer.run.has_scores("test"), "nothing was left to train"


def begun(folder: Path) -> Trainer:
    changes = [
        "training.steps=2",
        "training.validate_every=2",
        "training.save_every=2",
        "data.validation_size=2",
    ]
    return Trainer(parse_config(tomllib.loads(TINY), origin="here", changes=changes), folder)


def test_a_folder_that_is_no_run_keeps_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/mine.txt").write_text("years of work")
    (tmp_path / "metrics.jsonl").write_text("{}")
    with pytest.raises(UserError, match=r"is no run, but has model, metrics\.jsonl"):
        next(begun(tmp_path).events())
    assert (tmp_path / "model/mine.txt").read_text() == "years of work"
    assert not (tmp_path / "config.toml").exists()


def test_a_trained_model_without_its_checkpoints_is_not_trained_over(tmp_path: Path) -> None:
    list(begun(tmp_path / "run").events())
    weights = (tmp_path / "run/model/model.safetensors").read_bytes()
    shutil.rmtree(tmp_path / "run/checkpoints")
    with pytest.raises(UserError, match="has a trained model, but no checkpoint to go on from"):
        next(begun(tmp_path / "run").events())
    assert (tmp_path / "run/model/model.safetensors").read_bytes() == weights


def test_curves_that_cannot_be_drawn_fail_no_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def trips(*given: object, **options: object) -> None:
        raise RuntimeError("no font")

    monkeypatch.setattr(regard.trainer, "curves", trips)
    assert isinstance(list(begun(tmp_path / "run").events())[-1], Ended)
    assert "The curves could not be drawn: no font" in caplog.text
