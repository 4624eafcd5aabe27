"""From two files to a translator of sentences that it never saw."""

from pathlib import Path

import pytest
from toy import CONFIGURATION, write_corpus

from regard.config import load_config
from regard.evaluation import evaluate
from regard.trainer import Trainer


def test_the_toy_language_is_learned_with_bpe_dropout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path, 1500)
    Path("toy.toml").write_text(CONFIGURATION)
    changes = ["training.steps=300", "training.validate_every=300", "text.source.dropout=0.1"]
    for _ in Trainer(load_config("toy.toml", changes), "run").events():
        pass
    scores = evaluate("run").scores
    assert scores["bleu"].value > 90
    assert scores["bleu_tokenized"].value == pytest.approx(scores["bleu"].value, abs=3)
