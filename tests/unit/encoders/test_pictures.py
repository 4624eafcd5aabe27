import torch
from torch import Tensor, nn

from regard.core.batch import Pictures, Vectors
from regard.core.kinds import CROSS
from regard.encoders import FeatureEncoder, PictureEncoder
from regard.layers.backbones import Patches, SmallCnn


class Corners(nn.Module):
    """A backbone of one number a cell: the red of its upper left pixel."""

    width, size, grid = 1, 4, (2, 2)

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.ones(1))
        self.dropout = nn.Dropout(0.5)

    def forward(self, pixels: Tensor) -> Tensor:
        return self.dropout(pixels[:, :1, ::2, ::2].float() * self.factor)


def pictures(number: int = 2, size: int = 16) -> Pictures:
    generator = torch.Generator().manual_seed(0)
    return Pictures(torch.randint(0, 256, (number, 3, size, size), generator=generator, dtype=torch.uint8))


def test_cells_stand_row_by_row_and_the_summary_is_their_mean() -> None:
    pixels = torch.zeros(1, 3, 4, 4, dtype=torch.uint8)
    pixels[0, 0, ::2, ::2] = torch.tensor([[10, 20], [30, 80]])
    memory = PictureEncoder(Corners()).eval().encode(Pictures(pixels), frozenset({CROSS}))
    assert memory.annotations[0, :, 0].tolist() == [10, 20, 30, 80]
    assert memory.mask.tolist() == [[True] * 4]
    assert memory.summary.tolist() == [[[[35]]]]
    assert memory.wanted == {CROSS}
    assert memory.pieces is None


def test_the_backbone_learns_with_the_model() -> None:
    encoder = PictureEncoder(Corners()).train()
    assert encoder.backbone.training
    encoder.encode(pictures(size=4)).annotations.sum().backward()
    assert encoder.backbone.factor.grad.abs().sum() > 0
    encoder.eval()
    assert not encoder.backbone.training
    with torch.no_grad():
        assert not encoder.encode(pictures(size=4)).annotations.requires_grad


def test_features_found_before_give_the_same_memory() -> None:
    backbone = SmallCnn(size=16, width=32, layers=2)
    whole = PictureEncoder(backbone, width=6, positions=True).eval()
    later = FeatureEncoder(32, grid=(4, 4), width=6, positions=True).eval()
    later.cells.load_state_dict(whole.cells.state_dict())
    source = pictures()
    found = backbone(source.pixels).flatten(2).transpose(1, 2)
    expected = whole.encode(source)
    memory = later.encode(Vectors(found, torch.tensor([16, 16])))
    assert (whole.width, later.width, whole.grid, later.grid) == (6, 6, (4, 4), (4, 4))
    torch.testing.assert_close(memory.annotations, expected.annotations)
    torch.testing.assert_close(memory.summary, expected.summary)
    assert memory.mask.all()
    assert memory.mask.shape == expected.mask.shape == (2, 16)


def test_every_place_of_the_grid_is_told_apart_by_its_row_and_column() -> None:
    same = torch.zeros(1, 6, 5)
    encoder = FeatureEncoder(5, grid=(2, 3), positions=True)
    with torch.no_grad():
        memory = encoder.encode(Vectors(same, torch.tensor([6])))
    cells = memory.annotations[0].unflatten(0, (2, 3))
    for row in range(2):
        for column in range(3):
            positions = encoder.cells.positions
            torch.testing.assert_close(
                cells[row, column], positions.rows[row, 0] + positions.columns[0, column]
            )
    assert len(torch.unique(memory.annotations[0], dim=0)) == 6


def test_without_positions_and_width_the_annotations_are_what_was_seen() -> None:
    values = torch.rand(2, 4, 5)
    encoder = FeatureEncoder(5, grid=(2, 2))
    assert encoder.width == 5
    assert not list(encoder.parameters())
    torch.testing.assert_close(encoder.encode(Vectors(values, torch.tensor([4, 4]))).annotations, values)


def test_dropout_falls_on_the_annotations_in_training_alone() -> None:
    encoder = PictureEncoder(Patches(size=16, width=64, patch=4), dropout=0.5).train()
    found = encoder.encode(pictures()).annotations
    assert 0.3 < (found == 0).float().mean() < 0.7
    assert (encoder.eval().encode(pictures()).annotations != 0).float().mean() > 0.99


def test_a_picture_is_encoded_alike_alone_and_among_others() -> None:
    backbone = SmallCnn(size=16, width=32, layers=2)
    encoder = PictureEncoder(backbone, positions=True).eval()
    source = pictures(3)
    together = encoder.encode(source).annotations
    alone = encoder.encode(Pictures(source.pixels[2:])).annotations
    torch.testing.assert_close(together[2:], alone, rtol=1e-4, atol=1e-5)
