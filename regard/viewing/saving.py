"""Pictures, pages and documents as files: chosen by suffix, whole or not at all."""

from pathlib import Path
from typing import TYPE_CHECKING

from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.prediction import Prediction, View
from regard.viewing.attention_map import TextView
from regard.viewing.document import as_document, as_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg")
SUFFIXES = (*PICTURES, ".html", ".json")


def save(prediction: Prediction, path: str | Path, *, view: View | None = None) -> Path:
    """Write the attention of a prediction as the suffix says: .png .svg .html .json.

    They are drawn by `view`, else by the prediction's own, else as text. The page holds every layer and head of the
    look at the source, the document those of every look.
    """
    path, view = Path(path), view or prediction.view or TextView()
    match _suffix(path, SUFFIXES):
        case ".html":
            return _write(path, view.page(prediction).encode())
        case ".json":
            return _write(path, (as_json(as_document(prediction)) + "\n").encode())
        case _:
            return save_figure(view.figure(prediction), path)


def save_figure(figure: "Figure", path: str | Path) -> Path:
    """Write any figure as .png or .svg."""
    path = Path(path)
    suffix = _suffix(path, PICTURES)
    from regard.viewing import canvas

    return _write(path, canvas.svg(figure) if suffix == ".svg" else canvas.png(figure))


def _suffix(path: Path, known: tuple[str, ...]) -> str:
    suffix = path.suffix.lower()
    if suffix not in known:
        found = f"the suffix {path.suffix!r}" if suffix else "no suffix"
        raise UserError(f"{path}: cannot tell the format from {found}. Choose one of {', '.join(known)}.")
    return suffix


def _write(path: Path, content: bytes) -> Path:
    try:
        write_whole(path, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"{path}: cannot write here ({reason}). Choose another place.") from error
    return path
