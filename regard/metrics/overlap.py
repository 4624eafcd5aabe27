"""How many word or character sequences an answer shares with its references, by sacrebleu."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from regard.metrics.score import Metric, Score, check

if TYPE_CHECKING:
    from sacrebleu import BLEU, CHRF
    from sacremoses import MosesTokenizer


class Bleu:
    """Papineni et al. 2002, with the settings that sacrebleu made the standard.

    It needs texts of four words: a corpus without any has no four-word sequence to share and scores 0.
    """

    name = "bleu"
    higher_is_better = True

    def __init__(self, *, language: str | None = None):
        pass

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        from sacrebleu import BLEU

        return _score(self, BLEU(), predictions, references)


class BleuLowercase:
    """Sacrebleu's BLEU of texts in small letters."""

    name = "bleu_lowercase"
    higher_is_better = True

    def __init__(self, *, language: str | None = None):
        pass

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        from sacrebleu import BLEU

        return _score(self, BLEU(lowercase=True), predictions, references)


class BleuTokenized:
    """BLEU as `multi-bleu.perl` gives it for texts in small letters, cut into words by the Moses tokenizer.

    Many papers report this one: compare it with theirs alone. The letters become small before the cut, as in
    the `lc.norm.tok` files of Multi30k. The rules are English where the language is not known, as in the
    Moses script.
    """

    name = "bleu_tokenized"
    higher_is_better = True

    def __init__(self, *, language: str | None = None):
        self.language = (language or "en").partition("-")[0]

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        from sacrebleu import BLEU

        check(predictions, references)
        metric = BLEU(lowercase=True, tokenize="none", smooth_method="none", force=True)
        score = _score(
            self,
            metric,
            [self._cut(text) for text in predictions],
            [[self._cut(answer) for answer in answers] for answers in references],
        )
        rules = f"tok:moses|lang:{self.language}|dash:no|escape:no|sacremoses:{version('sacremoses')}"
        return replace(score, signature=score.signature.replace("tok:none", rules))

    def _cut(self, text: str) -> str:
        cut: str = self._moses.tokenize(
            text.lower(), aggressive_dash_splits=False, escape=False, return_str=True
        )
        return cut

    @cached_property
    def _moses(self) -> "MosesTokenizer":
        from sacremoses import MosesTokenizer

        return MosesTokenizer(self.language)


class Chrf:
    """Popović 2015: the F-score of character sequences up to six long, recall counting twice."""

    name = "chrf"
    higher_is_better = True

    def __init__(self, *, language: str | None = None):
        pass

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        from sacrebleu import CHRF

        return _score(self, CHRF(), predictions, references)


def _score(
    metric: Metric,
    sacrebleu: "BLEU | CHRF",
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
) -> Score:
    check(predictions, references)
    value = sacrebleu.corpus_score(predictions, reference_streams(references)).score
    return Score(metric.name, value, str(sacrebleu.get_signature()), metric.higher_is_better)


def reference_streams(references: Sequence[Sequence[str]]) -> list[list[Any]]:
    """Answers per example -> all first answers, all second answers, ...; None where an example has no more.

    That None is sacrebleu's own convention, though its annotations speak of strings only: hence Any.
    """
    return [list(stream) for stream in zip_longest(*references)]
