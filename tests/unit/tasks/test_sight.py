from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from regard.core.batch import Pictures, Vectors
from regard.core.errors import UserError
from regard.tasks.sight import Sight


class Means(nn.Module):
    """Sees the mean of each quarter of a picture, times a third: no number of half precision."""

    def forward(self, pixels: Tensor) -> Tensor:
        return nn.functional.avg_pool2d(pixels.float(), 4) / 3


PIXELS = Sight("pixels", size=8, grid=(2, 2), width=3)
FEATURES = replace(PIXELS, name="means", backbone=Means())


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    found = []
    for number in range(20):
        path = tmp_path / f"{number}.png"
        Image.fromarray(np.full((9, 12, 3), 10 * number, dtype=np.uint8)).save(path)
        found.append(str(path))
    return found


def test_without_a_backbone_pixels_are_seen(paths: list[str]) -> None:
    seen = PIXELS.see([PIXELS.pixels(paths[3])])
    assert seen[0].shape == (3, 8, 8)
    assert isinstance(PIXELS.collate(seen), Pictures)


def test_what_is_kept_is_what_is_seen_bit_by_bit(paths: list[str], tmp_path: Path) -> None:
    kept = FEATURES.kept(tmp_path / "cache", paths)
    assert kept.shape == (20, 4, 3)
    now = FEATURES.see([FEATURES.pixels(path) for path in paths])
    np.testing.assert_array_equal(kept, np.stack(now))
    batch = FEATURES.collate([kept[5], kept[7]])
    assert isinstance(batch, Vectors)
    assert batch.values.dtype == torch.float32
    assert batch.values[1, 0, 0] == pytest.approx(70 / 3, rel=1e-3)


def test_pictures_are_seen_once(paths: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = np.array(FEATURES.kept(tmp_path / "cache", paths))
    monkeypatch.setattr(Sight, "see", lambda *_: pytest.fail("looked again"))
    np.testing.assert_array_equal(FEATURES.kept(tmp_path / "cache", paths), first)


def test_a_picture_that_changed_is_seen_again(paths: list[str], tmp_path: Path) -> None:
    before = np.array(FEATURES.kept(tmp_path / "cache", paths))
    Image.fromarray(np.full((9, 12, 3), 255, dtype=np.uint8)).save(paths[0])
    after = FEATURES.kept(tmp_path / "cache", paths)
    assert after[0, 0, 0] == pytest.approx(85, rel=1e-3)
    np.testing.assert_array_equal(after[1:], before[1:])


def test_pictures_of_another_size_are_others(paths: list[str], tmp_path: Path) -> None:
    small = PIXELS.kept(tmp_path / "cache", paths)
    large = replace(PIXELS, size=16).kept(tmp_path / "cache", paths)
    assert (small.shape, large.shape) == ((20, 3, 8, 8), (20, 3, 16, 16))


def test_what_was_kept_and_is_damaged_is_seen_again(paths: list[str], tmp_path: Path) -> None:
    first = np.array(FEATURES.kept(tmp_path / "cache", paths))
    (file,) = (tmp_path / "cache").glob("*/seen.npy")
    for length in (300, 20, 0):
        file.write_bytes(file.read_bytes()[:length])
        np.testing.assert_array_equal(FEATURES.kept(tmp_path / "cache", paths), first)


def test_a_picture_that_is_gone_or_broken_is_told(paths: list[str], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"missing\.png"):
        FEATURES.kept(tmp_path / "cache", [*paths, str(tmp_path / "missing.png")])
    Path(paths[2]).write_bytes(b"no picture")
    with pytest.raises(UserError, match=r"2\.png"):
        FEATURES.kept(tmp_path / "cache", paths)
    assert not list((tmp_path / "cache").glob("*/seen.npy"))  # nothing half done
