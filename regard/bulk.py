"""Many sources, answered by many workers on many machines, with Ray Data: `pip install 'regard[ray]'`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from regard.core.errors import UserError, did_you_mean
from regard.core.prediction import Request
from regard.data.lines import line_blocks
from regard.engines import find_folder
from regard.predictor import load
from regard.search import Options

if TYPE_CHECKING:
    from ray.data import Dataset


def lines(*paths: str | Path) -> "Dataset":
    """The lines of text files, as `regard predict` reads them: rows with `file`, `line` (from 1) and `source`.

    Workers read the files, so all machines must see them; a name that ends with `.gz` is unpacked.
    """
    if missing := next((path for path in paths if not Path(path).is_file()), None):
        raise UserError(f"{missing}: there is no such file to answer. Give the files by their names.")
    if not paths:
        raise UserError("There is nothing to answer: give at least one file.")
    files = [{"file": str(Path(path).resolve())} for path in paths]
    return _ray_data().from_items(files, override_num_blocks=len(files)).flat_map(_lines)


def predict(
    sources: "Dataset",
    run: str | Path,
    *,
    workers: int,
    column: str = "source",
    to: str | None = None,
    window: int = 512,
    cpus: float = 1,
    gpus: float = 0,
    engine: str | None = None,
    compute_type: str | None = None,
    shortlist: bool = False,
    **options: Unpack[Options],
) -> "Dataset":
    """The rows, in their order, each with its `answer` and `score`, as `regard predict` would give them, and how many
    pieces of its source were `unread`, because it was too long.

    So many `workers`, each with so many `cpus` and `gpus`, load the run, which all machines must see, and answer
    `window` rows at a time. `engine`, `compute_type` and `shortlist` are those of `regard.load`, and an exported folder
    may be given, too. Ray begins when the answers are asked for: written, or read row by row. A row that has no source
    or no answer has an empty one.
    """
    folder = Path(run).resolve()
    find_folder(folder)  # a wrong name is told here, not by every worker
    threads = max(1, int(cpus))
    how = {"engine": engine, "compute_type": compute_type, "shortlist": shortlist, "workers": threads}
    parts = sources.repartition(target_num_rows_per_block=window)
    answers = parts.map_batches(
        Worker,
        fn_constructor_kwargs={
            "run": folder,
            "device": "cuda" if gpus else "cpu",
            "column": column,
            "to": to,
            "how": how,
        },
        fn_kwargs={"options": options},
        batch_size=window,
        batch_format="pandas",
        compute=_ray_data().ActorPoolStrategy(size=workers),
        num_cpus=cpus,
        num_gpus=gpus,
    )
    answers.context.execution_options.preserve_order = True
    return answers


class Worker:
    """A model in a process of its own."""

    def __init__(self, *, run: Path, device: str, column: str, to: str | None, how: Mapping[str, Any]):
        self.predictor = load(run, device=device, **how)
        self.column = column
        self.to = to

    def __call__(self, rows: Any, *, options: Options) -> Any:
        """A table with three more columns."""
        requests = [Request(text, to=self.to) for text in _texts(rows, self.column)]
        answers = self.predictor.predict(requests, attention="none", **options)
        return rows.assign(
            answer=[answer.text for answer in answers],
            score=[answer.score for answer in answers],
            unread=[answer.unread for answer in answers],
        )


def _texts(rows: Any, column: str) -> list[str]:
    """The sources of a table; nothing where one is missing."""
    if column not in rows:
        raise UserError(f"There is no column {column!r} to answer.{did_you_mean(column, list(rows))}")
    texts = ["" if missing else text for text, missing in zip(rows[column], rows[column].isna(), strict=True)]
    if strange := [text for text in texts if not isinstance(text, str)]:
        raise UserError(f"The column {column!r} holds {strange[0]!r:.40}, but a source is a text.")
    return texts


def _lines(row: Mapping[str, str]) -> Iterator[dict[str, object]]:
    for block in line_blocks(Path(row["file"])):
        for number, raw in enumerate(block.raw, start=block.number):
            text = raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", errors="replace")
            yield {**row, "line": number, "source": text}


def _ray_data() -> Any:
    try:
        import ray.data
    except ImportError as error:
        raise UserError("Answering in bulk needs Ray: pip install 'regard[ray]'.") from error
    return ray.data
