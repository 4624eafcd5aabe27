"""No position sees the future."""

import pytest
import torch
from small import MODELS, VOCABULARY, batch

from regard.core.batch import Batch, Tokens
from regard.core.pieces import END


@pytest.mark.parametrize("name", MODELS)
def test_changing_a_target_piece_changes_nothing_before_it(name: str) -> None:
    model, examples = MODELS[name](), batch((5, 5, 7))
    with torch.inference_mode():
        before = model.decoder.head(model(examples).features)  # B T V
        for place in range(examples.target.ids.shape[1] - 1):
            ids = examples.target.ids.clone()
            ids[:, place] = (ids[:, place] - END) % (VOCABULARY - END - 1) + END + 1  # another piece
            changed = Batch(examples.source, Tokens(ids, examples.target.lengths))
            after = model.decoder.head(model(changed).features)
            torch.testing.assert_close(after[:, : place + 1], before[:, : place + 1])
            assert not torch.equal(after[:, place + 1], before[:, place + 1])  # it does see the past
