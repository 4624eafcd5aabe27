"""Scores, comparisons and buckets as HTML."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from regard.beside import Beside
from regard.core.figures import figure
from regard.evaluation import difference_label
from regard.metrics import Comparison, Score
from regard.report.layout import framed
from regard.viewing.standalone import spoken


def score_cards(scores: Iterable[Score]) -> str:
    return f'<div class="scores">{"".join(map(_card, scores))}</div>'


def _card(score: Score) -> str:
    near = ""
    if score.interval:
        near = (
            f'<span class="half">±{figure(score.interval.half, like=score.value)}</span>'
            f'<span class="ends">{figure(score.interval.low)} to {figure(score.interval.high)}</span>'
        )
    return (
        f'<div class="score"><h3>{spoken(_name(score))}</h3><p><b>{figure(score.value)}</b>{near}</p>'
        f"<code>{_breakable(score.signature)}</code></div>"
    )


def _name(score: Score) -> str:
    return f"{score.name} {'↑' if score.higher_is_better else '↓'}"


def _breakable(signature: str) -> str:
    """A signature is one long word; it may go on in a new line after each setting."""
    return "|<wbr>".join(map(spoken, signature.split("|")))


def beside_table(rows: Sequence[Beside]) -> str:
    names = dict.fromkeys(name for row in rows for name in row.scores)
    lines = (
        f'<tr><th scope="row">{spoken(name)}</th>'
        + "".join(f"<td>{row.scores[name].shown if name in row.scores else ''}</td>" for row in rows)
        + "</tr>"
        for name in names
    )
    return framed(("", *(row.name for row in rows)), "".join(lines), "Scores beside simple answers")


def against_table(comparisons: Iterable[Comparison], name: str, other: str) -> str:
    heads = ("metric", name, other, "difference", "p", "")
    rows = (
        f'<tr class="{one.verdict.split()[0]}"><th scope="row">{spoken(one.name)}</th><td>{figure(one.value)}</td>'
        f"<td>{figure(one.other)}</td><td>{_difference(one)}</td><td>{one.p:.4f}</td>"
        f'<td class="verdict">{one.verdict}</td></tr>'
        for one in comparisons
    )
    return framed(heads, "".join(rows), f"Scores beside {other}")


class Part(Protocol):
    """Some of the examples, with their scores."""

    @property
    def count(self) -> int: ...

    @property
    def scores(self) -> Sequence[Score]: ...


Some = TypeVar("Some", bound=Part)


def part_table(parts: Sequence[Some], label: Callable[[Some], str], first: str, by: str) -> str:
    """A row for each part; a bar under each value, as long as it is beside the largest of its column."""
    names = [_name(score) for score in parts[0].scores]
    largest = [max(part.scores[place].value for part in parts) for place in range(len(names))]
    rows = (
        f'<tr><th scope="row">{spoken(label(part))}</th><td>{part.count:,}</td>'
        + "".join(_bar(score.value, most) for score, most in zip(part.scores, largest, strict=True))
        + "</tr>"
        for part in parts
    )
    return framed((first, "pairs", *names), "".join(rows), f"Scores by {by}")


def _bar(value: float, largest: float) -> str:
    share = 100 * value / largest if largest > 0 else 0
    return (
        f'<td class="bar">{figure(value)}<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="whole" width="100" height="4"/><rect class="part" width="{share:.1f}" height="4"/></svg></td>'
    )


def _difference(comparison: Comparison) -> str:
    return difference_label(comparison).replace("-", "−")
