"""The parts of the benchmark: each asks all systems in turn, and tells what it found as a table."""

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import data
import machine
from arithmetic import middle, paired, products, rates, slope, table
from contract import SHAPES, read
from machine import Facts, available
from teams import FailureError, System

DECODED = SHAPES["small"]
WAYS = ((1, 1), (64, 1), (1, 5), (64, 5))  # sources in a batch, width of the beam
ALONE = 10  # times fewer sources where each stands alone
STEPS = 16
A_SECOND = 1.0  # about what a measurement takes
MANY = 768  # sources, of the thousand that there are
BATCHES = 24  # different ones, for training
TOGETHER = {"tiny": 4, "small": 2}  # steps in a round of training
LENGTHS = (16, 32, 64, 128, 256)
GROWN = 8  # sources, for each of the lengths
MEGABYTE = 2**20
NONE = "-"


@dataclass(frozen=True)
class Measured:
    figures: Any
    told: str


@dataclass(frozen=True)
class Entry:
    """A system in one of its ways."""

    system: System
    way: str = ""

    @property
    def title(self) -> str:
        return f"{self.system.title} {self.way}".rstrip()

    @property
    def is_ours(self) -> bool:
        return self.system.name == "regard_itself"


def write_models(folder: Path) -> None:
    """The models that are answered with, in folders that Regard and CTranslate2 read."""
    target = folder / f"model-{DECODED.name}"
    exported = folder / f"model-{DECODED.name}-ctranslate2"
    if exported.is_dir():
        return
    from teams import HERE
    from worker import load

    load(HERE / "systems" / "regard_itself.py").write_model(target, DECODED, data.pieces(folder))
    from regard.engines import export

    export(target, to="ctranslate2", output=exported, compute_type="float32")


def training(systems: Sequence[System], chosen: argparse.Namespace, facts: Facts) -> Measured:
    """Target pieces in a second, of each model and system."""
    figures: dict[str, Any] = {}
    tables = []
    for name in chosen.models:
        ceilings: list[float] = []
        found, reasons = _alternate(
            [Entry(system) for system in systems if name in system.facts.TRAINS],
            lambda entry, name=name: entry.system.ask("trainer", shape=name),
            lambda entry: entry.system.ask("train", numbers=[0]),
            lambda entry, number, name=name: entry.system.ask("train", numbers=_batches_of(name, number)),
            chosen.rounds,
            first=lambda ceilings=ceilings: ceilings.append(machine.ceiling(chosen.threads)),
        )
        for system in systems:
            if name not in system.facts.TRAINS and system.facts.LACKS:
                reasons[system.title] = system.facts.LACKS
        tables.append(_trained(name, found, reasons, systems[0].data, ceilings))
        figures[name] = {"measured": found, "reasons": reasons, "ceilings": ceilings}
        sys.stderr.write(tables[-1] + "\n\n")
    return Measured(figures, "\n\n".join(tables))


def _batches_of(model: str, round_: int) -> list[int]:
    """Batches of a round: several where a step is over soon, as one alone tells little. The first of all warms up."""
    count = TOGETHER.get(model, 1)
    return [1 + (round_ * count + place) % (BATCHES - 1) for place in range(count)]


def _trained(
    name: str, found: dict[str, Any], reasons: dict[str, str], path: Path, ceilings: Sequence[float]
) -> str:
    rate = {title: middle(rates(rounds, "tokens")) for title, rounds in found.items()}
    peers = {title: value for title, value in rate.items() if title != "Regard"}
    best = max(peers, key=peers.__getitem__) if peers else None
    batches, _ = read(path)
    rows = []
    for title in sorted(rate, key=lambda one: -rate[one]):
        rounds = found[title]
        done = [
            sum(products(SHAPES[name], batches[place]) for place in _batches_of(name, number))
            / one["seconds"]
            / ceilings[number]
            for number, one in enumerate(rounds)
        ]
        ratio = paired(rates(rounds, "tokens"), rates(found[best], "tokens")) if best else 1.0
        rows.append(
            [
                title,
                f"{rate[title]:,.0f}",
                f"{ratio:.2f}",
                f"{max(one['peak'] for one in rounds) / MEGABYTE:,.0f}",
                f"{middle(done):.0%}",
                f"{rounds[-1]['loss']:.2f}",
            ]
        )
    rows += [[title, NONE, NONE, NONE, NONE, reason] for title, reason in reasons.items()]
    head = [f"training {name}", "tokens/s", "of the fastest peer", "peak MB", "of the ceiling", "last loss"]
    return table(head, rows)


