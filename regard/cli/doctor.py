"""regard doctor"""

import os
import platform
import re
from importlib import metadata
from pathlib import Path

import typer
from rich.table import Table

from regard.cli.console import results

EXTRAS = {
    "fast": "answers by CTranslate2",
    "onnx": "models as ONNX graphs",
    "pronounce": "pronunciations for the recipe pronounce",
    "ray": "answers in bulk on many machines",
    "serve": "regard serve",
    "sweep": "regard sweep",
    "track": "training curves in TensorBoard",
    "vision": "pictures",
}


def doctor() -> None:
    """Check that Regard can work here, and say what it found."""
    import torch

    from regard import __version__
    from regard.data import cache_folder, data_folder

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(overflow="fold")  # a path that is too long is broken, not cut
    problems = []
    table.add_row("regard", __version__)
    table.add_row("python", f"{platform.python_version()} on {platform.platform()}")
    needed = _required()
    for name in needed[None]:
        table.add_row(name, _version(name) or "missing")
        problems += [] if _version(name) else [f"{name} is missing: pip install regard"]
    for extra, use in EXTRAS.items():
        there = [f"{name} {version}" for name in needed[extra] if (version := _version(name))]
        whole = len(there) == len(needed[extra])
        table.add_row(
            extra, ", ".join(there) if whole else f"not installed ({use}: pip install 'regard[{extra}]')"
        )
    table.add_row("threads", f"{torch.get_num_threads()} of {os.cpu_count()} cores")
    devices = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
    table.add_row("devices", ", ".join(["cpu", *devices]))
    able: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    narrow = any(able.get(name) for name in ("avx512_bf16", "amx_bf16"))
    table.add_row(
        "bfloat16", f"the cpu {'multiplies' if narrow else 'does not multiply'} it (training.precision)"
    )
    for label, folder in (("cache", cache_folder()), ("here", Path.cwd())):
        writable = _writable(folder)
        table.add_row(label, f"{folder} ({'writable' if writable else 'NOT writable'})")
        problems += [] if writable else [f"{folder} can't be written to"]
    data = data_folder()
    table.add_row("data", str(data) if data.is_dir() else f"{data} (not there; REGARD_DATA says where it is)")
    results.print(table)
    for problem in problems:
        results.print(f"Problem: {problem}")
    results.print("All is well." if not problems else f"{len(problems)} problem(s).")
    if problems:
        raise typer.Exit(1)


def _required() -> dict[str | None, list[str]]:
    """Packages that Regard needs, and those of each extra, as its metadata has them."""
    found: dict[str | None, list[str]] = {None: [], **{extra: [] for extra in EXTRAS}}
    for line in metadata.requires("regard") or []:
        package = re.match(r"[\w.-]+", line)
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        assert package is not None, line
        found.setdefault(extra[1] if extra else None, []).append(package[0])
    return found


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _writable(folder: Path) -> bool:
    """Looks at the nearest folder that exists: doctor changes nothing."""
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)
