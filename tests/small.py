"""Small models and batches for the tests."""

from collections.abc import Callable
from typing import Any

import torch

from regard import build
from regard.attention import SCOPES, SCORES, SELECTIONS, Attention, FixedVector, Look, Scope, Score, Selection
from regard.config import load_config
from regard.core.batch import Batch, Tokens
from regard.core.pieces import END
from regard.decoders import BRIDGES, DECODERS, Stack
from regard.encoders import RecurrentEncoder
from regard.layers import CELLS, POSITIONS, READOUTS, Embedding, Head
from regard.models import Seq2Seq
from regard.search import Hypothesis, Question, SearchPlan, Stepper

VOCABULARY = 12
WIDTH = 16
LONGEST = 40  # positions that scores by position know


def score(name: str, width: int = WIDTH, *, heads: int = 1) -> Score:
    options = {"longest": LONGEST} if name in ("location", "position") else {}
    return SCORES[name](width, width, heads=heads, **options)


def scope(name: str, width: int = WIDTH, *, radius: int = 2) -> Scope:
    query = (width,) if name == "local_predicted" else ()
    options = {"radius": radius} if name.startswith("local") or name == "window" else {}
    return SCOPES[name](*query, **options)


def selection(name: str) -> Selection:
    return SELECTIONS[name]()


def attention(
    score_name: str = "additive",
    scope_name: str = "global",
    selection_name: str = "soft",
    *,
    width: int = WIDTH,
    heads: int = 1,
) -> Attention:
    parts = score(score_name, width, heads=heads), scope(scope_name, width), selection(selection_name)
    return Attention(*parts, width=width, heads=heads)


def recurrent(
    *,
    look: Callable[[], Look] = attention,
    decoder: str = "look_then_step",
    cell: str = "gru",
    layers: int = 1,
    bridge: str = "projection",
    readout: str = "maxout",
    directions: str = "both",
    reverse: bool = False,
    residual: bool = False,
    layer_norm: bool = False,
    late_to_all: bool = False,
    dropout: float = 0.0,
    variational: bool = False,
) -> Seq2Seq:
    torch.manual_seed(0)
    stacked = {
        "cell": cell,
        "layers": layers,
        "residual": residual,
        "layer_norm": layer_norm,
        "dropout": dropout,
        "variational": variational,
    }
    encoder = RecurrentEncoder(
        Embedding(VOCABULARY, 6, dropout=dropout),
        width=WIDTH,
        directions=directions,
        reverse=reverse,
        **stacked,
    )
    looking = look()
    known, late = {
        "look_then_step": (6, looking.width),
        "step_look_step": (looking.width, 0),
        "step_then_look": (6, 0),
        "step_then_look_fed": (6, WIDTH),
    }[decoder]
    stack = Stack(known, WIDTH, late=late, late_to_all=late_to_all, **stacked)
    own = {"first": CELLS[cell](6, WIDTH)} if decoder == "step_look_step" else {}
    parts = (
        Embedding(VOCABULARY, 6, dropout=dropout),
        looking,
        stack,
        BRIDGES[bridge](WIDTH, stack.state_width, layers=layers),
        READOUTS[readout](6, WIDTH, looking.width, width=WIDTH, dropout=dropout),
    )
    return Seq2Seq(encoder, DECODERS[decoder](*parts, head=Head(WIDTH, VOCABULARY), **own)).eval()


def built(*changes: str) -> Seq2Seq:
    """A model as the configuration would have it."""
    torch.manual_seed(0)
    config = load_config("dates", changes)
    return build.model(config, {"source": VOCABULARY, "target": VOCABULARY}).eval()


COPYING = ("text.shared=true", "model.attention.pointer=true")


def transformer(*changes: str, copying: bool = False) -> Seq2Seq:
    """Two layers and two heads on each side; `both.` stands for encoder and decoder."""
    both = [f"width={WIDTH}", "layers=2", "heads=2", f"feed_forward={2 * WIDTH}"]
    settings = _both_sides(*(f"both.{setting}" for setting in both), *changes)
    shared = ["text.shared=true"] if copying else []
    return built("model.preset=transformer_tiny", "model.attention.heads=2", *shared, *settings)


def _both_sides(*changes: str) -> list[str]:
    return [
        f"model.{side}{change.removeprefix('both.')}"
        for change in changes
        for side in (("encoder.", "decoder.") if change.startswith("both.") else ("",))
    ]


STREAM = (f"width={WIDTH}", "layers=2", "heads=2", f"feed_forward={2 * WIDTH}")


def stream(*changes: str) -> Seq2Seq:
    return built(
        "model.preset=transformer_d", *(f"model.encoder.{setting}" for setting in (*STREAM, *changes))
    )


