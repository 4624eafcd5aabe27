"""The kinds of attention."""

# Of the source to itself, of the target to itself, of the target to the source and to what stands beside the source.
ENCODER, DECODER, CROSS, CONTEXT = "encoder", "decoder", "cross", "context"
KINDS = frozenset({ENCODER, DECODER, CROSS, CONTEXT})
AT_SOURCE = frozenset({CROSS, CONTEXT})
NOTHING: frozenset[str] = frozenset()


def member_kind(kind: str, number: int) -> str:
    """A kind of attention of one member of an ensemble, counted from 1."""
    return f"{kind}.{number}"


def plain_kind(kind: str) -> str:
    """A kind of attention without the number of an ensemble's member."""
    return kind.partition(".")[0]
