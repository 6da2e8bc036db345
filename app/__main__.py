"""`pongbench`: with a command it does as told and never loads Qt; without one it is the window."""

from __future__ import annotations

import os
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
    if sys.platform == "linux" and not any(map(os.environ.get, _DISPLAYS)):
        return _refuse(
            "There is no display for the window; compare servers with `pongbench run demo`,"
            " and see `pongbench --help` for the rest."
        )
    try:
        from app.application import run  # noqa: PLC0415 - Qt only for the window
    except ImportError as error:
        return _refuse(
            f"The window needs Qt, which this system cannot load ({error})."
            " Start it with `make run` once, or install the libraries that README names."
        )
    return run()


_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def _refuse(sentence: str) -> int:
    print(f"pongbench: {sentence}", file=sys.stderr)
    return ExitCode.FAILED


if __name__ == "__main__":
    raise SystemExit(main())
