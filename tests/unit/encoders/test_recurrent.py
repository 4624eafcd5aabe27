import pytest
import torch
from small import VOCABULARY, batch

from regard.core.batch import Tokens
from regard.core.pieces import END
from regard.encoders import RecurrentEncoder
from regard.layers import CELLS, Embedding


def encoder(**options: object) -> RecurrentEncoder:
    torch.manual_seed(0)
    return RecurrentEncoder(Embedding(VOCABULARY, 6), width=8, **options).eval()  # type: ignore[arg-type]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("directions", ["one", "both", "first"])
def test_annotations_and_summary_have_the_shapes_of_the_contract(cell: str, directions: str) -> None:
    memory = encoder(cell=cell, layers=3, directions=directions).encode(batch().source)
    parts = 2 if cell == "lstm" else 1
    assert memory.annotations.shape == (4, 8, 8)
    assert memory.summary.shape == (4, 3, parts, 8)
    assert (memory.annotations[~memory.mask] == 0).all()


def test_the_summary_is_the_last_state_in_each_direction() -> None:
    source = batch().source
    memory = encoder(directions="both").encode(source)
    for row, length in enumerate(source.lengths.tolist()):
        torch.testing.assert_close(memory.summary[row, 0, 0, :4], memory.annotations[row, length - 1, :4])
        torch.testing.assert_close(memory.summary[row, 0, 0, 4:], memory.annotations[row, 0, 4:])


@pytest.mark.parametrize("mark", [[END], []], ids=["marked", "bare"])
def test_read_from_its_end_a_source_still_closes_with_its_mark_and_annotations_keep_their_order(
    mark: list[int],
) -> None:
    source, turned = Tokens.pad([[5, 6, 7, *mark], [8, *mark]]), Tokens.pad([[7, 6, 5, *mark], [8, *mark]])
    backwards = encoder(directions="one", reverse=True).encode(source)
    forwards = encoder(directions="one").encode(turned)
    torch.testing.assert_close(backwards.summary, forwards.summary)
    order = [2, 1, 0, 3][: source.ids.shape[1]]
    torch.testing.assert_close(backwards.annotations[0], forwards.annotations[0, order])
    torch.testing.assert_close(backwards.annotations[1], forwards.annotations[1])


def test_residuals_and_norms_do_what_they_say() -> None:
    source = batch().source
    plain = encoder(layers=2)
    residual = encoder(layers=2, residual=True)
    lowest = encoder(layers=2)
    lowest.networks = lowest.networks[:1]
    lowest.norms = lowest.norms[:1]
    expected = plain.encode(source).annotations + lowest.encode(source).annotations
    torch.testing.assert_close(residual.encode(source).annotations, expected)
    normed = encoder(layers=1, layer_norm=True).encode(source)
    here = normed.annotations[normed.mask]
    torch.testing.assert_close(here.mean(-1), torch.zeros(len(here)), atol=1e-5, rtol=0)
