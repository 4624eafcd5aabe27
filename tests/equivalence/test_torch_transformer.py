"""With the same weights, Regard's Transformer is torch's."""

import pytest
import torch
from small import WIDTH, batch, transformer
from torch import Tensor, nn

from regard.attention import Block, SelfAttention
from regard.core.kinds import NOTHING
from regard.models import Seq2Seq

HEADS, LAYERS = 2, 2


def theirs(*, pre_norm: bool) -> nn.Transformer:
    torch.manual_seed(3)
    network = nn.Transformer(
        WIDTH,
        HEADS,
        LAYERS,
        LAYERS,
        2 * WIDTH,
        dropout=0.0,
        norm_first=pre_norm,
        batch_first=True,
    )
    for parameter in network.parameters():  # biases and norms too: none may stay at its start
        nn.init.normal_(parameter, std=0.3)
    if not pre_norm:  # torch puts another norm after the last layer, which the paper does not have
        network.encoder.norm = None
        network.decoder.norm = None
    network.encoder.use_nested_tensor = False  # a prototype that warns
    return network.eval()


@torch.no_grad()
def copy_block(block: Block, layer: nn.Module) -> None:
    look = block.look
    assert isinstance(look, SelfAttention)
    assert look.project is not None
    look.project.weight.copy_(layer.self_attn.in_proj_weight)
    look.project.bias.copy_(layer.self_attn.in_proj_bias)
    look.output.load_state_dict(layer.self_attn.out_proj.state_dict())
    norms = [block.around_look, block.around_think]
    if block.across is not None and block.around_across is not None:
        weight, bias = layer.multihead_attn.in_proj_weight, layer.multihead_attn.in_proj_bias
        block.across.query.weight.copy_(weight[:WIDTH])
        block.across.query.bias.copy_(bias[:WIDTH])
        block.across.keys_and_values.weight.copy_(weight[WIDTH:])
        block.across.keys_and_values.bias.copy_(bias[WIDTH:])
        block.across.output.load_state_dict(layer.multihead_attn.out_proj.state_dict())
        norms.insert(1, block.around_across)
    block.think.rise.load_state_dict(layer.linear1.state_dict())
    block.think.fall.load_state_dict(layer.linear2.state_dict())
    for number, around in enumerate(norms, start=1):
        around.norm.load_state_dict(getattr(layer, f"norm{number}").state_dict())


def ours(network: nn.Transformer, *, pre_norm: bool) -> Seq2Seq:
    model = transformer(f"both.pre_norm={str(pre_norm).lower()}")
    for side, other in ((model.encoder, network.encoder), (model.decoder, network.decoder)):
        for block, layer in zip(side.blocks, other.layers, strict=True):
            copy_block(block, layer)
        if other.norm is not None:
            side.norm.load_state_dict(other.norm.state_dict())
    return model


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # of torch, about pre-norm
@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("pre_norm", [True, False])
def test_encoder_decoder_and_whole_model_agree_with_torchs(pre_norm: bool, wanted: bool) -> None:
    network = theirs(pre_norm=pre_norm)
    model, examples = ours(network, pre_norm=pre_norm), batch()
    kinds = frozenset({"encoder", "decoder", "cross"}) if wanted else NOTHING

    def vectors(side: nn.Module, ids: Tensor) -> Tensor:
        embedded: Tensor = side.embedding(ids, torch.arange(ids.shape[1])[None])
        return embedded

    with torch.no_grad():
        padding = ~examples.source.mask
        source = vectors(model.encoder, examples.source.ids)
        target = vectors(model.decoder, examples.target.fed)
        memory = network.encoder(source, src_key_padding_mask=padding)
        ahead = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        decoded = network.decoder(target, memory, tgt_mask=ahead, memory_key_padding_mask=padding)

        encoded = model.encoder.encode(examples.source, kinds)
        here = examples.source.mask
        torch.testing.assert_close(encoded.annotations[here], memory[here], atol=1e-5, rtol=1e-5)
        there = examples.target.mask
        features = model(examples, kinds).features
        torch.testing.assert_close(features[there], decoded[there], atol=1e-5, rtol=1e-5)


def test_the_weights_of_a_look_are_torchs() -> None:
    network = theirs(pre_norm=False)
    model, examples = ours(network, pre_norm=False), batch()
    with torch.no_grad():
        vectors = model.encoder.embedding(
            examples.source.ids, torch.arange(examples.source.ids.shape[1])[None]
        )
        _, expected = network.encoder.layers[0].self_attn(
            vectors, vectors, vectors, key_padding_mask=~examples.source.mask, average_attn_weights=False
        )
        found = model.encoder.encode(examples.source).attention["encoder"][:, 0]
    torch.testing.assert_close(found, expected)
