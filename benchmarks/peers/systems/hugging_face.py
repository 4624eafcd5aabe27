"""Hugging Face transformers: Marian's architecture, the Trainer's label smoothing and optimizer, its `generate`."""

from collections.abc import Sequence
from typing import Any

from contract import LONGEST, TRANSFORMER_NAMES, VOCABULARY, Batch, Decode, Shape, Step, chunks, padded

TITLE = "transformers 5.22 (Marian)"
ENVIRONMENT = "hugging_face"
TRAINS = TRANSFORMER_NAMES
LACKS = "has no recurrent encoder-decoder"
DECODERS = ("float32",)
PAD, UNKNOWN, BEGIN, END = range(4)
IGNORED = -100


def start() -> None:
    from transformers import MarianConfig, MarianMTModel  # noqa: F401
    from transformers.trainer_pt_utils import LabelSmoother  # noqa: F401


def _model(shape: Shape) -> Any:
    import torch
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(1)
    configuration = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=shape.width,
        encoder_layers=shape.layers,
        decoder_layers=shape.layers,
        encoder_attention_heads=shape.heads,
        decoder_attention_heads=shape.heads,
        encoder_ffn_dim=shape.inner,
        decoder_ffn_dim=shape.inner,
        activation_function="relu",
        dropout=shape.dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        max_position_embeddings=LONGEST,
        scale_embedding=True,
        pad_token_id=PAD,
        eos_token_id=END,
        bos_token_id=BEGIN,
        decoder_start_token_id=BEGIN,
        forced_eos_token_id=None,
    )
    return MarianMTModel(configuration)


def trainer(shape: Shape) -> Step:
    import torch
    from transformers.trainer_pt_utils import LabelSmoother

    model = _model(shape)
    model.train()
    smoother = LabelSmoother(epsilon=shape.smoothing)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=shape.learning_rate, betas=shape.betas, weight_decay=0.0, fused=True
    )  # what its Trainer takes

    def step(batch: Batch) -> float:
        source = torch.tensor(padded(batch.sources, PAD, last=END))
        labels = torch.tensor(padded(batch.targets, IGNORED, last=END))
        fed = torch.tensor(padded([[BEGIN, *row] for row in batch.targets], PAD))
        optimizer.zero_grad()
        outputs = model(
            input_ids=source,
            attention_mask=source != PAD,
            decoder_input_ids=fed,
            decoder_attention_mask=fed != PAD,
            use_cache=False,
        )
        loss = smoother({"logits": outputs.logits}, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), shape.clip)
        optimizer.step()
        return loss.item()

    return step


def decoder(shape: Shape, way: str) -> Decode:
    import torch

    model = _model(shape).eval()

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        lengths: list[int] = []
        for some in chunks(sources, batch):
            ids = torch.tensor(padded(some, PAD, last=END))
            with torch.inference_mode():
                found = model.generate(
                    ids,
                    attention_mask=ids != PAD,
                    num_beams=beam,
                    do_sample=False,
                    min_new_tokens=steps,
                    max_new_tokens=steps,
                    length_penalty=0.6,
                )
            lengths += [found.shape[1] - 1] * len(some)
        return lengths

    return decode
