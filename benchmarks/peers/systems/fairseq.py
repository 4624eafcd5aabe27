"""fairseq: its models from its own options, its criterion, its Adam and its sequence generator."""

from argparse import Namespace
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from contract import (
    EMBEDDING,
    LONGEST,
    MARKS,
    TRANSFORMER_NAMES,
    VOCABULARY,
    Batch,
    Decode,
    Shape,
    Step,
    chunks,
    padded,
)

TITLE = "fairseq-fixed 0.12.3.1"
ENVIRONMENT = "fairseq"
TRAINS = (*TRANSFORMER_NAMES, "general-fed")
LACKS = "its LSTM always feeds and has no other score"
DECODERS = ("float32",)
BEGIN, PAD, END, UNKNOWN = range(4)


def start() -> None:
    import fairseq.criterions.label_smoothed_cross_entropy
    import fairseq.models.lstm
    import fairseq.models.transformer
    import fairseq.optim.adam
    import fairseq.sequence_generator  # noqa: F401


def _dictionary() -> Any:
    from fairseq.data import Dictionary

    words = Dictionary()
    for number in range(MARKS, VOCABULARY):
        words.add_symbol(f"p{number}")
    assert len(words) == VOCABULARY
    assert (words.bos(), words.pad(), words.eos()) == (BEGIN, PAD, END)
    return words


def _model(shape: Shape) -> tuple[Any, Any]:
    import torch

    torch.manual_seed(1)
    words = _dictionary()
    task = SimpleNamespace(source_dictionary=words, target_dictionary=words)
    return (_recurrent if shape.recurrent else _transformer)(shape, task), words


def _transformer(shape: Shape, task: Any) -> Any:
    from fairseq.models.transformer import TransformerModel
    from fairseq.models.transformer.transformer_legacy import base_architecture

    options = Namespace(
        share_all_embeddings=True,
        encoder_normalize_before=True,
        decoder_normalize_before=True,
        dropout=shape.dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        max_source_positions=LONGEST,
        max_target_positions=LONGEST,
    )
    for side in ("encoder", "decoder"):
        for name, size in (
            ("embed_dim", shape.width),
            ("ffn_embed_dim", shape.inner),
            ("layers", shape.layers),
            ("attention_heads", shape.heads),
        ):
            setattr(options, f"{side}_{name}", size)
    base_architecture(options)
    return TransformerModel.build_model(options, task)


def _recurrent(shape: Shape, task: Any) -> Any:
    from fairseq.models.lstm import LSTMModel, base_architecture

    options = Namespace(
        dropout=shape.dropout,
        encoder_embed_dim=EMBEDDING,
        encoder_hidden_size=shape.width // 2,
        encoder_layers=shape.layers,
        encoder_bidirectional=True,
        decoder_embed_dim=EMBEDDING,
        decoder_hidden_size=shape.width,
        decoder_layers=shape.layers,
        decoder_out_embed_dim=shape.width,
        decoder_attention="1",
        criterion="label_smoothed_cross_entropy",
        max_source_positions=LONGEST,
        max_target_positions=LONGEST,
    )
    base_architecture(options)
    return LSTMModel.build_model(options, task)


def trainer(shape: Shape) -> Step:
    import torch
    from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
    from fairseq.optim.adam import Adam

    model, words = _model(shape)
    model.train()
    task = SimpleNamespace(target_dictionary=words)
    criterion = LabelSmoothedCrossEntropyCriterion(task, sentence_avg=False, label_smoothing=shape.smoothing)
    optimizer = Adam(model.parameters(), lr=shape.learning_rate, betas=shape.betas)

    def step(batch: Batch) -> float:
        source = torch.tensor(padded(batch.sources, PAD, last=END))
        target = torch.tensor(padded(batch.targets, PAD, last=END))
        fed = torch.tensor(padded([[END, *row] for row in batch.targets], PAD))
        lengths = torch.tensor([len(row) + 1 for row in batch.sources])
        order = lengths.argsort(descending=True)  # its LSTM packs rows that fall in length
        sample = {
            "net_input": {
                "src_tokens": source[order],
                "src_lengths": lengths[order],
                "prev_output_tokens": fed[order],
            },
            "target": target[order],
            "ntokens": batch.tokens,
        }
        optimizer.zero_grad()
        loss, _, _ = criterion(model, sample)
        (loss / batch.tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), shape.clip)
        optimizer.step()
        return loss.item() / batch.tokens

    return step


def decoder(shape: Shape, way: str) -> Decode:
    import torch
    from fairseq.sequence_generator import SequenceGenerator

    model, words = _model(shape)
    model.eval()

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        generator = SequenceGenerator(
            [model],
            words,
            beam_size=beam,
            max_len_a=0,
            max_len_b=steps - 1,
            min_len=steps - 1,
            len_penalty=0.6,
        )
        lengths = []
        for some in chunks(sources, batch):
            ids = torch.tensor(padded(some, PAD, last=END))
            given = {"src_tokens": ids, "src_lengths": torch.tensor([len(row) + 1 for row in some])}
            found = generator.generate([model], {"net_input": given})
            lengths += [len(each[0]["tokens"]) for each in found]
        return lengths

    return decode
