"""A result as a table: cells for a terminal, Markdown, and a JSON document with everything."""

from collections.abc import Iterator, Sequence
from typing import Any

from regard.comparing.costs import Learning
from regard.comparing.standings import Quality, Result, Standing
from regard.core.figures import clock, figure, rounded
from regard.metrics import BOUND, RESAMPLES, TRIALS, Bucket

Rows = Sequence[Sequence[str]]


def table(result: Result) -> tuple[Sequence[str], Rows]:
    """The heads of the columns, and a row for each model."""
    columns = list(zip(*(_cells(result, one) for one in result.standings), strict=True))
    told = [column for column in columns if any(cell for _, cell in column)]
    heads = [column[0][0] for column in told]
    return heads, list(zip(*([cell for _, cell in column] for column in told), strict=True))


def _cells(result: Result, one: Standing) -> list[tuple[str, str]]:
    """The name and the content of each cell of a row; a column in which nobody has anything is left out."""
    scores = [
        (f"{name} {'↑' if quality.higher_is_better else '↓'}", shown(quality))
        for name, quality in _main_first(result, one)
    ]
    return [
        ("model", one.name),
        scores[0],
        ("p", _p(result, one)),
        *scores[1:],
        *((name, figure(one.traits[name]) if name in one.traits else "") for name in _traits(result)),
        ("parameters", f"{one.decoding.parameters:,}"),
        ("steps", f"{one.spent.steps:,}"),
        ("time", clock(one.spent.seconds)),
        ("pieces/s", f"{one.rate:,.0f}"),
        (f"to {_reach(result)}", _reached(result, one)),
        ("pieces until then", _millions(one.reached.tokens) if one.reached else ""),
        ("sentences/s", f"{one.decoding.sentences_per_second:,.0f}"),
        ("memory", f"{one.memory / 2**20:,.0f} MiB" if one.memory else ""),
    ]


def _traits(result: Result) -> list[str]:
    return list(dict.fromkeys(name for one in result.standings for name in one.traits))


def _main_first(result: Result, one: Standing) -> list[tuple[str, Quality]]:
    return sorted(one.qualities.items(), key=lambda item: item[0] != result.metric)


def shown(quality: Quality) -> str:
    return f"{figure(quality.mean)} ±{figure(quality.spread, like=quality.mean)}"


def _p(result: Result, one: Standing) -> str:
    if one.name == result.reference:
        return "–"
    found = one.against[result.metric]
    return f"{found.p:.4f}" if found.p > BOUND else f"{found.p:.4f} {found.verdict}"


def _reach(result: Result) -> str:
    return f"{result.metric} {result.reach:g}" if result.reach is not None else ""


def _reached(result: Result, one: Standing) -> str:
    if result.reach is None:
        return ""
    if one.reached is None:
        return "never"
    some = f" ({one.reached.runs} of {len(one.runs)})" if one.reached.runs < len(one.runs) else ""
    return f"{clock(one.reached.seconds)}{some}"


def _millions(pieces: float) -> str:
    return f"{pieces / 1e6:.2f}M" if pieces >= 1e5 else f"{pieces:,.0f}"


def legend(result: Result) -> Iterator[str]:
    """What the figures mean, a sentence each."""
    several = [one.name for one in result.standings if len(one.runs) > 1]
    single = [one.name for one in result.standings if len(one.runs) == 1]
    yield f"Budget: {result.budget}. {result.test_size:,} test sources. Measured {result.conditions}."
    interval = f"half of the interval that holds 95 % of {RESAMPLES:,} bootstrap resamples"
    if not several:
        yield f"±: {interval}."
    else:
        yield "±: standard deviation over seeds" + (
            f"; of {' and '.join(single)}, with one run, {interval}." if single else "."
        )
    answers = "the test answers of all seeds" if several else "the test answers"
    yield (
        f"p: against {result.reference}, by paired approximate randomisation over {answers}, two-sided, {TRIALS:,} "
        f"trials; better or worse stands where it is at most {BOUND:g}."
    )
    if result.reach is not None:
        yield (
            f"To {_reach(result)}: training time and target pieces at the first validation that reached it, with "
            "greedy answers."
        )
    yield "Time and pieces/s (of targets): in training steps, validations not counted. Memory: the most in training."
    different = {one.name: one.pairs for one in result.standings if one.pairs is not None}
    if len(set(different.values())) > 1:
        told = ", ".join(f"{name} {pairs:,}" for name, pairs in different.items())
        yield f"Pairs that were trained with (which are too long depends on the pieces): {told}."
    yield from result.notes
    for name, problem in result.failed.items():
        yield f"Failed: {name}: {problem}"


