"""The most memory that this process has had."""

from pathlib import Path

import torch


def peak_memory(device: torch.device) -> int | None:
    """In bytes: of the GPU where one is used, else of the machine; None where the system does not say."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    # Not getrusage: it counts what the parent had when this process was started.
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    sizes = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return next((1024 * int(size) for size in sizes), None)
