"""The four special pieces that every vocabulary starts with. No text ever encodes to one of them but `UNKNOWN`."""

PAD, UNKNOWN, BEGIN, END = range(4)

SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")
