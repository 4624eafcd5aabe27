"""What the pages of an evaluation and of a comparison are laid out with."""

from collections.abc import Iterable

from regard import __version__
from regard.viewing.page_heat import LEVELS
from regard.viewing.standalone import assets, filled, spoken

NOTHING = '<i class="empty">nothing</i>'  # where an answer or a reference has no words


def page(
    kind: str,
    name: str,
    summary: str,
    sections: Iterable[str],
    *,
    parts: str = "",
    styles: Iterable[str] = (),
) -> str:
    """The whole page; `styles` come after those of all. Sections and parts are HTML, the other texts are not."""
    values = {
        "title": spoken(f"{name}: {kind.lower()}"),
        "kind": spoken(kind),
        "name": spoken(name),
        "summary": spoken(summary),
        "parts": parts,
        "sections": "".join(sections),
        "version": spoken(__version__),
    }
    return filled("report.html", values, style=assets("base.css", "report.css", *styles) + LEVELS)


def section(name: str, content: str, about: str = "") -> str:
    below = f'<p class="about">{spoken(about)}</p>' if about else ""
    return f"<section><h2>{spoken(name)}</h2>{below}{content}</section>"


def framed(heads: Iterable[str], rows: str, label: str = "Table") -> str:
    head = "".join(f'<th scope="col">{spoken(name)}</th>' for name in heads)
    return frame(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>", label)


def frame(content: str, label: str) -> str:
    """A box that scrolls where its content is too wide: with the keyboard too, and with a name for who hears it."""
    return f'<div class="frame" tabindex="0" role="group" aria-label="{spoken(label)}">{content}</div>'


def texts(rows: Iterable[tuple[str, str]]) -> str:
    """Names, and what is said under each as HTML."""
    return f'<dl class="texts">{"".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows)}</dl>'