def decoding(systems: Sequence[System], chosen: argparse.Namespace, facts: Facts) -> Measured:
    """Sentences in a second, of a fixed number of steps."""
    entries = [
        Entry(system if not place else system.again(), way)
        for system in systems
        for place, way in enumerate(system.facts.DECODERS)
    ]  # a process for each way, so that all are asked in turn

    def ask(entry: Entry, number: int) -> dict[str, Any]:
        return {
            f"{batch} {beam}": answered(entry.system, _count(chosen, batch), batch, beam)
            for batch, beam in WAYS
        }

    figures, reasons = _alternate(
        entries,
        lambda entry: entry.system.ask("decoder", shape=DECODED.name, way=entry.way),
        lambda entry: entry.system.ask("decode", first=0, count=2, batch=1, beam=5, steps=STEPS),
        ask,
        chosen.rounds,
    )
    for entry in entries:
        if not any(entry.system is system for system in systems):
            entry.system.stop()
    return Measured({"measured": figures, "reasons": reasons}, decoded(figures, reasons))


def answered(system: System, count: int, batch: int, beam: int) -> Any:
    """Asks for `count` sources; who is done in less than a second is asked again, for as many as take about one."""
    ask = partial(system.ask, "decode", first=0, batch=batch, beam=beam, steps=STEPS)
    found = ask(count=count)
    more = math.ceil(A_SECOND / found["seconds"])
    return found if more == 1 else ask(count=max(count, min(count * more, MANY)))


