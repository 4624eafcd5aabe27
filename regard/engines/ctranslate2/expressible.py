"""Which models CTranslate2 can express, and why it can't express the others."""

from collections.abc import Iterator

from regard.config import Config
from regard.config import parts as settings_of
from regard.tasks.text import TextCodec
from regard.text import Tokenizer

SCORES = ("scaled_dot", "dot", "general")  # q·k, scaled or not; what multiplies the keys becomes part of them


def refusal(config: Config, codec: TextCodec) -> str | None:
    """Why CTranslate2 can't express the model; None if it can."""
    return next(_reasons(config, codec), None)


def _reasons(config: Config, codec: TextCodec) -> Iterator[str]:
    model = config.model
    encoder, decoder, look = model.encoder, model.decoder, model.attention
    for side, part, kind in (
        ("encoder", encoder, settings_of.TransformerEncoder),
        ("decoder", decoder, settings_of.TransformerDecoder),
    ):
        if not isinstance(part, kind):
            yield f"it runs Transformers with an encoder and a decoder, and this {side} is {part.kind}"
    assert isinstance(encoder, settings_of.TransformerEncoder)
    assert isinstance(decoder, settings_of.TransformerDecoder)
    yield from _reasons_of_blocks("encoder", encoder)
    yield from _reasons_of_blocks("decoder", decoder)
    if encoder.scope != "global":
        yield f"its encoders see the whole source, and this one has the scope {encoder.scope}"
    if encoder.look != "full":
        yield f"its encoders look at all positions, and this one's look is {encoder.look}"
    yield from _reasons_of_look("attention", look.score, look.selection)
    if look.scope != "global":
        yield f"its decoders may look at the whole source, and this one has the scope {look.scope}"
    if look.pointer:
        yield "it has no pointers, and this model copies pieces of its source"
    if look.heads != decoder.heads:
        yield (
            f"its decoders have as many heads for both looks, and this one has {decoder.heads} for itself and "
            f"{look.heads} for its source"
        )
    if encoder.norm != decoder.norm:
        yield (f"it has one kind of norm for both sides, and here they are {encoder.norm} and {decoder.norm}")
    if not isinstance(codec.target, Tokenizer):
        yield "it keeps no rules, and this model needs one to answer in the pieces of one language"


def _reasons_of_blocks(side: str, part: settings_of.Blocks) -> Iterator[str]:
    yield from _reasons_of_look(side, part.score, part.selection)
    if part.experts:
        yield f"it has no experts for a model with two sides, and this {side} has {part.experts}"
    if part.position_width:
        yield f"it adds positions to pieces, and in this {side} they stand beside them"


def _reasons_of_look(where: str, score: str, selection: str) -> Iterator[str]:
    if score not in SCORES:
        yield f"it has no {score} score ({where}.score), but only {', '.join(SCORES)}"
    if selection != "soft":
        yield f"it has no {selection} selection ({where}.selection), but only soft"
