"""Which spellings of a text count as the same."""

from tokenizers import normalizers

from regard.core.errors import UserError, did_you_mean

NORMALIZATIONS: dict[str, tuple[type[normalizers.Normalizer], ...]] = {
    "nfc": (normalizers.NFC,),
    "nfkc": (normalizers.NFKC,),
    "none": (),
}


def steps(name: str, *, lowercase: bool) -> list[normalizers.Normalizer]:
    if name not in NORMALIZATIONS:
        raise UserError(f"normalization: there is no {name!r}.{did_you_mean(name, NORMALIZATIONS)}")
    return [*(step() for step in NORMALIZATIONS[name]), *([normalizers.Lowercase()] if lowercase else [])]
