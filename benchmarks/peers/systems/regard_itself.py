"""Regard: the step that `regard train` takes, and the answers that `regard predict` gives."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contract import EMBEDDING, LONGEST, SHAPES, VOCABULARY, Batch, Decode, Shape, Step, chunks

TITLE = "Regard"
ENVIRONMENT = "regard"
TRAINS = tuple(SHAPES)
LACKS = ""
HOW: dict[str, dict[str, Any]] = {
    "float32": {},
    "float32, workers": {},
    "int8": {"compute_type": "int8"},
    "int8, workers": {"compute_type": "int8"},
    "ctranslate2 float32": {"engine": "ctranslate2"},
    "ctranslate2 int8": {"engine": "ctranslate2", "compute_type": "int8"},
}
DECODERS = tuple(HOW)


def start() -> None:
    from regard.core.allocation import keep_freed_memory

    keep_freed_memory()  # as the command line does, before anything large is taken
    import regard.build
    import regard.predictor
    import regard.training.loop  # noqa: F401


def settings(shape: Shape) -> list[str]:
    training = [
        f"training.learning_rate={shape.learning_rate}",
        f"training.betas=[{shape.betas[0]}, {shape.betas[1]}]",
        f"training.label_smoothing={shape.smoothing}",
        f"training.clip={shape.clip}",
        "training.steps=1000000",
        "training.schedule=constant",
        "training.warmup=0",
        "training.log_every=1000000",
        "training.device=cpu",
        "text.shared=true",
        f"data.max_source={LONGEST}",
        f"data.max_target={LONGEST}",
        f"search.max_length={LONGEST}",
        "search.max_ratio=1000",
        "evaluation.batch_tokens=1000000",  # the benchmark says how many sources stand together
    ]
    return [*training, *(f"model.{one}" for one in (_recurrent if shape.recurrent else _transformer)(shape))]


def _transformer(shape: Shape) -> list[str]:
    sizes = {"width": shape.width, "layers": shape.layers, "heads": shape.heads, "feed_forward": shape.inner}
    both = [f"{side}.{name}={size}" for side in ("encoder", "decoder") for name, size in sizes.items()]
    return ["preset=transformer_tiny", f"dropout={shape.dropout}", f"attention.heads={shape.heads}", *both]


def _recurrent(shape: Shape) -> list[str]:
    kind = "step_then_look_fed" if shape.feeding else "step_then_look"
    sizes = f"cell='lstm', width={shape.width}, layers={shape.layers}"
    return [
        f"embedding={EMBEDDING}",
        f"dropout={shape.dropout}",
        f"encoder={{{sizes}, directions='both'}}",
        f"decoder={{kind='{kind}', {sizes}, readout='attentional', bridge='last'}}",
        f"attention={{score='{shape.score}'}}",
    ]


def _config(shape: Shape) -> Any:
    from regard.config import load_config

    return load_config("dates", settings(shape))


def trainer(shape: Shape) -> Step:
    import torch

    from regard import build
    from regard.core.batch import Batch as Examples
    from regard.core.batch import Tokens
    from regard.core.pieces import END
    from regard.training.loop import Loop

    config = _config(shape)
    torch.manual_seed(1)
    model = build.model(config, {"source": VOCABULARY, "target": VOCABULARY})
    given = _Given()
    loop = Loop(
        model,
        given,
        build.objective(config),
        build.optimizer(config, model),
        build.schedule(config),
        build.plan(config),
        checkpoints=None,  # type: ignore[arg-type]  # nothing is saved here
        validate=None,  # type: ignore[arg-type]
        judge=None,  # type: ignore[arg-type]
        device=torch.device("cpu"),
    )

    def step(batch: Batch) -> float:
        source = Tokens.pad([[*row, END] for row in batch.sources])
        given.examples = Examples(source, Tokens.pad([[*row, END] for row in batch.targets]))
        before = loop.state.window.loss
        for _ in loop._step():
            pass
        return (loop.state.window.loss - before) / batch.tokens

    return step


class _Given:
    """Batches of a training: always the one that was given last."""

    examples: Any

    def length(self, epoch: int) -> int:
        return 10**9

    def batch(self, epoch: int, position: int) -> Any:
        return self.examples


def decoder(shape: Shape, way: str) -> Decode:
    import regard

    folder = Path(os.environ["REGARD_BENCH_FOLDER"]) / f"model-{shape.name}"
    how = HOW[way]
    predictor = regard.load(folder, device="cpu", **how)
    lines = _lines(predictor)
    crowd = _crowd(folder, how) if way.endswith("workers") else None

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        texts = [lines[tuple(row)] for row in sources]
        options: dict[str, Any] = {
            "attention": "none",
            "beam": beam,
            "max_length": steps,
            "length_penalty": 0.6,
        }
        if crowd is not None:
            answers = list(crowd.stream(texts, sources=batch, **options))
        elif predictor.engine is not None:
            # All at once, as by hand; it makes batches of so many in the mean, for each worker the next one.
            pieces = sum(map(len, sources)) / len(sources) + 1
            predictor.engine.batch_tokens = int(batch * pieces * beam) if batch > 1 else 1
            answers = predictor.predict(texts, **options)
        else:
            answers = [one for some in chunks(texts, batch) for one in predictor.predict(some, **options)]
        return [len(answer.pieces) for answer in answers]

    return decode


def _crowd(folder: Path, how: dict[str, Any]) -> Any:
    from regard.crowd import Crowd

    crowd = Crowd(folder, workers=int(os.environ["REGARD_CORES"]), device="cpu", **how)
    started.append(crowd)
    return crowd


started: list[Any] = []


def close() -> None:
    for crowd in started:
        crowd.close()


def _lines(predictor: Any) -> dict[tuple[int, ...], str]:
    """The texts of the ids that everybody gets: what a person sends."""
    path = Path(os.environ["REGARD_BENCH_FOLDER"]) / "sources.txt"
    return {tuple(predictor.codec.source.encode(line)): line for line in path.read_text().splitlines()}


def write_model(folder: Path, shape: Shape, tokenizer: Any) -> None:
    """A model that learned nothing and never ends by itself, in a folder as a training leaves it."""
    import torch
    from safetensors.torch import save_file

    from regard import build
    from regard.core.pieces import BEGIN, END, PAD
    from regard.core.weights import weights_of
    from regard.data import Limits
    from regard.run import ModelFolder
    from regard.tasks.text import TextCodec
    from regard.viewing import TextView

    config = _config(shape)
    codec = TextCodec(tokenizer, tokenizer, Limits(source=LONGEST, target=LONGEST), TextView())
    torch.manual_seed(1)
    model = build.model(config, codec.sizes)
    with torch.no_grad():
        model.decoder.head.bias[[PAD, BEGIN, END]] -= 1000
    folder.mkdir(parents=True, exist_ok=True)
    description = ModelFolder(folder)
    description.describe(config, vocabulary=codec.sizes, data={})
    codec.save(folder)
    save_file(weights_of(model), description.weights_path)
