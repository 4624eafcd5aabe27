"""What models looked at, kept in files: predictions with their attention, many in one file.

.safetensors    weights in half precision as tensors "0.cross", "1.cross", ...; all else as JSON in the header
.json .jsonl    one document a line, as `regard explain -o map.json` writes it; six decimals
"""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as tensors_file

from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.kinds import plain_kind
from regard.core.pieces import END, SPECIAL_PIECES
from regard.core.prediction import AttentionRecord, Prediction, Weights
from regard.core.words import Words
from regard.data.lines import read_lines
from regard.viewing import TextView, as_document
from regard.viewing.document import FORMAT, as_json, described

SUFFIXES = (".safetensors", ".json", ".jsonl")
HEADER = "regard.attention"  # where the JSON stands in the header of a .safetensors file
LONGEST_HEADER = 90_000_000  # bytes: the format allows no more than 100 million, the tensors' names included
LONGEST_LINE = 2**30  # bytes: weights take room when they are written out


def save_records(predictions: Iterable[Prediction], path: str | Path) -> Path:
    """Writes predictions and all that their attention records hold; the suffix says how.

    Alternatives and what a beam considered are not kept.
    """
    path = _known(Path(path))
    predictions = list(predictions)
    if path.suffix != ".safetensors":
        write_whole(path, "".join(as_json(as_document(one)) + "\n" for one in predictions))
        return path
    header = as_json({"format": FORMAT, "predictions": [described(one) for one in predictions]})
    if len(header.encode()) > LONGEST_HEADER:
        raise UserError(
            f"{path}: {len(predictions):,} predictions are too many for one file. Save them in several."
        )
    tensors = {
        f"{number}.{kind}": weights.astype(np.float16)
        for number, one in enumerate(predictions)
        for kind, weights in one.attention.weights.items()
    }
    write_whole(path, tensors_file(tensors, {HEADER: header}))
    return path


def load_records(path: str | Path) -> list[Prediction]:
    """The predictions that `save_records` or `regard explain` wrote, in their order."""
    path = _known(Path(path))
    return _from_tensors(path) if path.suffix == ".safetensors" else _from_lines(path)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class _Words(_Strict):
    texts: list[str]
    of: list[list[Annotated[int, Field(ge=0)]] | None]


class _Described(_Strict):
    """What is known of a prediction besides the weights."""

    format: Literal["regard.attention/1"]
    source: str
    source_pieces: list[str]
    text: str
    target_pieces: list[str]
    score: float | None
    finished: bool
    source_words: _Words | None = None
    target_words: _Words | None = None

    def prediction(self, weights: Mapping[str, Weights]) -> Prediction:
        target = tuple(self.target_pieces)
        for kind, looks in weights.items():
            self._check(kind, looks)
        record = AttentionRecord(
            tuple(self.source_pieces),
            target,
            weights,
            _known_words(self.source_words, len(self.source_pieces)),
            _known_words(self.target_words, len(target)),
        )
        return Prediction(
            source=self.source,
            text=self.text,
            pieces=target[:-1] if target[-1:] == (SPECIAL_PIECES[END],) else target,
            score=math.nan if self.score is None else self.score,
            attention=record,
            finished=self.finished,
            view=TextView(),
        )

    def _check(self, kind: str, looks: Weights) -> None:
        source, target = len(self.source_pieces), len(self.target_pieces)
        rows, columns = {"encoder": (source, source), "cross": (target, source)}.get(
            plain_kind(kind), (target, None)
        )
        if looks.ndim != 4 or looks.shape[2] != rows or columns not in (None, looks.shape[3]):
            raise ValueError(
                f"the weights {kind!r} of shape {looks.shape} do not go with {source} source and {target} "
                "target pieces"
            )


def _known_words(words: _Words | None, pieces: int) -> Words | None:
    if words is None:
        return None
    if len(words.of) != pieces or any(max(part or [0]) >= max(len(words.texts), 1) for part in words.of):
        raise ValueError("the words do not go with the pieces")
    return Words(tuple(words.texts), tuple(None if part is None else tuple(part) for part in words.of))


class _Header(_Strict):
    format: Literal["regard.attention/1"]
    predictions: list[_Described]


class _Look(_Strict):
    shape: list[int]
    weights: list[Any]


class _Document(_Described):
    attention: dict[str, _Look]


def _from_tensors(path: Path) -> list[Prediction]:
    try:
        with safe_open(path, framework="numpy") as file:
            header = (file.metadata() or {}).get(HEADER)
            if header is None:
                raise ValueError("the header says nothing of attention")
            found: dict[str, dict[str, Weights]] = {}
            for name in file.keys():  # noqa: SIM118 (it is no dict)
                number, _, kind = name.partition(".")
                found.setdefault(number, {})[kind] = file.get_tensor(name).astype(np.float32)
        predictions = [
            one.prediction(found.pop(str(number), {}))
            for number, one in enumerate(_Header.model_validate_json(header).predictions)
        ]
        if found:
            raise ValueError(f"it has weights of a prediction {next(iter(found))!r} but not the prediction")
    except (SafetensorError, OSError, ValueError) as error:
        raise UserError(f"{path}: {_damaged(error)}") from error
    return predictions


def _from_lines(path: Path) -> list[Prediction]:
    predictions = []
    for number, line in read_lines(path, longest=LONGEST_LINE):
        try:
            document = _Document.model_validate(json.loads(line))
            predictions.append(
                document.prediction({kind: _array(look) for kind, look in document.attention.items()})
            )
        except (ValueError, TypeError, RecursionError) as error:
            raise UserError(f"{path}, line {number}: {_damaged(error)}") from error
    return predictions


def _array(look: _Look) -> Weights:
    """Null stands for a number that was not finite."""
    return np.array(look.weights, dtype=np.float32).reshape(look.shape)


def _damaged(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first["loc"] else first["msg"]
    else:
        reason = str(error)
    return f"these are no attention records, or they are damaged ({reason}). Take a copy, or save them again."


def _known(path: Path) -> Path:
    if path.suffix not in SUFFIXES:
        raise UserError(
            f"{path}: attention records are kept in files that end with {', '.join(SUFFIXES)}. Choose one."
        )
    return path
