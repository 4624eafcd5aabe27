"""The special pieces that every vocabulary starts with. No text encodes to one of them, but for `UNKNOWN`."""

PAD, UNKNOWN, BEGIN, END = range(4)

SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")

MARKS = tuple(SPECIAL_PIECES[number] for number in (PAD, BEGIN, END))  # stand for no text: pictures may hide
