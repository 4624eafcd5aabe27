"""The command line: one command per file, each a thin shell."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    from regard.cli.app import run

    sys.exit(run())
