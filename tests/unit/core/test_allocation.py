import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from regard.core.allocation import keep_freed_memory
kept = keep_freed_memory()
block = bytearray(200 * 2**20)
del block
for line in open("/proc/self/status"):
    if line.startswith("VmRSS"):
        print(kept, int(line.split()[1]) > 150 * 2**10)
"""


def run(**environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment
    ).stdout.strip()


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="tells how much a process holds on Linux only"
)
def test_freed_memory_stays_unless_the_user_chose_otherwise() -> None:
    assert run() == "True True"
    assert run(MALLOC_TRIM_THRESHOLD_="131072") == "False False"