def _count(chosen: argparse.Namespace, batch: int) -> int:
    return chosen.sentences if batch > 1 else max(1, chosen.sentences // ALONE)


def decoded(figures: dict[str, list[Any]], reasons: dict[str, str]) -> str:
    """Sentences in a second; behind Regard's, how many times those of the fastest peer that runs in PyTorch."""
    peers = [title for title in figures if not title.startswith(("Regard", "CTranslate2", "Marian"))]
    rate = {
        title: {name: middle(rates([one[name] for one in rounds], "sentences")) for name in rounds[0]}
        for title, rounds in figures.items()
    }

    def ratio(title: str, name: str) -> str:
        """Of Regard's rounds to those of the fastest peer in the same rounds."""
        if not title.startswith("Regard") or not peers:
            return ""
        best = max(peers, key=lambda one: rate[one][name])
        ours, theirs = ([one[name] for one in figures[each]] for each in (title, best))
        return f" ({paired(rates(ours, 'sentences'), rates(theirs, 'sentences')):.2f})"

    rows = []
    for title, rounds in figures.items():
        cells = [f"{value:,.1f}{ratio(title, name)}" for name, value in rate[title].items()]
        peak = max(one["peak"] for each in rounds for one in each.values()) / MEGABYTE
        rows.append([title, *cells, f"{peak:,.0f}"])
    rows += [[title, *[NONE] * len(WAYS), reason] for title, reason in reasons.items()]
    ways = [f"batch {batch}, beam {beam}" for batch, beam in WAYS]
    return table([f"decoding {DECODED.name}, sentences/s", *ways, "peak MB"], rows)


def startup(systems: Sequence[System], chosen: argparse.Namespace, facts: Facts) -> Measured:
    """From nothing to the first answer: imports, the model, one short answer."""
    rows, figures = [], {}
    for system in systems:
        if not system.facts.DECODERS:
            continue
        try:
            every = [_started(system.again()) for _ in range(chosen.rounds)]
            figures[system.title] = every
            parts = [*map(middle, zip(*every, strict=True)), middle([sum(one) for one in every])]
            rows.append([system.title, *(f"{part:.2f}" for part in parts)])
        except FailureError as failure:
            rows.append([system.title, NONE, NONE, NONE, str(failure)])
    return Measured(
        figures, table(["start-up, seconds", "imports", "model", "first answer", "together"], rows)
    )


def _started(system: System) -> tuple[float, float, float]:
    """The seconds of imports, model and first answer, in a process of its own."""
    try:
        system.begin()
        made = system.ask("decoder", shape=DECODED.name, way=system.facts.DECODERS[0])
        first = system.ask("decode", first=0, count=1, batch=1, beam=1, steps=STEPS)
        system.end()
        return system.seconds, made["seconds"], first["seconds"]
    finally:
        system.stop()


def growth(systems: Sequence[System], chosen: argparse.Namespace, facts: Facts) -> Measured:
    """How Regard's cost grows: answers over their length, memory of training over the batch."""
    ours = next((system for system in systems if system.name == "regard_itself"), None)
    if ours is None:
        return Measured({}, "Growth is told of Regard alone, which was not asked.")
    ours.begin()
    ours.ask("decoder", shape=DECODED.name, way="float32")
    ours.ask("decode", first=0, count=2, batch=2, beam=5, steps=STEPS)
    times = {}
    for length in LENGTHS:
        rounds = [
            ours.ask("decode", first=0, count=GROWN, batch=GROWN, beam=5, steps=length)["seconds"]
            for _ in range(chosen.rounds)
        ]
        times[length] = middle(rounds)
    ours.end()
    peaks = {}
    for share in (0.25, 0.5, 1.0):
        ours.begin()
        ours.ask("trainer", shape=DECODED.name)
        done = [ours.ask("train", numbers=[number], share=share) for number in (1, 2)]
        peaks[done[-1]["tokens"]] = max(one["peak"] for one in done)
        ours.end()
    steps = table(
        [f"Regard, {GROWN} answers, beam 5", *(f"{length} steps" for length in LENGTHS)],
        [
            ["seconds", *(f"{times[length]:.2f}" for length in LENGTHS)],
            ["milliseconds a step", *(f"{1000 * times[length] / length:.1f}" for length in LENGTHS)],
        ],
    )
    memory = table(
        [f"Regard, training {DECODED.name}", *(f"{tokens:,} tokens" for tokens in peaks)],
        [["peak MB", *(f"{peak / MEGABYTE:,.0f}" for peak in peaks.values())]],
    )
    each = slope(list(peaks.items())) / 1024
    return Measured(
        {"seconds": times, "peaks": peaks}, f"{steps}\n\n{memory}\n\nThat is {each:,.0f} KB for each token."
    )


Asked = Callable[[Entry], Any]


def _alternate(
    entries: Sequence[Entry],
    open_: Asked,
    warm: Asked,
    ask: Callable[[Entry, int], Any],
    rounds: int,
    *,
    first: Callable[[], None] = lambda: None,
) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """All are made ready; then each is asked once in every round, after what comes `first`.

    Who fails is out, and it is told why.

    Where the machine has no room for all of them at once, each is made ready anew in every round.
    """
    found: dict[str, list[Any]] = {}
    reasons: dict[str, str] = {}
    going = list(entries)

    def attempt(entry: Entry, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except FailureError as failure:
            reasons[entry.title] = str(failure)
            going.remove(entry)
            with suppress(FailureError):
                entry.system.end()  # it would keep its memory
            sys.stderr.write(f"{entry.title}: {failure}\n")
            return None

    def make_ready(entry: Entry) -> None:
        started = time.perf_counter()
        entry.system.begin()
        open_(entry)
        warm(entry)
        sys.stderr.write(f"{entry.title}: ready in {time.perf_counter() - started:.1f} s\n")

    def ask_alone(entry: Entry, number: int) -> Any:
        make_ready(entry)
        answer = ask(entry, number)
        entry.system.end()
        return answer

    fits, most = True, 0
    for entry in entries:
        room = available()
        attempt(entry, lambda entry=entry: make_ready(entry))
        most = max(most, room - available())
        fits = fits and (entry is entries[-1] or available() > 2 * most)
        if not fits:
            break
    if not fits:
        sys.stderr.write("There is no room for all at once: each is made ready in every round.\n")
        for entry in list(going):
            attempt(entry, entry.system.end)
    for number in range(rounds):
        first()
        for entry in list(going):
            turn = ask if fits else ask_alone
            answer = attempt(entry, lambda entry=entry, number=number, turn=turn: turn(entry, number))
            if answer is not None:
                found.setdefault(entry.title, []).append(answer)
    for entry in list(going):
        attempt(entry, entry.system.end)
    for title in reasons:
        found.pop(title, None)
    return found, reasons
