"""The worst and the most typical answers, each beside what is right and with what the model looked at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from regard import build
from regard.alignments import usual_layer
from regard.core.figures import figure
from regard.core.prediction import Prediction
from regard.evaluation import Evaluation, tallies
from regard.metrics import Chrf
from regard.report.layout import NOTHING, frame, texts
from regard.text.rarity import Seen
from regard.viewing import TextView
from regard.viewing.labels import NO_LOOKS
from regard.viewing.page_heat import LONG, page_heat, page_words
from regard.viewing.standalone import spoken


@dataclass(frozen=True)
class Sentence:
    prediction: Prediction
    references: Sequence[str]
    value: str  # of this sentence alone, such as chrF 51.2
    rarest: Seen | None


def sentences(evaluation: Evaluation, *, count: int) -> Iterator[tuple[str, str, str]]:
    """Sections: their name, what they are about, and the sentences as HTML.

    Sentences are ordered by chrF, which is meant for one sentence as much as for many; BLEU is not. Points have
    metrics of their own, of which the first orders them.
    """
    answers = [one.text for one in evaluation.predictions]
    are_points = evaluation.config.kind_of("target") == "points"
    metric = build.metrics(evaluation.config)[0] if are_points else Chrf()
    name, sign = (metric.name, 1 if metric.higher_is_better else -1) if are_points else ("chrF", 1)
    (tally,) = tallies([metric], evaluation.predictions, evaluation.references)
    values = tally.each()
    order = sorted(range(len(values)), key=lambda number: (sign * values[number], number))

    def told(number: int) -> str:
        return figure(values[number]) if are_points else f"{values[number]:.1f}"

    wrong = [number for number in order if answers[number] not in evaluation.references[number]]
    worst = wrong[:count]
    typical = [number for number in around_the_middle(order, count) if number not in worst]
    pictures = dict(zip([*worst, *typical], _looks(evaluation, [*worst, *typical]), strict=True))

    def shown(numbers: Sequence[int]) -> str:
        cards = (
            _card(
                Sentence(
                    evaluation.predictions[number],
                    evaluation.references[number],
                    f"{name} {told(number)}",
                    evaluation.rarest[number] if evaluation.rarest else None,
                ),
                pictures[number],
            )
            for number in numbers
        )
        return "".join(cards)

    if worst:
        about = (
            f"{len(wrong):,} of {len(answers):,} answers are not the reference to the last character. These have the "
            f"{'lowest' if sign > 0 else 'highest'} {name} as single sentences. Marked: what only the answer has, and "
            "what only the reference has."
        )
        yield "The worst answers", about, shown(worst)
    if typical:
        middle = told(order[len(order) // 2])
        yield "Typical answers", f"Those around the median {name} of a sentence, {middle}.", shown(typical)


def around_the_middle(numbers: Sequence[int], count: int) -> Sequence[int]:
    start = max(0, (len(numbers) - count) // 2)
    return numbers[start : start + count]


def _looks(evaluation: Evaluation, numbers: Sequence[int]) -> list[str]:
    """A picture for each sentence, from a pass that answers it again."""
    again = evaluation.look([evaluation.requests[number] for number in numbers])
    return [
        picture(one)
        if one.text == evaluation.predictions[number].text
        else note("No picture: asked again, the model answers differently here.")
        for number, one in zip(numbers, again, strict=True)
    ]


def picture(prediction: Prediction) -> str:
    record = prediction.attention
    if not record.has("cross"):
        return note(NO_LOOKS)
    layer = usual_layer(record)
    is_long = len(record.source_pieces) > LONG
    if is_long and record.source_words is not None and record.target_words is not None:
        record = record.in_words()
    draw = page_words if is_long else page_heat
    drawing, problem = draw(record.cross(layer), record.source_pieces, record.target_pieces)
    if problem:
        return note(problem)
    caption = TextView(layer=layer).caption(record)
    below = f"<figcaption>{spoken(caption)}</figcaption>" if caption else ""
    return f"<figure>{frame(drawing, 'What the model looked at')}{below}</figure>"


def note(sentence: str) -> str:
    return f'<p class="note">{spoken(sentence)}</p>'


def _card(sentence: Sentence, looked: str) -> str:
    prediction = sentence.prediction
    right = nearest(prediction.text, sentence.references)
    answer, reference = differences(prediction.text, right)
    others = [spoken(one) for one in sentence.references if one != right]
    rows = [
        ("source", spoken(prediction.source)),
        ("answer", answer or NOTHING),
        ("reference", reference or NOTHING),
        *(("or", one) for one in others),
    ]
    facts = [f"<b>{sentence.value}</b>"]
    if sentence.rarest:
        seen = f"seen {sentence.rarest.count:,} times" if sentence.rarest.count != 1 else "seen once"
        how = seen if sentence.rarest.count else "unseen in training"
        facts.append(f"rarest word <q>{spoken(sentence.rarest.word)}</q>, {how}")
    if not prediction.finished:
        facts.append("cut off at the longest length")
    told = "".join(f"<span>{fact}</span>" for fact in facts)
    return f'<article><div><p class="facts">{told}</p>{texts(rows)}</div>{looked}</article>'


def nearest(answer: str, references: Sequence[str]) -> str:
    return max(references, key=lambda one: _matcher(answer, one).ratio())


def differences(answer: str, reference: str) -> tuple[str, str]:
    """Both as HTML, with marks around the words that only one of them has at this place."""
    words, right = answer.split(), reference.split()
    ours, theirs = [], []
    for kind, start, end, begin, stop in _matcher(answer, reference).get_opcodes():
        ours.append(_marked(words[start:end], kind != "equal"))
        theirs.append(_marked(right[begin:stop], kind != "equal"))
    return " ".join(filter(None, ours)), " ".join(filter(None, theirs))


def _matcher(answer: str, reference: str) -> "SequenceMatcher[str]":
    return SequenceMatcher(None, answer.split(), reference.split(), autojunk=False)


def _marked(words: Sequence[str], differs: bool) -> str:
    text = spoken(" ".join(words))
    return f"<mark>{text}</mark>" if differs and text else text