def convolutional(*changes: str) -> Seq2Seq:
    """Two layers on each side, pieces half as wide as the convolutions; `both.` as above."""
    sizes = ["both.width=16", "both.layers=2", f"embedding={WIDTH // 2}"]
    return built("model.preset=convs2s", *_both_sides(*sizes, *changes))


CONVOLUTIONS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "two heads": ("attention.heads=2",),
    "wider kernels, tied": ("encoder.kernel=5", "decoder.kernel=4", "decoder.layers=3", "tie=all"),
    "kernels of one": ("both.kernel=1", "both.weight_norm=false"),
    "score general": ("attention.score=general", "both.positions=sinusoidal"),
    "score position": ("attention.score=position", "both.positions=none"),
    "local look": ("attention.scope=local_predicted", "attention.radius=2"),
    "hard": ("attention.selection=hard",),
}
OVER_CONVOLUTIONS = {
    "recurrent decoder": ("model.attention.score=additive", f"model.decoder={{width={WIDTH}}}"),
    "recurrent decoder, fixed vector": ("model.attention.score=none", f"model.decoder={{width={WIDTH}}}"),
    "transformer decoder": (
        f"model.decoder={{kind='transformer', width={WIDTH}, layers=2, heads=2, feed_forward=32}}",
    ),
}


TRANSFORMERS: dict[str, tuple[str, ...]] = (
    {
        "post-norm": ("both.pre_norm=false",),
        "rms norm, swiglu": ("both.norm=rms", "both.activation=swiglu"),
        "gelu": ("both.activation=gelu",),
        "positions beside": ("both.position_width=4", "tie=none"),
        "learned beside": ("both.position_width=4", "both.positions=learned", "tie=none"),
        "window": ("encoder.scope=window", "encoder.radius=2"),
        "without projections": ("both.projected=false", "both.score=dot"),
        "sparse": ("both.selection=sparse", "attention.selection=sparse"),
        "experts": ("both.experts=4",),
        "experts in one layer": ("both.experts=4", "both.expert_layers=[2]"),
        "one expert of three": ("both.experts=3", "both.experts_used=1", "both.activation=swiglu"),
        "local blocks": ("encoder.look=local", "encoder.block=3"),
        "compressed": ("encoder.look=compressed", "encoder.compression=2"),
        "alternating": ("encoder.look=alternating", "encoder.block=4"),
        "local look across": ("attention.scope=local_predicted", "attention.radius=2"),
    }
    | {f"positions {name}": (f"both.positions={name}",) for name in POSITIONS}
    | {
        f"score {name}": (f"both.score={name}", f"attention.score={name}")
        for name in SCORES
        if name not in ("location", "position")
    }
)


def batch(lengths: tuple[int, ...] = (5, 2, 7, 1), seed: int = 0, *, strange: bool = False) -> Batch:
    """Targets are the sources from their end. Where it is strange, the last word of most is beyond the vocabulary."""
    generator = torch.Generator().manual_seed(seed)
    rows = [[*torch.randint(4, VOCABULARY, (n,), generator=generator).tolist(), END] for n in lengths]
    for row in rows[:-1] if strange else []:
        row[-2] = VOCABULARY
        row[0] = VOCABULARY + min(1, len(row) - 2)
    return Batch(Tokens.pad(rows), Tokens.pad([[*row[-2::-1], END] for row in rows]))


