import pytest
import torch

from regard.core.pieces import PAD, UNKNOWN
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
