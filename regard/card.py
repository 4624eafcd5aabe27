"""The model card: what a model is, how good it is and how to use it, for whoever finds its folder."""

from collections.abc import Mapping, Sequence

from regard.config import Config, Decoder, Encoder
from regard.metrics import Score


def model_card(
    config: Config, name: str, scores: Mapping[str, Score] | None = None, averaged: Sequence[int] = ()
) -> str:
    """`averaged` are the steps of the checkpoints that the weights are the mean of, if they are."""
    lines = [
        f"# {name}",
        "",
        f"A sequence-to-sequence model for the task `{config.task.name}`{languages(config)}, trained with Regard.",
        "",
        "| part | |",
        "|---|---|",
        *(f"| {part} | {what} |" for part, what in parts(config, averaged).items()),
        "",
        "## How good it is",
        "",
    ]
    if scores:
        lines += ["| metric | test | signature |", "|---|--:|---|"]
        cell = {name: score.signature.replace("|", "\\|") for name, score in scores.items()}
        lines += [f"| {score.name} | {score.shown} | `{cell[name]}` |" for name, score in scores.items()]
    else:
        lines += ["Not evaluated on a test set yet: `regard evaluate` does it."]
    lines += [
        "",
        "## How to use it",
        "",
        "```python",
        "import regard",
        "",
        'model = regard.load("path/to/this/folder")',
        'print(model.predict("..."))',
        "```",
        "",
        "Everything needed is in this folder.",
        "",
    ]
    return "\n".join(lines)


def parts(config: Config, averaged: Sequence[int] = ()) -> dict[str, str]:
    """What a model is made of, by the names of its parts."""
    model, look = config.model, config.model.attention
    made = {
        "encoder": _stack(model.encoder),
        "attention": f"{look.score}, {look.scope}, {look.selection}, {look.heads} head(s)"
        + (", pointer" if look.pointer else "")
        + (", history" if look.history else ""),
        "decoder": _stack(model.decoder),
        "reads and says": _read_and_said(config),
    }
    if config.has_context:
        made["beside the source"] = _stack(model.context.encoder)
    if config.kind_of("target") == "points":
        made["points"] = model.points.kind
    if config.origin is not None:
        made["began as"] = f"the model of {config.origin.run}"
    return made | ({"weights": f"mean of the checkpoints at steps {_listed(averaged)}"} if averaged else {})


def _listed(steps: Sequence[int]) -> str:
    return ", ".join(f"{step:,}" for step in sorted(steps))


def languages(config: Config) -> str:
    if len(config.directions) != 1:
        return ""
    source, target = config.directions[0]
    return f" from {source} to {target}"


def _read_and_said(config: Config) -> str:
    text = config.text
    if text.shared:
        return f"pieces ({text.source.kind}, shared)"
    pieces = {"source": text.source.kind, "target": text.target.kind}
    kinds = {side: config.kind_of(side) for side in pieces}
    sides = [f"pieces ({pieces[side]})" if kind == "pieces" else kind for side, kind in kinds.items()]
    return " to ".join(sides)


def _stack(part: Encoder | Decoder) -> str:
    told = ("backbone", "cell", "layers", "width", "heads", "kernel")
    shown = {key: value for key, value in part.model_dump().items() if key in told}
    return ", ".join([part.kind, *(f"{key} {value}" for key, value in shown.items())])
