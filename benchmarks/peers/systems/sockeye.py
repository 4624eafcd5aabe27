"""Sockeye: its model, traced as its training traces it, the very step of its trainer, and its searches."""

import functools
import math
import tempfile
from collections.abc import Sequence
from typing import Any

from contract import LONGEST, MARKS, TRANSFORMER_NAMES, VOCABULARY, Batch, Decode, Shape, Step, chunks, padded

TITLE = "Sockeye 3.1.34"
ENVIRONMENT = "sockeye"
TRAINS = TRANSFORMER_NAMES
LACKS = "has no recurrent encoder-decoder since version 3"
DECODERS = ("float32",)
PAD, UNKNOWN, BEGIN, END = range(4)


def start() -> None:
    import sockeye.beam_search
    import sockeye.data_io
    import sockeye.inference
    import sockeye.loss
    import sockeye.model
    import sockeye.optimizers
    import sockeye.training  # noqa: F401


def _configuration(shape: Shape) -> Any:
    from sockeye.data_io import DataConfig
    from sockeye.encoder import EmbeddingConfig
    from sockeye.model import ModelConfig
    from sockeye.transformer import TransformerConfig

    table = EmbeddingConfig(vocab_size=VOCABULARY, num_embed=shape.width, dropout=0.0)
    side = TransformerConfig(
        model_size=shape.width,
        attention_heads=shape.heads,
        feed_forward_num_hidden=shape.inner,
        act_type="relu",
        num_layers=shape.layers,
        dropout_attention=0.0,
        dropout_act=0.0,
        dropout_prepost=shape.dropout,  # on embeddings with their places, too
        positional_embedding_type="fixed",
        preprocess_sequence="n",
        postprocess_sequence="dr",
        max_seq_len_source=LONGEST,
        max_seq_len_target=LONGEST,
        depth_key_value=shape.width,
    )
    data = DataConfig(
        data_statistics=None,
        max_seq_len_source=LONGEST,
        max_seq_len_target=LONGEST,
        num_source_factors=1,
        num_target_factors=1,
    )
    return ModelConfig(
        config_data=data,
        vocab_source_size=VOCABULARY,
        vocab_target_size=VOCABULARY,
        config_embed_source=table,
        config_embed_target=table,
        config_encoder=side,
        config_decoder=side,
        weight_tying_type="src_trg_softmax",
    )


def _model(shape: Shape, *, answers: bool) -> Any:
    import torch
    from sockeye.model import SockeyeModel, initialize_parameters

    torch.manual_seed(1)
    configuration = _configuration(shape)
    if answers:
        configuration.disable_dropout()
    model = SockeyeModel(configuration, inference_only=answers)
    model.apply(initialize_parameters)
    return model


def trainer(shape: Shape) -> Step:
    import torch
    from sockeye.loss import CrossEntropyLoss
    from sockeye.optimizers import OptimizerConfig, get_optimizer
    from sockeye.training import EarlyStoppingTrainer, ModelWithLoss, TrainerConfig, TrainState

    model = _model(shape, answers=False)
    given = OptimizerConfig(
        name="adam",
        lr=shape.learning_rate,
        betas=shape.betas,
        gradient_clipping_type="norm",
        gradient_clipping_threshold=shape.clip,
    )
    kind, options, zeroing = get_optimizer(given)
    example = _batch(_example())
    inputs = (example.source, example.source_length, example.target, example.target_length)
    traced = torch.jit.trace(model, inputs, strict=False)
    losses = [CrossEntropyLoss(label_smoothing=shape.smoothing)]
    loop = EarlyStoppingTrainer(
        config=TrainerConfig(
            output_dir=tempfile.gettempdir(),  # nothing is saved there
            early_stopping_metric="perplexity",
            max_params_files_to_keep=1,
            keep_initializations=False,
            max_params_files_to_cache=1,
            cache_strategy="best",
            cache_metric="perplexity",
            checkpoint_interval=10**9,
            max_num_checkpoint_not_improved=1,
            checkpoint_improvement_threshold=0.0,
        ),
        optimizer_config=given,
        sockeye_model=model,
        model_object=ModelWithLoss(traced, losses),
        optimizer=kind(model.parameters(), **options),
        lr_scheduler=None,
        zero_grad_kwargs=zeroing,
        loss_functions=losses,
        device=torch.device("cpu"),
    )
    loop.state = TrainState("perplexity")

    def step(batch: Batch) -> float:
        losses[0].metric.reset()
        loop._step(_batch(batch))
        return math.log(losses[0].metric.get())

    return step


def _example() -> Batch:
    """What is traced, instead of the first batch of a validation."""
    rows = [range(MARKS, MARKS + length) for length in (7, 9, 8)]
    return Batch([list(row) for row in rows], [list(row) for row in rows])


def _batch(batch: Batch) -> Any:
    import torch
    from sockeye.data_io import create_batch_from_parallel_sample, create_target_and_shifted_label_sequences

    source = torch.tensor(padded(batch.sources, PAD, last=END))[..., None]
    target = torch.tensor(padded(batch.targets, PAD, first=BEGIN, last=END))[..., None]
    return create_batch_from_parallel_sample(source, *create_target_and_shifted_label_sequences(target))


def decoder(shape: Shape, way: str) -> Decode:
    import numpy
    import torch
    from sockeye.beam_search import CandidateScorer, get_search_algorithm
    from sockeye.inference import Translator

    model = _model(shape, answers=True)
    model.eval()
    with torch.no_grad():
        model.output_layer.bias[[PAD, END]] -= 1000  # it knows no shortest length

    @functools.cache  # what it traces stays
    def search_for(beam: int, greedy: bool) -> Any:
        """Its search for one source and no beam, or its beam search, which does all else."""
        return get_search_algorithm(
            models=[model],
            beam_size=beam,
            device=torch.device("cpu"),
            output_scores=beam > 1,
            scorer=CandidateScorer(length_penalty_alpha=0.6, length_penalty_beta=5.0),
            constant_length_ratio=-1.0 if greedy else 0.0,
            greedy=greedy,
        )

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        lengths: list[int] = []
        for some in chunks(sources, batch):
            search = search_for(beam, len(some) == beam == 1)
            ids = torch.tensor(padded(some, PAD, last=END))[..., None]
            longest = torch.full((len(some),), steps, dtype=torch.int32)
            sizes = torch.tensor([[len(row) + 1, 0] for row in some])
            with torch.inference_mode():
                found = search(ids, sizes, None, longest)
            hypotheses = found.best_hyp_indices.numpy()
            first = numpy.arange(0, len(some) * beam, beam)
            rows = Translator._get_best_word_indices_for_kth_hypotheses(first, hypotheses)
            words = found.best_word_indices.numpy()[rows, 0, numpy.arange(rows.shape[1])]
            lengths += [int((row != PAD).sum()) for row in words]
        return lengths

    return decode
