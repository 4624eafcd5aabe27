"""Pictures of every kind come out as a person would see them; broken ones are told in a sentence."""

import base64
import builtins
import io
import os
import struct
import warnings
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from regard.core.errors import UserError
from regard.data import pictures
from regard.data.pictures import FITS, fitted, read_picture

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 128, 0), (0, 0, 255), (255, 255, 255)


def two(left: Any = RED, right: Any = BLUE, mode: str = "RGB") -> Image.Image:
    """8 pixels wide, 4 high; the left half has one colour, the right half another."""
    image = Image.new(mode, (8, 4), left)
    image.paste(right, (4, 0, 8, 4))
    return image


def saved(image: Image.Image, path: Path, **options: Any) -> str:
    image.save(path, **options)
    return str(path)


def encoded(image: Image.Image, kind: str = "PNG") -> str:
    stream = io.BytesIO()
    image.save(stream, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(stream.getvalue()).decode()}"


def refused(source: str | Path, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        read_picture(str(source), **options)
    return str(caught.value)


@pytest.mark.parametrize("suffix", ["png", "bmp", "gif", "tiff", "ppm", "webp", "jpg"])
def test_every_format_gives_its_pixels(tmp_path: Path, suffix: str) -> None:
    lossless = {"webp": {"lossless": True}, "jpg": {"quality": 100, "subsampling": 0}}.get(suffix, {})
    picture = read_picture(saved(two(), tmp_path / f"a.{suffix}", **lossless))
    assert (picture.shape, picture.dtype) == ((4, 8, 3), np.uint8)
    np.testing.assert_allclose(picture[:, 0], [RED] * 4, atol=3)
    np.testing.assert_allclose(picture[:, 7], [BLUE] * 4, atol=3)


def test_a_format_that_is_not_listed_is_not_opened(tmp_path: Path) -> None:
    assert "no picture of a known format" in refused(saved(two(), tmp_path / "a.pcx"))
    assert "no picture of a known format" in refused(
        saved(two(), tmp_path / "a.eps")
    )  # would run Ghostscript


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (two(0, 200, "L"), ((0,) * 3, (200,) * 3)),
        (two(0, 1, "1"), ((0,) * 3, (255,) * 3)),
        (two((9, 0), (9, 255), "LA"), (WHITE, (9,) * 3)),
        (two((*RED, 0), (*BLUE, 255), "RGBA"), (WHITE, BLUE)),
        (two((*RED, 128), (*BLUE, 255), "RGBA"), ((255, 127, 127), BLUE)),
        (two().convert("P", palette=Image.Palette.ADAPTIVE), (RED, BLUE)),
    ],
    ids=["grey", "one bit", "grey with alpha", "alpha", "half transparent", "palette"],
)
def test_every_mode_is_seen_as_red_green_and_blue(
    tmp_path: Path, image: Image.Image, expected: tuple[Any, Any]
) -> None:
    picture = read_picture(saved(image, tmp_path / "a.png"))
    np.testing.assert_array_equal(picture[1, [1, 6]], expected)


def test_a_transparent_colour_of_a_palette_is_white(tmp_path: Path) -> None:
    image = two().convert("P", palette=Image.Palette.ADAPTIVE)
    red = image.getpixel((0, 0))
    picture = read_picture(saved(image, tmp_path / "a.gif", transparency=red))
    np.testing.assert_array_equal(picture[1, [1, 6]], (WHITE, BLUE))


@pytest.mark.parametrize("suffix", ["png", "tiff"])
def test_grey_of_sixteen_bits_keeps_its_upper_eight(tmp_path: Path, suffix: str) -> None:
    deep = np.array([[0, 255, 256, 0x1234, 0xFFFF]], dtype=np.uint16)
    picture = read_picture(saved(Image.fromarray(deep), tmp_path / f"a.{suffix}"))
    np.testing.assert_array_equal(picture[0, :, 0], [0, 0, 1, 0x12, 0xFF])
    assert (picture[..., 0] == picture[..., 2]).all()