def markdown(result: Result) -> str:
    heads, rows = table(result)
    parts = [_grid(heads, rows), "\n".join(f"- {line}" for line in legend(result))]
    heads, rows = lengths(result)
    parts += [f"{result.metric} by source length, in pieces:", _grid(heads, rows)]
    return f"# {result.name}\n\n" + "\n\n".join(parts) + "\n"


def lengths(result: Result) -> tuple[Sequence[str], Rows]:
    """The quality of each model over sources of like length."""
    parts = result.by_length[result.metric]
    labels = [f"{_span(part)} ({part.count:,})" for part in parts]
    rows = [
        [one.name, *(figure(part.scores[place].value) for part in parts)]
        for place, one in enumerate(result.standings)
    ]
    return ["model", *labels], rows


def _span(part: Bucket) -> str:
    return f"{part.least}" if part.least == part.most else f"{part.least} to {part.most}"


def _grid(heads: Sequence[str], rows: Rows) -> str:
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def document(result: Result) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "name": result.name,
        "metric": result.metric,
        "reference": result.reference,
        "reach": result.reach,
        "budget": result.budget,
        "conditions": result.conditions,
        "test_sources": result.test_size,
        "models": [_described(one) for one in result.standings],
        "by_source_length": {
            metric: [_part(result, part) for part in parts] for metric, parts in result.by_length.items()
        },
        "notes": list(result.notes),
        "failed": dict(result.failed),
    }


def _part(result: Result, part: Bucket) -> dict[str, Any]:
    scores = zip(result.standings, part.scores, strict=True)
    values = {one.name: rounded(score.value) for one, score in scores}
    return {"from": part.least, "to": part.most, "count": part.count, "values": values}


def _described(one: Standing) -> dict[str, Any]:
    reached = one.reached
    return {
        "name": one.name,
        "runs": [str(run) for run in one.runs],
        "scores": {name: _score(one, name, quality) for name, quality in one.qualities.items()},
        "traits": {name: rounded(value) for name, value in one.traits.items()},
        "training_pairs": one.pairs,
        "parameters": one.decoding.parameters,
        "steps": one.spent.steps,
        "target_pieces": one.spent.tokens,
        "seconds": round(one.spent.seconds, 3),
        "target_pieces_per_second": round(one.rate, 1),
        "sentences_per_second": round(one.decoding.sentences_per_second, 2),
        "peak_memory": one.memory,
        "reached": reached
        and {
            "seconds": round(reached.seconds, 3),
            "target_pieces": round(reached.tokens),
            "runs": reached.runs,
        },
        "learning": [_curve(one) for one in one.learnings],
    }


def _score(one: Standing, name: str, quality: Quality) -> dict[str, Any]:
    found = one.against.get(name)
    return {
        "mean": rounded(quality.mean),
        "values": [rounded(value) for value in quality.values],
        "deviation": None if quality.deviation is None else rounded(quality.deviation),
        "half_interval": rounded(quality.half),
        "higher_is_better": quality.higher_is_better,
        "against": found
        and {"difference": rounded(found.difference), "p": round(found.p, 6), "verdict": found.verdict},
    }


def _curve(record: Learning) -> list[dict[str, Any]]:
    return [
        {
            "step": point.spent.steps,
            "target_pieces": point.spent.tokens,
            "seconds": round(point.spent.seconds, 3),
            **point.values,
        }
        for point in record.points
    ]
