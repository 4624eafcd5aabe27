"""No pickle, written or read, anywhere on the road."""

import pickle
from pathlib import Path

import pytest
import torch
from commands import TINY

import regard
from regard.config import load_config
from regard.evaluation import evaluate
from regard.trainer import Trainer


def test_training_resuming_loading_and_scoring_use_no_pickle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("pickle was used")

    for name in ("load", "loads", "dump", "dumps"):
        monkeypatch.setattr(pickle, name, forbidden)
    monkeypatch.setattr(torch, "load", forbidden)
    monkeypatch.setattr(torch, "save", forbidden)
    (tmp_path / "tiny.toml").write_text(TINY)
    pairs = tmp_path / "pairs.tsv"  # not Babel's: it keeps its own tables of locales as pickles
    pairs.write_text(
        "".join(f"{day} May {year}\t{year}-05-{day:02}\n" for year in (1999, 2000) for day in range(1, 29))
    )
    run = tmp_path / "run"
    config = load_config(tmp_path / "tiny.toml", ["training.steps=8", f"data.train={pairs}"])
    for asked in ("stopped", None):
        steps = iter([None, None, asked])
        list(Trainer(config, run, stop=lambda steps=steps: next(steps, None)).events())
    assert regard.load(run).predict("3 May 2018").attention.target_pieces
    assert evaluate(run).scores
    with pytest.raises(AssertionError, match="pickle was used"):
        pickle.loads(b"")


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (pytest.fail, ("a pickle was read",))


def test_a_pickle_under_the_name_of_the_weights_is_refused(tmp_path: Path, tiny: Path) -> None:
    import shutil

    shutil.copytree(tiny / "runs/tiny/model", tmp_path / "model")
    (tmp_path / "model/model.safetensors").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(regard.UserError, match="damaged"):
        regard.load(tmp_path / "model")
