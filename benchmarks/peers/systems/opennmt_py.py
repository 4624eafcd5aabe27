"""OpenNMT-py: its model, loss and optimizer from its own options, its own search."""

import sys
import types
from collections.abc import Sequence
from typing import Any

from contract import EMBEDDING, MARKS, SHAPES, VOCABULARY, Batch, Decode, Shape, Step, chunks, padded

TITLE = "OpenNMT-py 3.5.1"
ENVIRONMENT = "opennmt_py"
TRAINS = tuple(SHAPES)
LACKS = ""
DECODERS = ("float32",)
UNKNOWN, PAD, BEGIN, END = range(4)
SCORES = {"general": "general", "additive": "mlp"}


def start() -> None:
    for name in (
        "spacy",
        "fasttext",
    ):  # of transforms of texts that are not used here, imported with all others
        sys.modules.setdefault(name, types.ModuleType(name))
    import onmt.model_builder
    import onmt.opts
    import onmt.translate
    import onmt.utils.loss
    import onmt.utils.optimizers  # noqa: F401


def _options(shape: Shape) -> Any:
    from onmt.opts import train_opts
    from onmt.utils.parse import ArgumentParser

    parser = ArgumentParser()
    train_opts(parser)
    given = f"""-data {{}} -src_vocab none -tgt_vocab none -share_vocab -optim adam -learning_rate {shape.learning_rate}
        -adam_beta1 {shape.betas[0]} -adam_beta2 {shape.betas[1]} -max_grad_norm {shape.clip}
        -label_smoothing {shape.smoothing} -dropout {shape.dropout} -attention_dropout 0
        -layers {shape.layers} -hidden_size {shape.width} -param_init_glorot -param_init 0""".split()
    given += (_recurrent if shape.recurrent else _transformer)(shape).split()
    options, _ = parser.parse_known_args(given)
    ArgumentParser.update_model_opts(options)
    return options


def _transformer(shape: Shape) -> str:
    return (
        f"-encoder_type transformer -decoder_type transformer -heads {shape.heads} -transformer_ff {shape.inner} "
        f"-word_vec_size {shape.width} -position_encoding -share_embeddings -share_decoder_embeddings"
    )


def _recurrent(shape: Shape) -> str:
    return (
        f"-encoder_type brnn -decoder_type rnn -rnn_type LSTM -word_vec_size {EMBEDDING} "
        f"-global_attention {SCORES[shape.score]} -input_feed {int(shape.feeding)}"
    )


def _model(shape: Shape) -> tuple[Any, Any, Any]:
    import pyonmttok
    import torch
    from onmt.model_builder import build_base_model
    from onmt.modules.position_ffn import PositionwiseFeedForward

    torch.manual_seed(1)
    marks = ["<unk>", "<blank>", "<s>", "</s>"]
    names = [f"p{number}" for number in range(MARKS, VOCABULARY)]
    vocabulary = pyonmttok.build_vocab_from_tokens(names, special_tokens=marks)
    assert len(vocabulary) == VOCABULARY
    vocabularies = {"src": vocabulary, "tgt": vocabulary, "decoder_start_token": "<s>"}
    options = _options(shape)
    model = build_base_model(options, vocabularies)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.xavier_uniform_(parameter)
        elif parameter.abs().sum() == 0 or not torch.isfinite(parameter).all():
            torch.nn.init.zeros_(parameter)
    torch.nn.init.zeros_(model.generator.bias)
    for part in model.modules():
        if isinstance(part, PositionwiseFeedForward):
            part.dropout_1.p = 0.0  # inside the parts nothing is dropped
    return model, options, vocabularies


def trainer(shape: Shape) -> Step:
    import torch
    from onmt.utils.loss import LossCompute
    from onmt.utils.optimizers import Optimizer, build_torch_optimizer

    model, options, vocabularies = _model(shape)
    model.train()
    loss_of = LossCompute.from_opts(options, model, vocabularies["tgt"])
    optimizer = Optimizer(
        build_torch_optimizer(model, options), shape.learning_rate, max_grad_norm=shape.clip
    )

    def step(batch: Batch) -> float:
        source = torch.tensor(padded(batch.sources, PAD, last=END))[..., None]
        target = torch.tensor(padded(batch.targets, PAD, first=BEGIN, last=END))[..., None]
        lengths = torch.tensor([len(row) + 1 for row in batch.sources])
        optimizer.zero_grad()
        outputs, attention = model(source, target, lengths)
        examples = {"src": source, "tgt": target, "srclen": lengths}
        loss, _ = loss_of(examples, outputs, attention)
        optimizer.backward(loss / batch.tokens)
        optimizer.step()
        return loss.item() / batch.tokens

    return step


def decoder(shape: Shape, way: str) -> Decode:
    import torch
    from onmt.translate import GNMTGlobalScorer, Translator

    model, _, vocabularies = _model(shape)
    model.eval()
    scorer = GNMTGlobalScorer(0.6, 0.0, "wu", "none")

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        translator = Translator(
            model,
            vocabularies,
            beam_size=beam,
            min_length=steps - 1,
            max_length=steps,
            max_length_ratio=0,
            global_scorer=scorer,
            report_score=False,
        )
        lengths = []
        for some in chunks(sources, batch):
            ids = torch.tensor(padded(some, PAD, last=END))[..., None]
            examples = {"src": ids, "srclen": torch.tensor([len(row) + 1 for row in some])}
            examples["indices"] = examples["ind_in_bucket"] = torch.arange(len(some))
            found = translator.translate_batch(examples, attn_debug=False)
            lengths += [len(best[0]) for best in found["predictions"]]
        return lengths

    return decode
