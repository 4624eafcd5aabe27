"""Pictures: from a file or a data URL to pixels, and to the size that a network wants."""

import base64
import binascii
import io
import re
import stat
import threading
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.data.locating import if_missing, located

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]  # H W 3: red, green, blue

MOST_PIXELS = 50_000_000
MOST_URL_BYTES = 20_000_000  # of a picture inside a data URL
FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM")  # of all that Pillow reads, what people have

_URL_START = "data:"
_URL = re.compile(r"data:image/[\w.+-]+;base64,", re.ASCII | re.IGNORECASE)
_MIDDLE_GREY = 127
_DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N")  # modes of grey with 16 bits
_warnings_lock = threading.Lock()  # what is warned of is a matter of the whole process


def read_picture(source: str, *, files: bool = True) -> Pixels:
    """The picture of a path or of a `data:image/...;base64,` URL, as a person would see it.

    It is turned as its EXIF data says, the first of several frames, on white where it is transparent. With
    `files=False` only data URLs are read, for sources that strangers send. Nothing is ever fetched.
    """
    if source[: len(_URL_START)].lower() == _URL_START:
        return _decoded(io.BytesIO(_url_bytes(source)), "The picture")
    if not files:
        raise UserError(
            "A picture is given as a data URL here (data:image/png;base64,...), not as a path or an address."
        )
    with _opened(source) as stream:
        return _decoded(stream, source)


def fitted(picture: Pixels, size: int, fit: str) -> Pixels:
    """3 size size: the picture in a square, by one of `FITS`."""
    image = FITS[fit](_pillow().fromarray(picture), size)
    return np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))


def picture_url(picture: Pixels) -> str:
    """A data URL that holds a picture, 3 H W, without loss."""
    stream = io.BytesIO()
    _pillow().fromarray(np.ascontiguousarray(picture.transpose(1, 2, 0))).save(stream, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"


def _crop(image: "Image", size: int) -> "Image":
    """The middle of it: the short side fits, the long one is cut at both ends."""
    short = min(image.size)
    left, top = ((side - short) / 2 for side in image.size)
    return _resized(image, (size, size), box=(left, top, left + short, top + short))


def _stretch(image: "Image", size: int) -> "Image":
    """All of it, out of shape."""
    return _resized(image, (size, size))


def _pad(image: "Image", size: int) -> "Image":
    """All of it, in shape, with grey at two ends."""
    longest = max(image.size)
    wide, high = (max(1, round(side * size / longest)) for side in image.size)
    square: Image = _pillow().new("RGB", (size, size), (_MIDDLE_GREY,) * 3)
    square.paste(_resized(image, (wide, high)), ((size - wide) // 2, (size - high) // 2))
    return square


FITS: dict[str, Callable[["Image", int], "Image"]] = {"crop": _crop, "stretch": _stretch, "pad": _pad}


def _resized(
    image: "Image", size: tuple[int, int], *, box: tuple[float, float, float, float] | None = None
) -> "Image":
    return image.resize(size, _pillow().Resampling.BICUBIC, box=box)


def _url_bytes(url: str) -> bytes:
    start = _URL.match(url)
    if not start:
        raise UserError("The picture is not a data URL of the kind data:image/png;base64,... Encode it so.")
    if len(url) - start.end() > 4 * (MOST_URL_BYTES + 2) // 3:
        raise UserError(
            f"The picture has more than {MOST_URL_BYTES // 10**6} million bytes. Make it smaller."
        )
    try:
        return base64.b64decode(url[start.end() :], validate=True)
    except (binascii.Error, ValueError) as error:
        raise UserError("The picture's data URL is not valid base64. Encode the file again.") from error


def _opened(source: str) -> BinaryIO:
    path = located(source)
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise UserError(f"{source}: this is a folder. Give a picture inside it.")
        if not stat.S_ISREG(kind):  # a pipe would be waited for, a device never ends
            raise UserError(f"{source}: this is not an ordinary file. Give a picture.")
        return path.open("rb")
    except FileNotFoundError as error:
        raise UserError(f"{source}: there is no such picture. {if_missing(path)}") from error
    except OSError as error:
        raise UserError(f"{source}: the picture cannot be read ({error.strerror or error}).") from error
    except ValueError as error:  # a NUL, half a character
        raise UserError(f"{source!r} is not the name of a file. Check the path.") from error


def _decoded(stream: BinaryIO, name: str) -> Pixels:
    image = _recognized(stream, name)
    wide, high = image.size
    if wide * high > MOST_PIXELS:
        raise _too_large(name, f"{wide:,} × {high:,} pixels")
    if image.mode == "F":
        raise UserError(
            f"{name}: the picture's pixels are fractions. Save it with 8 or 16 bits for each colour."
        )
    try:
        return np.array(_plain(_upright(image)), dtype=np.uint8)
    except Exception as error:  # of any kind: decoders of seven formats meet whatever a file holds
        raise UserError(f"{name}: the picture is damaged or cut off ({error}). Copy it again.") from error


def _recognized(stream: BinaryIO, name: str) -> "Image":
    """Only the head of the file is read: its format and size."""
    pillow = _pillow()
    try:
        with _warnings_lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image: Image = pillow.open(stream, formats=FORMATS)
            return image
    except pillow.DecompressionBombError as error:
        raise _too_large(name, "far more") from error
    except Exception as error:
        if not stream.seek(0, io.SEEK_END):
            raise UserError(f"{name}: the picture is empty. Copy it again.") from error
        raise UserError(f"{name}: this is no picture of a known format ({', '.join(FORMATS)}).") from error


def _too_large(name: str, found: str) -> UserError:
    return UserError(
        f"{name}: a picture may have {MOST_PIXELS // 10**6} million pixels, but this has {found}. Make it smaller."
    )


def _upright(image: "Image") -> "Image":
    from PIL import ImageOps

    image.load()
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # broken EXIF data are no reason to lose the picture
        return image


def _plain(image: "Image") -> "Image":
    """Red, green and blue, eight bits each."""
    pillow = _pillow()
    if image.mode in _DEEP:
        deep = np.asarray(image).astype(np.int64)
        image = pillow.fromarray((deep.clip(0, 2**16 - 1) >> 8).astype(np.uint8))
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        image = pillow.alpha_composite(pillow.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise UserError("Pictures are read with Pillow: pip install 'regard[vision]'.") from error
    return Image
