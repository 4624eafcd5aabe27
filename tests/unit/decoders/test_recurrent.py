"""The decoders against their papers' formulas, written out step by step for one source."""

import torch
from small import attention, batch, recurrent
from torch import Tensor

from regard.attention import Attention
from regard.layers import RecurrentLayer
from regard.models import Seq2Seq


def gru(model: Seq2Seq, inputs: Tensor, late: Tensor, state: Tensor) -> Tensor:
    """With the late input beside the known one."""
    stack = model.decoder.stack
    beside = stack.late[0].weight @ late if len(stack.late) else 0.0
    return cell(stack.cells[0], inputs, state, beside)


def cell(layer: RecurrentLayer, inputs: Tensor, state: Tensor, beside: Tensor | float = 0.0) -> Tensor:
    """Cho et al. 2014 as torch writes it."""
    given = layer.input.weight @ inputs + layer.input.bias + beside
    own = layer.recurrent.weight @ state + layer.recurrent.bias
    d = len(state)
    reset = torch.sigmoid(given[:d] + own[:d])
    update = torch.sigmoid(given[d : 2 * d] + own[d : 2 * d])
    new = torch.tanh(given[2 * d :] + reset * own[2 * d :])
    return (1 - update) * new + update * state


def weights_by_hand(look: Attention, query: Tensor, annotations: Tensor) -> Tensor:
    """e_j = v·tanh(Ws + Uh_j), then softmax."""
    score = look.score
    energies = [
        score.scorer[0]
        @ torch.tanh(score.from_query.weight @ query + score.from_memory.weight @ h + score.from_memory.bias)
        for h in annotations
    ]
    return torch.softmax(torch.stack(energies), dim=0)


def test_look_then_step_is_bahdanaus_decoder() -> None:
    model, examples = recurrent(look=attention), batch((5,))
    decoder = model.decoder
    with torch.no_grad():
        unrolled = model(examples)
        logits = decoder.head(unrolled.features)[0]
        memory = model.encoder.encode(examples.source)
        annotations = memory.annotations[0]
        state = torch.tanh(
            decoder.bridge.linear.weight @ memory.summary[0, -1, 0] + decoder.bridge.linear.bias
        )
        for t, piece in enumerate(examples.target.fed[0]):
            y = decoder.embedding.table.weight[piece]
            alpha = weights_by_hand(decoder.look, state, annotations)  # with s_{i-1}
            context = alpha @ annotations
            state = gru(model, y, context, state)
            pairs = (
                decoder.readout.linear.weight @ torch.cat([y, state, context]) + decoder.readout.linear.bias
            )
            expected = decoder.head.weight @ pairs.view(-1, 2).amax(1) + decoder.head.bias
            torch.testing.assert_close(unrolled.attention["cross"][0, 0, 0, t], alpha)
            torch.testing.assert_close(logits[t], expected)


def test_step_look_step_is_the_conditional_gru_of_nematus() -> None:
    model, examples = recurrent(decoder="step_look_step", readout="tanh"), batch((5,))
    decoder = model.decoder
    with torch.no_grad():
        unrolled = model(examples)
        memory = model.encoder.encode(examples.source)
        annotations = memory.annotations[0]
        state = torch.tanh(
            decoder.bridge.linear.weight @ memory.summary[0, -1, 0] + decoder.bridge.linear.bias
        )
        for t, piece in enumerate(examples.target.fed[0]):
            y = decoder.embedding.table.weight[piece]
            between = cell(decoder.first, y, state)
            alpha = weights_by_hand(decoder.look, between, annotations)  # with s'_i, which knows y_{i-1}
            context = alpha @ annotations
            state = cell(decoder.stack.cells[0], context, between)
            known = torch.cat([y, state, context])
            expected = torch.tanh(decoder.readout.linear.weight @ known + decoder.readout.linear.bias)
            torch.testing.assert_close(unrolled.attention["cross"][0, 0, 0, t], alpha)
            torch.testing.assert_close(unrolled.features[0, t], expected)


def test_step_then_look_fed_is_luongs_decoder_with_input_feeding() -> None:
    model, examples = recurrent(decoder="step_then_look_fed", readout="attentional"), batch((5,))
    decoder = model.decoder
    with torch.no_grad():
        unrolled = model(examples)
        memory = model.encoder.encode(examples.source)
        annotations = memory.annotations[0]
        state = torch.tanh(
            decoder.bridge.linear.weight @ memory.summary[0, -1, 0] + decoder.bridge.linear.bias
        )
        attentional = torch.zeros_like(state)
        for t, piece in enumerate(examples.target.fed[0]):
            state = gru(model, decoder.embedding.table.weight[piece], attentional, state)
            alpha = weights_by_hand(decoder.look, state, annotations)  # with s_i
            attentional = torch.tanh(decoder.readout.linear.weight @ torch.cat([alpha @ annotations, state]))
            torch.testing.assert_close(unrolled.attention["cross"][0, 0, 0, t], alpha)
            torch.testing.assert_close(unrolled.features[0, t], attentional)


def test_without_input_feeding_a_target_is_unrolled_without_a_loop_over_its_steps() -> None:
    calls = []
    model = recurrent(decoder="step_then_look")
    inner = model.decoder.look.forward
    model.decoder.look.forward = lambda *given: calls.append(given[0].shape) or inner(*given)
    model(batch((9, 3)))
    assert calls == [(2, 10, 16)]  # one look with all ten queries


def test_variational_dropout_of_a_decoder_is_the_same_at_every_step_and_when_unrolled() -> None:
    model = recurrent(decoder="step_then_look", layers=3, dropout=0.5, variational=True).train()
    stack, inputs = model.decoder.stack, torch.randn(2, 6, 6)
    state = stack.begin(tuple(torch.randn(2, 16) for _ in range(3)))
    assert len(state.masks) == 2
    unrolled = stack.unroll(inputs, state)
    for t in range(6):
        state, output = stack.step(stack.given(inputs[:, t]), None, state)
        torch.testing.assert_close(output, unrolled[:, t])


def test_gnmts_lowest_layer_asks_and_every_layer_hears() -> None:
    model = recurrent(cell="lstm", layers=3, late_to_all=True)
    assert len(model.decoder.stack.late) == 3
    from regard.decoders import ASKING

    state = model.begin(batch().source).stack
    torch.testing.assert_close(ASKING["lowest"](state, 16), state.layers[0][:, :16])
    torch.testing.assert_close(ASKING["highest"](state, 16), state.layers[2][:, :16])
