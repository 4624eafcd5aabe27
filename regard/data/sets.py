"""Public data sets that recipes learn from: what they are, whose they are, and where their files come from."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A file of a set, as it is kept: unpacked."""

    name: str
    url: str  # a .gz file is unpacked; of a .zip file the member is taken
    member: str | None = None
    sha256: str | None = None  # of the unpacked file; None: none is known, so the first that comes is trusted
    lines: int | None = None


@dataclass(frozen=True)
class DataSet:
    about: str
    licence: str
    parts: Sequence[Part]


def _multi30k(language: str) -> list[Part]:
    raw = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
    splits = {"train": ("train", 29_000), "val": ("val", 1_014), "test2016": ("test_2016_flickr", 1_000)}
    return [
        Part(f"{name}.{language}", f"{raw}/{published}.{language}.gz", lines=lines)
        for name, (published, lines) in splits.items()
    ]


_SPANISH = "https://storage.googleapis.com/download.tensorflow.org/data/spa-eng.zip"
_CNTK = "https://raw.githubusercontent.com/microsoft/CNTK"
_CMUDICT = "Examples/SequenceToSequence/CMUDict/Data/cmudict-0.7b"

DATA_SETS = {
    "multi30k": DataSet(
        about="image captions in English, German, French and Czech (Elliott et al. 2016, task 1)",
        licence="none stated; made for research",
        parts=[part for language in ("en", "de", "fr", "cs") for part in _multi30k(language)],
    ),
    "spa-eng": DataSet(
        about="English and Spanish sentences of Tatoeba, chosen by manythings.org, 2018",
        licence="CC BY 2.0 (France), tatoeba.org; see ABOUT.txt",
        parts=[
            Part("spa.txt", _SPANISH, member="spa-eng/spa.txt", lines=118_964),
            Part("ABOUT.txt", _SPANISH, member="spa-eng/_about.txt"),
        ],
    ),
    "cmudict": DataSet(
        about="English words and their phonemes: CMUdict 0.7b in the split of Yao & Zweig 2015",
        licence="BSD, Carnegie Mellon University",
        parts=[
            Part(
                "train.txt",
                f"{_CNTK}/9bb7e86bb11d57a8c8eb6bba329a134b75f10fb3/{_CMUDICT}.train-dev-20-21",
                sha256="61faa823e4a4bc64401522eb68db9543d33ee6f10dcacf5be65b1ef5fe08b6f3",
                lines=108_952,
            ),
            Part(
                "dev.txt",
                f"{_CNTK}/9bb7e86bb11d57a8c8eb6bba329a134b75f10fb3/{_CMUDICT}.train-dev-1-21",
                sha256="c8bbfb8d57d8e0c1d2ce6fbc8891325fc4570ac2b9ae068088bc59e804a9c295",
                lines=5_447,
            ),
            Part(
                "test.txt",
                f"{_CNTK}/0ba41da07b9cef9e25c80777f48dbf0c041bbeee/{_CMUDICT}.test",
                sha256="ece787fd3d88c7b130d43e7c2307ac11e6dfb4c052d661c37808ec7ed1df8574",
                lines=12_855,
            ),
        ],
    ),
}
