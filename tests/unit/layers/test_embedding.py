import pytest
import torch

from regard import build
from regard.config import Config
from regard.core.pieces import BEGIN, END, PAD, UNKNOWN
from regard.layers import Embedding


def test_noise_and_word_dropout_are_for_training_only() -> None:
    torch.manual_seed(0)
    embedding = Embedding(10, 4, noise=0.5, word_dropout=0.5)
    ids = torch.randint(4, 10, (200, 5))
    plain = embedding.table(ids)
    embedding.eval()
    assert torch.equal(embedding(ids), plain)
    embedding.train()
    assert not torch.allclose(embedding(ids), plain)


def test_word_dropout_reads_that_share_of_pieces_as_unknown_and_never_padding() -> None:
    torch.manual_seed(0)
    embedding = Embedding(10, 4, word_dropout=0.3)
    ids = torch.randint(4, 10, (1000, 5))
    ids[:, 4] = PAD
    read = embedding(ids)
    unknown = (read == embedding.table.weight[UNKNOWN]).all(-1)
    assert float(unknown[:, :4].float().mean()) == pytest.approx(0.3, abs=0.03)
    assert not unknown[:, 4].any()


def test_noise_has_the_deviation_asked_for() -> None:
    torch.manual_seed(0)
    embedding = Embedding(10, 8, noise=0.2)
    ids = torch.randint(4, 10, (2000, 5))
    assert float((embedding(ids) - embedding.table(ids)).std().detach()) == pytest.approx(0.2, rel=0.05)


def test_word_dropout_hides_no_mark_and_no_tag() -> None:
    torch.manual_seed(0)
    embedding = Embedding(10, 4, word_dropout=0.9, tags=2)
    ids = torch.tensor([9, 8, BEGIN, END, 7]).expand(1000, 5)
    unknown = (embedding(ids) == embedding.table.weight[UNKNOWN]).all(-1).float().mean(0)
    assert unknown[:4].tolist() == [0, 0, 0, 0]
    assert float(unknown[4]) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("kind", ["recurrent", "transformer", "convolutional"])
def test_an_encoder_of_several_languages_knows_how_many_tags_there_are(kind: str) -> None:
    corpus = {"source_language": "en", "target_language": "de", "train": "a.tsv"}
    settings = {
        "task": {"name": "multilingual", "corpora": [corpus]},
        "model": {"word_dropout": 0.5, "encoder": {"kind": kind}, "decoder": {"kind": "step_then_look"}},
    }
    for marked, tags in ((False, 1), (True, 2)):
        if marked:
            corpus["mark"] = "made"
        model = build.model(Config.model_validate(settings), {"source": 10, "target": 10})
        found = {
            side: [part.tags for part in getattr(model, side).modules() if isinstance(part, Embedding)]
            for side in ("encoder", "decoder")
        }
        assert found == {"encoder": [tags], "decoder": [0]}