def test_cyan_magenta_yellow_and_black_become_light(tmp_path: Path) -> None:
    image = two((0, 255, 255, 0), (0, 0, 0, 255), "CMYK")
    picture = read_picture(saved(image, tmp_path / "a.jpg", quality=100))
    np.testing.assert_allclose(picture[1, [0, 7]], (RED, (0, 0, 0)), atol=8)


def test_a_picture_stands_as_its_camera_was_held(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it clockwise to see it
    picture = read_picture(saved(two(), tmp_path / "a.png", exif=exif))
    assert picture.shape == (8, 4, 3)
    np.testing.assert_array_equal(picture[[0, 7], 1], (RED, BLUE))


def test_broken_exif_data_do_not_lose_the_picture(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = saved(two(), tmp_path / "a.jpg", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff\x01\x12\0\x03")
        assert read_picture(path).shape == (4, 8, 3)


@pytest.mark.parametrize("suffix", ["gif", "webp", "png", "tiff"])
def test_of_several_frames_the_first_is_seen(tmp_path: Path, suffix: str) -> None:
    path = saved(two(), tmp_path / f"a.{suffix}", save_all=True, append_images=[two(GREEN, GREEN)])
    np.testing.assert_allclose(read_picture(path)[1, [0, 7]], (RED, BLUE), atol=6)


def test_one_pixel_is_a_picture(tmp_path: Path) -> None:
    assert read_picture(saved(Image.new("RGB", (1, 1), RED), tmp_path / "a.png")).tolist() == [[[255, 0, 0]]]


def test_a_data_url_is_read_like_a_file(tmp_path: Path) -> None:
    path = saved(two(), tmp_path / "a.png")
    np.testing.assert_array_equal(read_picture(encoded(two()), files=False), read_picture(path))


def test_the_variable_of_data_stands_for_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(two(), tmp_path / "a.png")
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    assert read_picture("$REGARD_DATA/a.png").shape == (4, 8, 3)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the picture is empty"),
        (b"not a picture at all", "no picture of a known format"),
        (b"\x89PNG\r\n\x1a\n", "no picture of a known format"),
        (b"\xff\xd8\xff\xe0 and then nothing", "no picture of a known format"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><image href='http://x/'/></svg>", "no picture"),
    ],
    ids=["empty", "text", "a png's first bytes", "a jpeg's first bytes", "svg"],
)
def test_what_is_no_picture_is_refused_by_its_name(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    sentence = refused(path)
    assert sentence.startswith(f"{path}: ")
    assert said in sentence


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "webp", "tiff", "bmp"])
def test_a_picture_that_is_cut_off_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    whole = Path(saved(Image.fromarray(noise), path)).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    sentence = refused(path)
    assert sentence.startswith(f"{path}: ")
    assert "damaged or cut off" in sentence or "no picture of a known format" in sentence


def test_bytes_that_were_changed_give_a_sentence_or_a_picture_and_never_anything_else(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    for kind in ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"):
        stream = io.BytesIO()
        two().resize((32, 32)).save(stream, kind)
        for _ in range(15):
            content = bytearray(stream.getvalue())
            for place in random.integers(0, len(content), 4):
                content[place] = random.integers(0, 256)
            path = tmp_path / "a"
            path.write_bytes(content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with suppress(UserError):
                    assert read_picture(str(path)).ndim == 3


def bomb(path: Path, wide: int, high: int) -> Path:
    """A PNG of a few bytes that says to have so many pixels."""

    def chunk(name: bytes, content: bytes) -> bytes:
        body = name + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )
    return path


@pytest.mark.parametrize("side", [7_100, 10_000, 60_000])
def test_too_many_pixels_are_refused_before_any_is_decoded(tmp_path: Path, side: int) -> None:
    sentence = refused(bomb(tmp_path / "a.png", side, side))
    assert "may have 50 million pixels" in sentence
    assert "damaged" not in sentence


def test_just_few_enough_pixels_are_decoded(tmp_path: Path) -> None:
    assert "damaged" in refused(bomb(tmp_path / "a.png", 50_000_000, 1))  # there are none inside


def test_missing_folders_pipes_and_odd_names_are_told(tmp_path: Path) -> None:
    assert refused(tmp_path / "no.png").startswith(f"{tmp_path / 'no.png'}: there is no such picture.")
    assert "this is a folder" in refused(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "not an ordinary file" in refused(tmp_path / "pipe")
    assert "not an ordinary file" in refused("/dev/zero")
    assert "not the name of a file" in refused("a\0.png")
    assert "cannot be read" in refused("a" * 5000)
    assert "there is no such picture" in refused("http://127.0.0.1:9/a.png")
    assert "this is a folder" in refused("")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    Path(path := saved(two(), tmp_path / "a.png")).chmod(0)
    assert "cannot be read (Permission denied)" in refused(path)


def test_strangers_read_no_files(tmp_path: Path) -> None:
    path = saved(two(), tmp_path / "a.png")
    for source in (path, "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1/a.png", ""):
        sentence = refused(source, files=False)
        assert "data URL" in sentence
        assert "passwd" not in sentence


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("data:image/png;base64,%%%%", "not valid base64"),
        ("data:image/png;base64,é", "not valid base64"),
        ("data:image/png;base64,", "is empty"),
        ("data:image/png,abc", "not a data URL of the kind"),
        ("data:text/html;base64,PGI+", "not a data URL of the kind"),
        ("data:image/png;base64," + base64.b64encode(b"secret words").decode(), "no picture of a known"),
    ],
)
def test_a_broken_data_url_is_told_without_being_printed(url: str, said: str) -> None:
    sentence = refused(url)
    assert said in sentence
    assert sentence.startswith("The picture")
    assert "base64," not in sentence.replace("data:image/png;base64,...", "")
    assert "c2VjcmV0" not in sentence


def test_a_data_url_may_have_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    url = encoded(two())
    monkeypatch.setattr(pictures, "MOST_URL_BYTES", 40)
    assert "more than" in refused(url)


def test_without_pillow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = saved(two(), tmp_path / "a.png")
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "PIL":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install 'regard[vision]'" in refused(path)


def test_crop_shows_the_middle_stretch_and_pad_everything() -> None:
    image = Image.new("RGB", (60, 20), GREEN)  # blue, green, green, green, blue
    image.paste(BLUE, (0, 0, 12, 20))
    image.paste(BLUE, (48, 0, 60, 20))
    picture = np.asarray(image)
    shown = {fit: fitted(picture, 30, fit) for fit in FITS}
    assert {one.shape for one in shown.values()} == {(3, 30, 30)}
    assert {one.dtype for one in shown.values()} == {np.dtype(np.uint8)}
    assert (shown["crop"].transpose(1, 2, 0) == GREEN).all()
    np.testing.assert_array_equal(shown["stretch"][:, 15, [1, 15, 28]].T, [BLUE, GREEN, BLUE])
    np.testing.assert_array_equal(shown["pad"][:, 15, [1, 15, 28]].T, [BLUE, GREEN, BLUE])
    assert (shown["pad"][:, [0, 8, 21, 29]] == 127).all()
    assert (shown["pad"][:, 10:20] != 127).any(axis=0).all()


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 900), (900, 1), (31, 37)])
def test_any_shape_fits(fit: str, shape: tuple[int, int]) -> None:
    picture = fitted(np.full((*shape, 3), 50, np.uint8), 16, fit)
    assert picture.shape == (3, 16, 16)
    assert set(np.unique(picture)) <= {50, 127}
    assert 50 in picture


def test_a_square_of_the_right_size_stays_as_it_is() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (9, 9, 3), dtype=np.uint8)
    for fit in FITS:
        np.testing.assert_array_equal(fitted(picture, 9, fit).transpose(1, 2, 0), picture)


def test_pixels_that_are_fractions_are_told_with_what_to_do(tmp_path: Path) -> None:
    Image.new("F", (4, 4), 0.5).save(tmp_path / "a.tiff")
    sentence = refused(tmp_path / "a.tiff")
    assert "pixels are fractions. Save it with 8 or 16 bits" in sentence
    assert "Copy it again" not in sentence
