"""How near a caption is to what several people said of the picture, as the COCO caption server counts.

All read captions alike: small letters, words cut as in the Penn Treebank (`dog's` is `dog 's`, `isn't` is
`is n't`, a hyphen inside a word stays), without punctuation.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from regard import __version__
from regard.metrics.overlap import sacrebleu_tally
from regard.metrics.score import Metric, Tally, check, reference_count

_RULES = "case:lc|tok:ptb-words"
_NOT = r"n't(?!\w)"
_PART = rf"(?:(?!{_NOT})\w)+"
_WORDS = re.compile(
    r"<\w+>"  # a mark, such as that of an unknown word: one word, and a wrong one
    rf"|{_NOT}"
    r"|'(?:s|m|d|re|ve|ll)(?![\w'])"  # cut off from the word before
    r"|\d+(?:[.,:/]\d+)+"  # 3.5, 10:30, 1/2
    rf"|{_PART}(?:-{_PART})*"
    r"|[#$%&@*+=<>/~^|]"  # signs that are said
)


def caption_words(text: str) -> list[str]:
    return _WORDS.findall(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


class _CaptionBleu(Metric):
    """Corpus BLEU of sequences up to `order` words, without smoothing, by sacrebleu.

    What is too short pays by the nearest length among its references, the shorter of two that are as near.
    """

    order: ClassVar[int]
    higher_is_better = True

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        from sacrebleu import BLEU

        check(predictions, references)
        metric = BLEU(
            lowercase=True, tokenize="none", smooth_method="none", force=True, max_ngram_order=self.order
        )
        tally = sacrebleu_tally(
            self,
            metric,
            [_cut(text) for text in predictions],
            [[_cut(answer) for answer in answers] for answers in references],
        )
        signature = tally.signature.replace("tok:none", f"tok:ptb-words|order:{self.order}")
        return replace(tally, signature=signature)


class CaptionBleu1(_CaptionBleu):
    """Of single words."""

    name, order = "caption_bleu_1", 1


class CaptionBleu2(_CaptionBleu):
    """Of up to two words."""

    name, order = "caption_bleu_2", 2


class CaptionBleu3(_CaptionBleu):
    """Of up to three words."""

    name, order = "caption_bleu_3", 3


class CaptionBleu4(_CaptionBleu):
    """Of up to four words."""

    name, order = "caption_bleu_4", 4


class Cider(Metric):
    """CIDEr-D (Vedantam et al. 2015): shared sequences of words count the more the fewer pictures have them.

    The mean over one to four words of the cosines between tf-idf vectors, no count above the reference's, less
    where the lengths differ (σ = 6); of all references the mean. Words keep their endings, as in the authors'
    program. In how many pictures a sequence occurs is counted in the references given. The value is a hundred
    times that program's, as papers print it; it can reach 1000. A picture alone tells nothing and gets 0.
    """

    name = "cider"
    higher_is_better = True
    alone = False

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        check(predictions, references)
        said = [_sequences(prediction) for prediction in predictions]
        known = [[_sequences(answer) for answer in answers] for answers in references]
        pictures = Counter(one for answers in known for one in set().union(*answers))
        rarity = {one: math.log(len(known) / number) for one, number in pictures.items()}
        unseen = math.log(len(known))  # as if one picture had it

        def weighed(counts: "Counter[_Words]") -> "_Vectors":
            return _Vectors.of(counts, {one: rarity.get(one, unseen) for one in counts})

        values = []
        for counts, answers in zip(said, known, strict=True):
            mine = weighed(counts)
            values.append(sum(mine.likeness(weighed(answer)) for answer in answers) / len(answers))
        signature = (
            f"nrefs:{reference_count(references)}|{_RULES}|sigma:{_SIGMA:g}|version:regard-{__version__}"
        )
        counted = np.stack([values, np.ones(len(values))], axis=1)
        return Tally(
            self.name, signature, self.higher_is_better, counted, lambda sums: _MOST * sums[0] / sums[1]
        )


_Words = tuple[str, ...]
_LONGEST, _SIGMA, _MOST = 4, 6.0, 1000


@dataclass(frozen=True)
class _Vectors:
    """The sequences of a text, one vector for each length, and how long the text is."""

    weights: tuple[dict[_Words, float], ...]
    norms: tuple[float, ...]
    length: int  # in pairs of words, as in the authors' program

    @staticmethod
    def of(counts: "Counter[_Words]", rarity: dict[_Words, float]) -> "_Vectors":
        weights: tuple[dict[_Words, float], ...] = tuple({} for _ in range(_LONGEST))
        for one, number in counts.items():
            weights[len(one) - 1][one] = number * rarity[one]
        norms = tuple(math.sqrt(sum(weight**2 for weight in one.values())) for one in weights)
        return _Vectors(weights, norms, sum(number for one, number in counts.items() if len(one) == 2))

    def likeness(self, reference: "_Vectors") -> float:
        """From 0 to 1."""
        total = 0.0
        for size in range(_LONGEST):
            if self.norms[size] and reference.norms[size]:
                theirs = reference.weights[size]
                shared = sum(
                    min(weight, theirs[one]) * theirs[one]
                    for one, weight in self.weights[size].items()
                    if one in theirs
                )
                total += shared / (self.norms[size] * reference.norms[size])
        return total / _LONGEST * math.exp(-((self.length - reference.length) ** 2) / (2 * _SIGMA**2))


def _cut(text: str) -> str:
    return " ".join(caption_words(text))


def _sequences(text: str) -> "Counter[_Words]":
    words = caption_words(text)
    return Counter(
        tuple(words[place : place + size])
        for size in range(1, _LONGEST + 1)
        for place in range(len(words) - size + 1)
    )