MODELS: dict[str, Callable[[], Seq2Seq]] = (
    {
        "two heads": lambda: recurrent(look=lambda: attention(heads=2)),
        "deep, residual, normed": lambda: recurrent(layers=3, residual=True, layer_norm=True),
        "gnmt": lambda: recurrent(
            cell="lstm", layers=3, directions="first", residual=True, late_to_all=True, bridge="zeros"
        ),
        "reversed": lambda: recurrent(reverse=True),
        "one direction": lambda: recurrent(directions="one"),
        "fixed vector, at every step": lambda: recurrent(look=lambda: FixedVector(width=WIDTH)),
        "fixed vector, at the start": lambda: recurrent(
            look=lambda: FixedVector(width=0),
            decoder="step_then_look",
            bridge="last",
            readout="state",
            cell="lstm",
        ),
    }
    | {
        f"{decoder}, {cell}, {layers}": (
            lambda d=decoder, c=cell, n=layers: recurrent(decoder=d, cell=c, layers=n)
        )
        for decoder in ("look_then_step", "step_look_step", "step_then_look", "step_then_look_fed")
        for cell in CELLS
        for layers in (1, 2)
    }
    | {f"score {name}": (lambda name=name: recurrent(look=lambda: attention(name))) for name in SCORES}
    | {
        f"scope {name}": (lambda name=name: recurrent(look=lambda: attention("general", name)))
        for name in SCOPES
        if name not in ("causal", "window")
    }
    | {
        f"selection {name}": (lambda name=name: recurrent(look=lambda: attention("general", "global", name)))
        for name in SELECTIONS
    }
    | {f"stream, {name}": (lambda name=name: stream(f"positions={name}")) for name in POSITIONS}
    | {"stream, source sees all of itself": lambda: stream("scope=global", "positions=relative")}
    | {"stream, experts": lambda: stream("experts=4")}
    | {
        f"stream, {look}, {name}": (
            lambda look=look, name=name: stream(
                "scope=global", f"look={look}", f"positions={name}", "block=4"
            )
        )
        for look, name in (
            ("compressed", "rotary"),
            ("compressed", "relative"),
            ("alternating", "relative"),
        )
    }
    | {
        "transformer, recurrent decoder": lambda: built(
            f"model.encoder={{kind='transformer', width={WIDTH}, layers=2, heads=2, feed_forward=32}}",
            f"model.decoder={{width={WIDTH}}}",
        )
    }
    | {f"transformer, {name}": (lambda c=changes: transformer(*c)) for name, changes in TRANSFORMERS.items()}
    | {
        f"convolutional, {name}": (lambda c=changes: convolutional(*c))
        for name, changes in CONVOLUTIONS.items()
    }
    | {
        f"convolutional encoder, {name}": (
            lambda c=changes: built(
                f"model.encoder={{kind='convolutional', width={WIDTH}, layers=2}}",
                f"model.embedding={WIDTH}",
                *c,
            )
        )
        for name, changes in OVER_CONVOLUTIONS.items()
    }
    | {
        f"convolutional decoder over {kind}": (
            lambda e=encoder: built(
                f"model.encoder={e}",
                f"model.decoder={{kind='convolutional', width={WIDTH}, layers=2}}",
                "model.attention.score=general",
                f"model.embedding={WIDTH // 2}",
            )
        )
        for kind, encoder in {
            "recurrence": f"{{width={WIDTH}}}",
            "a transformer": f"{{kind='transformer', width={WIDTH}, layers=2, heads=2, feed_forward=32}}",
        }.items()
    }
    | {f"bridge {name}": (lambda name=name: recurrent(bridge=name)) for name in BRIDGES}
    | {f"readout {name}": (lambda name=name: recurrent(readout=name)) for name in READOUTS}
)

POINTERS: dict[str, Callable[[], Seq2Seq]] = {
    "pointer, recurrent": lambda: built(*COPYING, "model.embedding=6", *_both_sides("both.width=16")),
    "pointer, history": lambda: remembering(
        built(
            *COPYING, "model.attention.history=true", "model.attention.heads=2", *_both_sides("both.width=16")
        )
    ),
    "pointer, fed, one head": lambda: remembering(
        built(
            *COPYING,
            "model.attention={score='general', heads=2, pointer=true, pointer_head=1, history=true}",
            "model.decoder.kind=step_then_look_fed",
            *_both_sides("both.width=16"),
        )
    ),
    "pointer, all steps at once": lambda: built(
        *COPYING, "model.decoder.kind=step_then_look", *_both_sides("both.width=16")
    ),
    "pointer, transformer": lambda: transformer("attention.pointer=true", copying=True),
    "pointer, transformer, one head, sparse": lambda: transformer(
        "attention.pointer=true", "attention.pointer_head=1", "attention.selection=sparse", copying=True
    ),
    "pointer, convolutional": lambda: built(
        "model.preset=convs2s", *COPYING, *_both_sides("both.width=16", "both.layers=2", "embedding=8")
    ),
    "pointer, stream": lambda: built(
        "model.preset=transformer_dmca", *COPYING, *(f"model.encoder.{one}" for one in (*STREAM, "layers=3"))
    ),
}
HISTORY = {
    "history alone": lambda: remembering(built("model.attention.history=true", *_both_sides("both.width=16")))
}


def remembering(model: Seq2Seq) -> Seq2Seq:
    """With a history that counts: it starts at zero."""
    torch.nn.init.normal_(model.decoder.look.history.weight)
    return model


MODELS |= POINTERS | HISTORY

FEW = (
    "look_then_step, gru, 2",
    "transformer, positions rotary",
    "convolutional, two heads",
    "stream, sinusoidal",
    "pointer, history",
    "pointer, transformer",
)  # one of each family, for what costs most


def search(
    stepper: Stepper[Any], source: Tokens, plan: SearchPlan, *, memory: object = None
) -> list[tuple[Hypothesis, ...]]:
    """What a search finds for each row; from the source itself, or from what the stepper is to begin with."""
    rows = [row[:length] for row, length in zip(source.ids.tolist(), source.lengths.tolist(), strict=True)]
    questions = [Question(len(row), repr(row).encode()) for row in rows]
    with torch.inference_mode():
        found = plan(stepper, source if memory is None else memory, questions, source.mask)
    return [one.hypotheses for one in found]
