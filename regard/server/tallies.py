"""Counts of what a server does, in the text format of Prometheus."""

import resource
import threading
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

Label = tuple[tuple[str, str], ...]

COUNTERS = {
    "requests_total": "Requests answered, by path and status; 499 is a client that went away.",
    "request_seconds_total": "Seconds from requests to their answers, by path.",
    "inputs_total": "Inputs answered, by model.",
    "batches_total": "Batches that the model answered.",
    "model_seconds_total": "Seconds that the model worked.",
    "cancelled_total": "Requests whose clients went away before the answer.",
    "late_total": "Requests that were not answered before their deadline.",
    "refused_total": "Requests refused because others were being answered.",
}
GAUGES = {
    "requests_under_way": "Requests that are worked on.",
    "inputs_waiting": "Inputs that wait for the model.",
    "connections": "Open connections.",
    "resident_bytes": "Memory of this process.",
}


class Tallies:
    """Counters that both threads may add to."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, Label], float] = defaultdict(float)
        self._lock = threading.Lock()

    def add(self, name: str, amount: float, **labels: str) -> None:
        assert name in COUNTERS, name
        with self._lock:
            self._counts[name, tuple(sorted(labels.items()))] += amount

    def written(self, gauges: Mapping[str, float]) -> str:
        with self._lock:
            counts = dict(self._counts)
        lines = []
        for name, told in COUNTERS.items():
            lines += [f"# HELP regard_{name} {told}", f"# TYPE regard_{name} counter"]
            lines += [
                f"regard_{name}{_label(labels)} {value:.15g}"
                for (own, labels), value in sorted(counts.items())
                if own == name
            ]
        for name, told in GAUGES.items():
            lines += [f"# HELP regard_{name} {told}", f"# TYPE regard_{name} gauge"]
            lines.append(f"regard_{name} {gauges[name]:.15g}")
        return "\n".join(lines) + "\n"


def _label(labels: Label) -> str:
    written = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{written}}}" if written else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def resident_bytes() -> int:
    """Of this process now; where the system does not tell, at its greatest."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * resource.getpagesize()
