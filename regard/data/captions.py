"""Pictures with captions: a folder of images, a file of captions, and lists of the images of each part."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.core.errors import UserError
from regard.data.fingerprints import fingerprint
from regard.data.lines import BadLineError, read_lines, try_lines
from regard.data.locating import located
from regard.data.pairs import Pair, ReadBlock, Row


@dataclass(frozen=True)
class CaptionFile:
    """Lines of `image<TAB>caption`, as many as there are captions, of images in a folder.

    A pair's source is the path of the image. With `names`, a file with the name of an image in each line, only
    those are read. Images are looked for by name; whether they can be seen is found out later. A folder may begin
    with `$REGARD_DATA/`, which stays in the source.
    """

    captions: Path
    images: str
    names: Path | None = None
    there: str = ""  # changes when images come or go, so that what was decided about them is decided again

    def __str__(self) -> str:
        return f"{self.captions} with {self.names}" if self.names else str(self.captions)

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.captions, self.names) if self.names else (self.captions,)

    def blocks(self) -> Iterator[ReadBlock]:
        return ReadBlock.of(self._rows())

    def _rows(self) -> Iterator[Row]:
        folder = located(self.images)
        if not folder.is_dir():
            raise UserError(f"{folder}: there is no such folder of images. Check the path.")
        wanted = self._wanted()
        missing = set(wanted or ())
        seen: dict[str, bool] = {}  # whether an image is there, by its name
        for number, line in try_lines(self.captions):
            row = line if isinstance(line, BadLineError) else self._row(line, number)
            if isinstance(row, BadLineError):
                yield row
                continue
            name, caption = row
            if wanted is not None and name not in wanted:
                continue
            missing.discard(name)
            if name not in seen:
                seen[name] = _is_there(folder / name)
            if seen[name]:
                yield Pair(f"{self.images}/{name}", caption)
            else:
                yield self._bad(number, "without its image", f"there is no image {name!r} in {folder}.")
        if missing:
            raise self._uncaptioned(missing, wanted or {})

    def _row(self, line: str, number: int) -> tuple[str, str] | BadLineError:
        """The name and the caption of a line."""
        name, tab, caption = line.partition("\t")
        if not line.strip():
            return self._bad(
                number, "empty", "expected 'image<TAB>caption' but the line is empty. Remove it."
            )
        if not tab:
            return self._bad(number, "without a tab", "expected 'image<TAB>caption' but found no tab.")
        if "\t" in caption:
            found = f"expected 'image<TAB>caption' but found {line.count(tab)} tabs. Keep two columns."
            return self._bad(number, "with too many tabs", found)
        if "\0" in line:
            found = "there is a NUL character. Is this a UTF-16 or a binary file? Save it as UTF-8 text."
            return self._bad(number, "with a NUL character", found)
        if not name.strip():
            return self._bad(number, "without an image", "there is no name of an image before the tab.")
        if not caption.strip():
            return self._bad(number, "without a caption", f"the caption of {name!r} is empty.")
        return name, caption

    def _wanted(self) -> dict[str, int] | None:
        """The names of the list and their lines; None where everything is wanted."""
        if self.names is None:
            return None
        wanted: dict[str, int] = {}
        for number, name in read_lines(self.names):
            place = f"{self.names}, line {number}"
            if not name.strip():
                raise UserError(f"{place}: expected the name of an image but the line is empty. Remove it.")
            if name in wanted:
                raise UserError(f"{place}: {name!r} stands in line {wanted[name]} already. Remove one.")
            wanted[name] = number
        return wanted

    def _uncaptioned(self, missing: set[str], wanted: dict[str, int]) -> UserError:
        first = min(missing, key=wanted.__getitem__)
        more = f" and {len(missing) - 1:,} more of the list" if len(missing) > 1 else ""
        return UserError(
            f"{self.names}, line {wanted[first]}: {self.captions} has no caption of {first!r}{more}. "
            "Add some, or remove it from the list."
        )

    def _bad(self, number: int, reason: str, sentence: str) -> BadLineError:
        return BadLineError(self.captions, number, reason, sentence)


def caption_file(folder: str, part: str | None = None) -> CaptionFile:
    """Of a folder like that of Flickr8k: `captions.tsv`, `images/` and a list for each part, such as `train.txt`."""
    home = located(folder)
    captions, names = home / "captions.tsv", home / f"{part}.txt" if part else None
    if names is not None and home.is_dir() and not names.exists():
        there = ", ".join(sorted(path.name for path in home.glob("*.txt"))) or "none"
        raise UserError(f"{names}: there is no such list of images. Lists in this folder: {there}.")
    images = f"{folder}/images"
    return CaptionFile(captions, images, names, _names(located(images)))


def _names(folder: Path) -> str:
    """Of all that is in a folder, in brief."""
    return fingerprint([str(path.relative_to(folder))] for path in sorted(folder.rglob("*")))


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False
