"""How many word or character sequences an answer shares with its references, and how far it is from them.

All by sacrebleu.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.core.errors import UserError
from regard.metrics.score import Metric, Tally, check

if TYPE_CHECKING:
    from sacrebleu import BLEU, CHRF, TER
    from sacremoses import MosesTokenizer


def bleu_for(language: str | None, *, lowercase: bool = False) -> "BLEU":
    """Sacrebleu's own, which cuts Chinese, Japanese and Korean in other ways than the rest of the world."""
    from sacrebleu import BLEU

    try:
        return BLEU(trg_lang=_code(language), lowercase=lowercase)
    except RuntimeError:  # its sentence is about sacrebleu's own command line
        raise UserError(
            f"BLEU of {language} needs a package that cuts it into words: pip install 'sacrebleu[{_code(language)}]'. "
            "Or take another metric, such as chrf."
        ) from None


def _code(language: str | None) -> str:
    """Without region or script: zh of zh-TW."""
    return (language or "").partition("-")[0]


class Bleu(Metric):
    """Papineni et al. 2002, with the settings that sacrebleu made the standard.

    It needs texts of four words: a corpus without any has no four-word sequence to share and scores 0.
    """

    name = "bleu"
    higher_is_better = True

    def __init__(self, *, language: str | None = None):
        super().__init__(language=language)
        if _code(language) in ("ja", "ko"):
            bleu_for(language)  # what it needs is told before anything is trained

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        return sacrebleu_tally(self, bleu_for(self.language), predictions, references)


class BleuLowercase(Bleu):
    """Sacrebleu's BLEU of texts in small letters."""

    name = "bleu_lowercase"
    higher_is_better = True

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        return sacrebleu_tally(self, bleu_for(self.language, lowercase=True), predictions, references)


class BleuTokenized(Metric):
    """BLEU as `multi-bleu.perl` gives it for texts in small letters, cut into words by the Moses tokenizer.

    Many papers report this one: compare it with theirs alone. The letters become small before the cut, as in
    the `lc.norm.tok` files of Multi30k. The rules are English where the language is not known, as in the
    Moses script.
    """

    name = "bleu_tokenized"
    higher_is_better = True

    def __init__(self, *, language: str | None = None):
        super().__init__(language=(language or "en").partition("-")[0])

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        from sacrebleu import BLEU

        check(predictions, references)
        metric = BLEU(lowercase=True, tokenize="none", smooth_method="none", force=True)
        tally = sacrebleu_tally(
            self,
            metric,
            [self._cut(text) for text in predictions],
            [[self._cut(answer) for answer in answers] for answers in references],
        )
        rules = f"tok:moses|lang:{self.language}|dash:no|escape:no|sacremoses:{version('sacremoses')}"
        return replace(tally, signature=tally.signature.replace("tok:none", rules))

    def _cut(self, text: str) -> str:
        cut: str = self._moses.tokenize(
            text.lower(), aggressive_dash_splits=False, escape=False, return_str=True
        )
        return cut

    @cached_property
    def _moses(self) -> "MosesTokenizer":
        from sacremoses import MosesTokenizer

        return MosesTokenizer(self.language)


class Chrf(Metric):
    """Popović 2015: the F-score of character sequences up to six long, recall counting twice."""

    name = "chrf"
    higher_is_better = True

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        from sacrebleu import CHRF

        return sacrebleu_tally(self, CHRF(), predictions, references)


class ChrfWords(Metric):
    """Popović 2017, known as chrF++: words and pairs of words count beside the character sequences."""

    name = "chrf_words"
    higher_is_better = True

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        from sacrebleu import CHRF

        return sacrebleu_tally(self, CHRF(word_order=2), predictions, references)


class Ter(Metric):
    """Snover et al. 2006: edits per hundred words, where moving a phrase is one edit. Small letters, as in Tercom.

    Of several references the nearest counts, over their mean length.
    """

    name = "ter"
    higher_is_better = False

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        from sacrebleu import TER

        return sacrebleu_tally(self, TER(), predictions, references)


def sacrebleu_tally(
    metric: Metric,
    sacrebleu: "BLEU | CHRF | TER",
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
) -> Tally:
    """Through the methods that sacrebleu's own significance tests use: its public ones tell no counts."""
    check(predictions, references)
    counts = sacrebleu._extract_corpus_statistics(predictions, reference_streams(references))

    def value(sums: Sequence[float]) -> float:
        given: Any = list(sums)  # the annotations of some ask for whole numbers
        return float(sacrebleu._compute_score_from_stats(given).score)

    signature = str(sacrebleu.get_signature())
    return Tally(metric.name, signature, metric.higher_is_better, np.array(counts, dtype=np.float64), value)


def reference_streams(references: Sequence[Sequence[str]]) -> list[list[Any]]:
    """Answers per example -> all first answers, all second answers, ...; None where an example has no more.

    That None is sacrebleu's own convention, though its annotations speak of strings only: hence Any.
    """
    return [list(stream) for stream in zip_longest(*references)]
