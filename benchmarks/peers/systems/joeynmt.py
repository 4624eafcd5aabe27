"""JoeyNMT: its model from its own settings, its loss, optimizer and clipping, its batches and its search."""

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from contract import EMBEDDING, MARKS, SHAPES, VOCABULARY, Batch, Decode, Shape, Step, chunks, padded

TITLE = "JoeyNMT 2.3.0"
ENVIRONMENT = "joeynmt"
TRAINS = tuple(SHAPES)
LACKS = ""
DECODERS = ("float32",)
UNKNOWN, PAD, BEGIN, END = range(4)
SCORES = {"general": "luong", "additive": "bahdanau"}


def start() -> None:
    import joeynmt.batch
    import joeynmt.builders
    import joeynmt.model
    import joeynmt.search
    import joeynmt.vocabulary  # noqa: F401


def _vocabulary() -> Any:
    from joeynmt.vocabulary import Vocabulary

    marks = SimpleNamespace(
        unk_token="<unk>",
        unk_id=UNKNOWN,
        pad_token="<pad>",
        pad_id=PAD,
        bos_token="<s>",
        bos_id=BEGIN,
        eos_token="</s>",
        eos_id=END,
        sep_token=None,
        lang_tags=[],
    )
    words = Vocabulary([f"p{number}" for number in range(MARKS, VOCABULARY)], marks)
    assert len(words) == VOCABULARY
    return words


def _model(shape: Shape) -> Any:
    import torch
    from joeynmt.model import build_model
    from joeynmt.transformer_layers import MultiHeadedAttention, PositionwiseFeedForward

    torch.manual_seed(1)
    words = _vocabulary()
    model = build_model((_recurrent if shape.recurrent else _transformer)(shape), words, words)
    for part in model.modules():  # inside the parts nothing is dropped
        if isinstance(part, MultiHeadedAttention):
            part.dropout.p = 0.0
        elif isinstance(part, PositionwiseFeedForward):
            part.pwff_layer[2].p = 0.0
    return model


def _transformer(shape: Shape) -> dict[str, Any]:
    side = {
        "type": "transformer",
        "num_layers": shape.layers,
        "num_heads": shape.heads,
        "hidden_size": shape.width,
        "ff_size": shape.inner,
        "dropout": shape.dropout,
        "layer_norm": "pre",
        "embeddings": {"embedding_dim": shape.width, "scale": True, "dropout": shape.dropout},
    }
    return {"encoder": side, "decoder": side, "tied_embeddings": True, "tied_softmax": True}


def _recurrent(shape: Shape) -> dict[str, Any]:
    both = {
        "type": "recurrent",
        "rnn_type": "lstm",
        "num_layers": shape.layers,
        "dropout": shape.dropout,
        "embeddings": {"embedding_dim": EMBEDDING, "dropout": shape.dropout},
    }
    encoder = {**both, "hidden_size": shape.width // 2, "bidirectional": True}
    decoder = {
        **both,
        "hidden_size": shape.width,
        "attention": SCORES[shape.score],
        "input_feeding": shape.feeding,
        "hidden_dropout": shape.dropout,
        "init_hidden": "last",
    }
    return {"encoder": encoder, "decoder": decoder}


def _batch(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]] | None) -> Any:
    import torch
    from joeynmt.batch import Batch as Examples

    return Examples(
        src=torch.tensor(padded(sources, PAD, last=END)),
        src_length=torch.tensor([len(row) + 1 for row in sources]),
        src_prompt_mask=None,
        trg=None if targets is None else torch.tensor(padded(targets, PAD, first=BEGIN, last=END)),
        trg_prompt_mask=None,
        indices=torch.arange(len(sources)),
        device=torch.device("cpu"),
        pad_index=PAD,
        eos_index=END,
        is_train=targets is not None,
    )


def trainer(shape: Shape) -> Step:
    from joeynmt.builders import build_gradient_clipper, build_optimizer

    model = _model(shape)
    model.train()
    model.loss_function = ("crossentropy", shape.smoothing)
    given = {"optimizer": "adam", "learning_rate": shape.learning_rate, "adam_betas": shape.betas}
    optimizer = build_optimizer(given, model.parameters())
    clip = build_gradient_clipper({"clip_grad_norm": shape.clip, "clip_grad_val": None})
    known = _entropy(shape.smoothing)

    def step(batch: Batch) -> float:
        examples = _batch(batch.sources, batch.targets)
        examples.sort_by_src_length()
        total, _, _, correct = model(return_type="loss", **vars(examples))
        loss = examples.normalize(total, normalization="tokens")
        loss.backward()
        correct.item()
        clip(parameters=model.parameters())
        optimizer.step()
        model.zero_grad()
        return loss.item() + known

    return step


def _entropy(smoothing: float) -> float:
    """What its loss, a divergence from the smoothed target, is below everybody else's."""
    rest = smoothing / (VOCABULARY - 2)
    return -((1 - smoothing) * math.log(1 - smoothing) + smoothing * math.log(rest))


def decoder(shape: Shape, way: str) -> Decode:
    from joeynmt.search import search

    model = _model(shape)
    model.eval()

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        lengths = []
        for some in chunks(sources, batch):
            examples = _batch(some, None)
            examples.sort_by_src_length()
            found, _, _ = search(
                model,
                examples,
                max_output_length=steps,
                min_output_length=steps,
                beam_size=beam,
                beam_alpha=0.6,
            )
            lengths += [int((row != PAD).sum()) for row in found]
        return lengths

    return decode
