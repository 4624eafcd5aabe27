"""eole: its model, loss, optimizer and the very step of its trainer, made from its own settings; its own search."""

import functools
from collections.abc import Sequence
from typing import Any

from contract import EMBEDDING, MARKS, SHAPES, VOCABULARY, Batch, Decode, Shape, Step, chunks, padded

TITLE = "eole 0.6.4"
ENVIRONMENT = "eole"
TRAINS = tuple(SHAPES)
LACKS = ""
DECODERS = ("float32",)
UNKNOWN, PAD, BEGIN, END = range(4)
SCORES = {"general": "general", "additive": "mlp"}
CPU = -1  # the number of its device


def start() -> None:
    import eole.config.run
    import eole.models.model
    import eole.predict.translator
    import eole.trainer
    import eole.utils.optimizers  # noqa: F401


def _settings(shape: Shape) -> Any:
    from eole.config.run import TrainConfig

    training = {
        "optim": "adam",
        "learning_rate": shape.learning_rate,
        "adam_beta1": shape.betas[0],
        "adam_beta2": shape.betas[1],
        "max_grad_norm": shape.clip,
        "label_smoothing": shape.smoothing,
        "dropout": [shape.dropout],
        "attention_dropout": [0.0],
        "param_init_method": "xavier_uniform",
        "normalization": "tokens",
        "compute_dtype": "fp32",
    }
    model = (_recurrent if shape.recurrent else _transformer)(shape)
    return TrainConfig(data={}, src_vocab="none", share_vocab=True, model=model, training=training)


def _transformer(shape: Shape) -> dict[str, Any]:
    return {
        "architecture": "transformer",
        "layers": shape.layers,
        "hidden_size": shape.width,
        "heads": shape.heads,
        "transformer_ff": shape.inner,
        "add_qkvbias": True,
        "add_final_linear_bias": True,
        "add_ffnbias": True,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
        "embeddings": {"word_vec_size": shape.width, "position_encoding": True},
    }


def _recurrent(shape: Shape) -> dict[str, Any]:
    return {
        "architecture": "custom",
        "layers": shape.layers,
        "hidden_size": shape.width,
        "input_feed": int(shape.feeding),
        "embeddings": {"word_vec_size": EMBEDDING, "position_encoding_type": None},
        "encoder": {"encoder_type": "brnn", "rnn_type": "LSTM"},
        "decoder": {
            "decoder_type": "rnn",
            "rnn_type": "LSTM",
            "global_attention": SCORES[shape.score],
        },
    }


def _vocabularies() -> dict[str, Any]:
    import pyonmttok

    marks = {"unk_token": "<unk>", "pad_token": "<blank>", "bos_token": "<s>", "eos_token": "</s>"}
    names = [f"p{number}" for number in range(MARKS, VOCABULARY)]
    words = pyonmttok.build_vocab_from_tokens(names, special_tokens=list(marks.values()))
    assert len(words) == VOCABULARY
    return {"src": words, "tgt": words, "specials": marks, "decoder_start_token": "<s>"}


def trainer(shape: Shape) -> Step:
    import torch
    from eole.models.model import get_model_class
    from eole.trainer import build_trainer
    from eole.utils import Statistics
    from eole.utils.optimizers import Optimizer

    torch.manual_seed(1)
    settings, vocabularies = _settings(shape), _vocabularies()
    kind = get_model_class(settings.model)
    model = kind.for_training(settings.model, vocabularies, settings.training, device_id=CPU)
    for part in model.modules():
        if hasattr(part, "dropout_1"):
            part.dropout_1.p = 0.0  # inside the parts nothing is dropped
    model.train()
    loop = build_trainer(settings, CPU, model, vocabularies, Optimizer.from_config(model, settings))

    def step(batch: Batch) -> float:
        examples = {
            "src": torch.tensor(padded(batch.sources, PAD, last=END)),
            "srclen": torch.tensor([len(row) + 1 for row in batch.sources]),
            "tgt": torch.tensor(padded(batch.targets, PAD, first=BEGIN, last=END)),
            "images": None,
            "prefix_len": None,
            "cid": ["all"] * len(batch.sources),
            "cid_line_number": range(len(batch.sources)),
        }
        found = Statistics()
        loop._train_step([examples], batch.tokens, Statistics(), found, step=1)
        return float(found.loss) / batch.tokens

    return step


def decoder(shape: Shape, way: str) -> Decode:
    import torch
    from eole.config.run import PredictConfig
    from eole.models.model import get_model_class
    from eole.predict.beam_search import GNMTGlobalScorer
    from eole.predict.translator import Translator

    torch.manual_seed(1)
    settings, vocabularies = _settings(shape), _vocabularies()

    def asked(beam: int, steps: int) -> Any:
        """Its settings for answers, without a folder to read a model from."""
        return PredictConfig.model_construct(
            model_path=["none"],
            src="none",
            beam_size=beam,
            min_length=steps - 1,
            max_length=steps,
            length_penalty="wu",
            alpha=0.6,
            optional_eos=[],
            compute_dtype=torch.float32,
            self_attn_backend="pytorch",
        )

    model = get_model_class(settings.model).build(settings.model, vocabularies, asked(1, 1))
    model.init_weights(settings.training)
    model._prepare_for_inference(asked(1, 1))

    @functools.cache
    def translator_for(beam: int, steps: int) -> Any:
        given = asked(beam, steps)
        scorer = GNMTGlobalScorer.from_config(given)
        return Translator(
            model,
            vocabularies,
            given,
            settings.model,
            device_id=CPU,
            global_scorer=scorer,
            report_score=False,
        )

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        translator = translator_for(beam, steps)
        lengths = []
        for some in chunks(sources, batch):
            ids = torch.tensor(padded(some, PAD, last=END))
            examples = {"src": ids, "srclen": torch.tensor([len(row) + 1 for row in some])}
            found = translator.predict_batch(examples, attn_debug=False)
            lengths += [len(best[0]) for best in found["predictions"]]
        return lengths

    return decode
