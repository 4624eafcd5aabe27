"""ONNX: recurrent models as two graphs, for programs of your own. Needs the extra `onnx`."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor
from torch.export import Dim

from regard.config import Config
from regard.config import parts as settings_of
from regard.core.batch import Tokens
from regard.core.kinds import NOTHING
from regard.core.pieces import BEGIN, END, PAD
from regard.engines.onnx.graphs import VARYING, Reading, State, Stepping, changing, named
from regard.models import Seq2Seq
from regard.tasks.text import TextCodec

ENCODER, STEP = "encoder.onnx", "step.onnx"
NEXT = "next_"  # before the name of a state's part that a step gives back
CHATTY = ("torch.onnx", "onnxscript", "onnx_ir")  # they tell of every constant


def refusal(config: Config, codec: TextCodec) -> str | None:  # noqa: ARG001 (as for every engine)
    """Why a model is not written as graphs; None if it is."""
    encoder, decoder = config.model.encoder, config.model.decoder
    if not isinstance(encoder, settings_of.RecurrentEncoder):
        return f"only recurrent encoders are written as graphs, and this one is {encoder.kind}"
    if not isinstance(decoder, settings_of.RecurrentDecoder):
        return f"only recurrent decoders have a state that is as large at every step, and this one is {decoder.kind}"
    if config.model.attention.pointer:
        return "a pointer's vocabulary is another for each source"
    return None


def write(
    model: Seq2Seq,
    config: Config,  # noqa: ARG001 (as for every engine)
    codec: TextCodec,  # noqa: ARG001
    folder: Path,
    *,
    compute_type: str,  # noqa: ARG001
) -> dict[str, Any]:
    """Both graphs; gives the names of what goes in and comes out."""
    ids, lengths = torch.full((2, 3), END), torch.tensor([3, 2])
    batch, source = Dim("batch"), Dim("source")
    with torch.no_grad(), _quiet():
        state: State = named(model.decoder.begin(model.encoder.encode(Tokens(ids, lengths), NOTHING)))
        state = {name: part.clone() for name, part in state.items()}
        looks = list(Stepping(model)(ids[:, 0], state)[1])
        said = ["log_probabilities", *looks, *(f"{NEXT}{name}" for name in changing(state))]
        axes = {name: _axes(name, part, batch, source, ids.shape[1]) for name, part in state.items()}
        _save(
            Reading(model),
            {"ids": ids, "lengths": lengths},
            {"ids": {0: batch, 1: source}, "lengths": {0: batch}},
            ["ids", "lengths"],
            list(state),
            folder / ENCODER,
        )
        _save(
            Stepping(model),
            {"tokens": ids[:, 0], "state": state},
            {"tokens": {0: batch}, "state": axes},
            ["tokens", *state],
            said,
            folder / STEP,
        )
    marks = {"pad": PAD, "begin": BEGIN, "end": END}
    return {"state": list(state), "changing": changing(state), "attention": bool(looks), **marks}


def _axes(name: str, part: Tensor, batch: Dim, source: Dim, length: int) -> dict[int, Dim]:
    """Which axes of a part vary; without attention, a source is one vector whatever its length."""
    known = [axis for axis in VARYING.get(name, ()) if part.shape[axis] == length]
    return {0: batch, **dict.fromkeys(known, source)}


def _save(
    graph: torch.nn.Module,
    inputs: dict[str, Any],
    axes: dict[str, Any],
    names: list[str],
    outputs: list[str],
    path: Path,
) -> None:
    made = torch.onnx.export(
        graph,
        kwargs=inputs,
        dynamo=True,
        verbose=False,
        input_names=names,
        output_names=outputs,
        dynamic_shapes=axes,
    )
    assert made is not None
    made.save(path, external_data=False)
    onnx.checker.check_model(str(path))


@contextmanager
def _quiet() -> Iterator[None]:
    """What the exporter tells of itself is for those who write exporters."""
    loggers = [logging.getLogger(name) for name in CHATTY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
