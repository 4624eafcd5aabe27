import pytest
import torch
from small import batch, recurrent
from torch.nn import functional

from regard.core.pieces import PAD
from regard.training import CrossEntropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_torchs_cross_entropy_summed_over_the_target_without_padding(smoothing: float) -> None:
    model, examples = recurrent(), batch()
    loss = CrossEntropy(label_smoothing=smoothing)(model, examples)
    logits = model.decoder.head(model(examples).features)  # B T V
    settings = {"ignore_index": PAD, "reduction": "sum"}
    wanted = examples.target.ids.flatten()
    expected = functional.cross_entropy(logits.flatten(0, 1), wanted, label_smoothing=smoothing, **settings)
    torch.testing.assert_close(loss.total, expected)
    torch.testing.assert_close(
        loss.likelihood, functional.cross_entropy(logits.flatten(0, 1), wanted, **settings)
    )
    assert loss.tokens == int(examples.target.lengths.sum())
