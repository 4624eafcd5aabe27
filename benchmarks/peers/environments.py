"""A virtual environment for each peer, made once, under a cache folder.

Every package is named with its version in `requirements/`, and pip is told to follow no dependency: peers that ask
for an old torch run with the one that all others have, and none brings gigabytes for a GPU that is not there.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BUILT = "# built here"  # packages below this line are compiled, with those above it already installed
REGARD = "regard"  # the environment that runs the benchmark itself


def cache() -> Path:
    """Where environments and prepared data are kept: $REGARD_BENCH, or below the user's cache."""
    given = os.environ.get("REGARD_BENCH")
    return Path(given) if given else Path.home() / ".cache" / "regard" / "bench"


def parts(requirements: str) -> list[list[str]]:
    """What is installed first, and what is built with it."""
    first, _, then = requirements.partition(BUILT)
    return [lines for part in (first, then.partition("\n")[2]) if (lines := _lines(part))]


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]


def python(environment: str) -> Path:
    """The interpreter of an environment that is ready."""
    if environment == REGARD:
        return Path(sys.executable)
    return cache() / environment / "bin" / "python"


def is_ready(environment: str) -> bool:
    if environment == REGARD:
        return True
    mark = cache() / environment / "installed"
    return mark.is_file() and mark.read_text() == _fingerprint(environment)


def install(environment: str) -> None:
    """Makes an environment, if it is not there as its requirements say; a CalledProcessError if it cannot be."""
    if is_ready(environment):
        return
    interpreter = python(environment)
    if not interpreter.is_file():
        _run(sys.executable, "-m", "venv", str(interpreter.parent.parent))
    for lines in parts(_requirements(environment).read_text()):
        _run(
            str(interpreter),
            *["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"],
            *lines,
        )
    (cache() / environment / "installed").write_text(_fingerprint(environment))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _requirements(environment: str) -> Path:
    return HERE / "requirements" / f"{environment}.txt"


def _fingerprint(environment: str) -> str:
    return hashlib.sha256(_requirements(environment).read_bytes()).hexdigest()
