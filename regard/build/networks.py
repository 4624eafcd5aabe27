"""Models: fresh, counted, or with trained weights."""

from collections.abc import Mapping
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from regard.build.decoders import decoder
from regard.build.encoders import backbone, encoder
from regard.config import Config
from regard.config.parts import PictureEncoder
from regard.core.errors import UserError
from regard.core.weights import DIGEST, digest, load_weights
from regard.layers import Embedding, PlacedEmbedding, PointEmbedding
from regard.layers.backbones import EfficientNetLite
from regard.models import Seq2Seq
from regard.run import ModelFolder
from regard.tasks.codec import Codec


def model(config: Config, sizes: Mapping[str, int]) -> Seq2Seq:
    """The model with fresh weights, drawn from torch's generator; a backbone knows what it learned of pictures before.

    The sizes are those of the codec.
    """
    net = _unlearned(config, sizes)
    for part in net.modules():
        if isinstance(part, EfficientNetLite):
            part.load_pretrained()
    return net


def _unlearned(config: Config, sizes: Mapping[str, int]) -> Seq2Seq:
    reading = encoder(config, sizes)
    net = Seq2Seq(reading, decoder(config, sizes["target"], reading))
    _tie(net, config)
    return net


def _tie(net: Seq2Seq, config: Config) -> None:
    """The table of target pieces becomes the matrix of the output, and that of source pieces too."""
    if config.model.tie == "none":
        return
    said = _pieces(net.decoder.embedding)  # type: ignore[attr-defined]
    net.decoder.head.weight = said.table.weight  # type: ignore[attr-defined]
    if config.model.tie == "all" and config.text.shared:
        _pieces(net.encoder.embedding).table = said.table  # type: ignore[attr-defined]


def _pieces(embedding: Embedding | PlacedEmbedding) -> Embedding:
    own = embedding.pieces if isinstance(embedding, PlacedEmbedding) else embedding
    assert not isinstance(own, PointEmbedding), "points have no table"
    return own


def parameters(config: Config, *, vocabulary: int) -> int:
    """How many numbers the model has to learn with a vocabulary of this size on both sides; nothing is built."""
    sizes = {"source": vocabulary, "target": vocabulary}
    with torch.device("meta"):
        if isinstance(config.model.encoder, PictureEncoder) and not config.model.encoder.trained:
            seeing: Any = backbone(config.model.encoder)
            sizes |= {"source": seeing.width, "rows": seeing.grid[0], "columns": seeing.grid[1]}
        net = _unlearned(config, sizes)
    return sum(parameter.numel() for parameter in net.parameters())


def load_model(config: Config, folder: ModelFolder, codec: Codec) -> Seq2Seq:
    """The model with its trained weights. Vocabulary and weights that don't match are found out here."""
    known = folder.vocabulary()
    for side, size in codec.sizes.items():
        if known.get(side) != size:
            raise UserError(
                f"{folder.folder}: the model was trained with {known.get(side)} {side} pieces, but its {side} "
                f"tokenizer has {size}. One of the files belongs to another model."
            )
    folder.verify()
    net = _unlearned(config, codec.sizes)
    try:
        weights = load_file(folder.weights_path)
        if (told := folder.header().get(DIGEST)) is not None and told != digest(weights):
            raise RuntimeError("its numbers have changed since it was written.")
        load_weights(net, weights)
    except (SafetensorError, RuntimeError, OSError) as error:
        raise UserError(
            f"{folder.weights_path} is damaged or belongs to another model: {str(error).splitlines()[0]}"
        ) from None
    return net
