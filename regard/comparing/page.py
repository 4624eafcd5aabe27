"""A result as one page: table, quality over length, learning over time and pieces, attention side by side."""

from collections.abc import Callable, Sequence

from regard.comparing.costs import Point
from regard.comparing.curves import learned, minutes, over_length
from regard.comparing.sentences import Sentence
from regard.comparing.standings import Result
from regard.comparing.tables import legend, lengths, table
from regard.evaluation import is_right_or_wrong
from regard.report import layout
from regard.report.layout import NOTHING, framed, section, texts
from regard.report.sentences import differences, nearest, picture
from regard.viewing.page_charts import Curve, chart
from regard.viewing.standalone import spoken

COLOURS, STROKES = 6, 3  # as many as the style knows
SHOWN = 2  # metrics over length, the one that decides first


def page(result: Result) -> str:
    """Texts of the data and the models enter escaped, never as markup; nothing is fetched."""
    runs = sum(len(one.runs) for one in result.standings)
    summary = f"{len(result.standings)} models, {runs} runs · {result.budget}"
    return layout.page("Comparison", result.name, summary, _sections(result), styles=["compare.css"])


def style_of(place: int) -> str:
    """The classes of the colour and the stroke of a model."""
    again = place // COLOURS % STROKES
    return f"m{place % COLOURS}" + (f" again{again}" if again else "")


def _sections(result: Result) -> list[str]:
    notes = "".join(f"<li>{spoken(line)}</li>" for line in legend(result))
    found = [section("Which is better, at what cost", f'{_table(result)}<ul class="legend">{notes}</ul>')]
    found.append(section("Quality over source length", _key(result) + _by_length(result), _ABOUT_LENGTH))
    if learning := _learning(result):
        found.append(section("Learning", _key(result) + learning, _ABOUT_LEARNING))
    cards = "".join(_card(result, one) for one in result.sentences)
    return [*found, section("What they looked at", cards, _ABOUT_LOOKS)] if cards else found


_ABOUT_LENGTH = (
    "Each point is a part of the test sources, about as many as the others; its place is their middle length."
)
_ABOUT_LEARNING = (
    "On the validation pairs, with greedy answers, over what had been spent until then. A model has a line for each of "
    "its seeds."
)
_ABOUT_LOOKS = (
    "From the short, the middling and the long sources the one on which the models disagree most; of several seeds the "
    "first. Weights are those of the pass that gave the answer."
)


def _chip(place: int) -> str:
    return f'<i class="chip {style_of(place)}"></i>'


def _key(result: Result) -> str:
    entries = (f"<li>{_chip(place)}{spoken(one.name)}</li>" for place, one in enumerate(result.standings))
    return f'<ul class="key">{"".join(entries)}</ul>'


def _table(result: Result) -> str:
    heads, rows = table(result)
    return _rows(result, heads, rows)


def _rows(result: Result, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    written = "".join(
        f'<tr class="{"reference" if row[0] == result.reference else ""}">'
        f'<th scope="row"><span>{_chip(place)}{spoken(row[0])}</span></th>'
        + "".join(f"<td>{spoken(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for place, row in enumerate(rows)
    )
    return framed(heads, written)


def _by_length(result: Result) -> str:
    drawn = "".join(_lengths_chart(result, metric) for metric in list(result.by_length)[:SHOWN])
    return f'<div class="charts">{drawn}</div>{_rows(result, *lengths(result))}'


def _lengths_chart(result: Result, metric: str) -> str:
    drawn = zip(result.standings, over_length(result, metric), strict=True)
    curves = [
        Curve(one.name, points, style=style_of(place), told=False)
        for place, (one, points) in enumerate(drawn)
    ]
    return chart(metric, curves, over="the length of the source", lowest=0, axis="pieces of the source")


def _learning(result: Result) -> str:
    def curves(value: str, across: Callable[[Point], float]) -> list[Curve]:
        return [
            Curve(one.name, learned(record, value, across), style=style_of(place), told=False)
            for place, one in enumerate(result.standings)
            for record in one.learnings
        ]

    drawn = ""
    for value in dict.fromkeys((result.metric, "loss")):
        drawn += chart(
            value,
            curves(value, minutes),
            over="the time",
            axis="minutes of training",
        )
        drawn += chart(
            value,
            curves(value, lambda point: float(point.spent.tokens)),
            over="the target pieces",
            axis="target pieces",
        )
    return f'<div class="charts">{drawn}</div>' if drawn else ""


def _card(result: Result, sentence: Sentence) -> str:
    looks = ""
    judged = is_right_or_wrong(result.by_length)
    for place, (one, answer) in enumerate(zip(result.standings, sentence.answers, strict=True)):
        is_right = answer.text in sentence.references
        marked, _ = differences(answer.text, nearest(answer.text, sentence.references))
        said = spoken(answer.text) if is_right else marked or NOTHING
        verdict = " wrong" if judged and not is_right else ""
        looks += (
            f"<div><h3>{_chip(place)}{spoken(one.name)}</h3>"
            f'<p class="said{verdict}">{said}</p>'
            f"{picture(answer)}</div>"
        )
    others = [("or", spoken(one)) for one in sentence.references[1:]]
    said = texts(
        [("source", spoken(sentence.source)), ("reference", spoken(sentence.references[0])), *others]
    )
    return f'<article class="sentence">{said}<div class="looks">{looks}</div></article>'
