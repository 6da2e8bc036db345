"""`pongbench`: with a command it does as told and never loads Qt; without one it is the window."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from app import report
from workbench import cli
from workbench.errors import ExitCode


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words:
        return cli.main(words, more=[report.add_parser])
    print(
        "pongbench: The window is not built yet; compare servers with `pongbench run demo`,"
        " and see `pongbench --help` for the rest.",
        file=sys.stderr,
    )
    return ExitCode.FAILED


if __name__ == "__main__":
    raise SystemExit(main())
