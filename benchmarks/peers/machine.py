"""What the machine can do at the most."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch

SIZE = 2048
TIMES = 5


@dataclass(frozen=True)
class Facts:
    processor: str
    threads: int
    ceiling: float  # operations in a second that its matrix product reaches

    @property
    def told(self) -> str:
        return (
            f"{self.processor}, {self.threads} threads, torch {torch.__version__}, "
            f"matrix products of {self.ceiling / 1e9:,.0f} GFLOP/s at the most"
        )


def facts(threads: int) -> Facts:
    return Facts(_processor(), threads, ceiling(threads))


def available() -> int:
    """Bytes of memory that processes can still get."""
    with Path("/proc/meminfo").open() as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) * 1024


def ceiling(threads: int) -> float:
    """The best of several large products in float32."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    a, b = torch.randn(2, SIZE, SIZE).unbind(0)
    best = float("inf")
    for _ in range(TIMES):
        started = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - started)
    torch.set_num_threads(before)
    return 2 * SIZE**3 / best


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"
