"""Which of several answers is most like the others: minimum Bayes risk (Kumar & Byrne 2004)."""

from collections.abc import Callable, Sequence

Utility = Callable[[str, str], float]  # how much an answer has of a right one, 0 to 100


def chrf() -> Utility:
    from sacrebleu import CHRF

    metric = CHRF()
    return lambda answer, right: float(metric.sentence_score(answer, [right]).score)


def bleu() -> Utility:
    from sacrebleu import BLEU

    metric = BLEU(effective_order=True)
    return lambda answer, right: float(metric.sentence_score(answer, [right]).score)


UTILITIES: dict[str, Callable[[], Utility]] = {"chrf": chrf, "bleu": bleu}


def expected(texts: Sequence[str], weights: Sequence[float], utility: Utility) -> list[float]:
    """For each text what it is worth if one of them is right, each with its weight."""
    different = list(dict.fromkeys(texts))
    likely = dict.fromkeys(different, 0.0)
    for text, weight in zip(texts, weights, strict=True):
        likely[text] += weight
    total = sum(likely.values())
    worth = {
        text: sum(weight * utility(text, right) for right, weight in likely.items()) / total
        for text in different
    }
    return [worth[text] for text in texts]
