"""The entry point of `pongbench`: with a command it runs that command and never loads Qt; without
one, or with the file of a session or a plan, it opens the window.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import ExitCode, PongbenchError
from workbench.terminal import to_stderr

if TYPE_CHECKING:
    from workbench.cli import AddOptions


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--selftest"]:
        from app.selftest import run as selftest  # noqa: PLC0415

        return selftest()
    file = _file(words)
    if words and file is None:
        from workbench import cli  # noqa: PLC0415 - not for the window

        return cli.main(words, more=MORE)
    if sys.platform == "linux" and not any(map(os.environ.get, _DISPLAYS)):
        return _refuse(
            "No display for the window. Compare servers with `pongbench run demo`; see "
            "`pongbench --help` for more."
        )
    try:
        from app.application import run  # noqa: PLC0415 - Qt only for the window
    except ImportError as error:
        why = str(error).strip().splitlines()[-1]
        otherwise = (
            "Run its installer again, which names the packages that this system lacks."
            if getattr(sys, "frozen", False)
            else "Run `make run` once, or install the libraries listed in README."
        )
        return _refuse(f"The window needs Qt, which this system cannot load ({why}). {otherwise}")
    try:
        return run(file)
    except PongbenchError as error:  # Before there is a window to show it.
        return _refuse(str(error))


def _from(module: str, name: str) -> AddOptions:
    return getattr(import_module(module), name)


MORE = {
    "compare": partial(_from, "app.export.command", "add_compare"),
    "report": partial(_from, "app.export.command", "add_report"),
    "share": partial(_from, "app.sharing.command", "add_share"),
}
"""The commands that need Qt, or have more options with it."""
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def _file(words: Sequence[str]) -> Path | None:
    """A file to open, as passed by a double click in a file manager."""
    # No command has a dot or a slash in its name.
    if len(words) != 1 or not {".", "/", "\\"} & set(words[0]):
        return None
    path = Path(words[0])
    return path if path.is_file() else None


def _refuse(sentence: str) -> int:
    to_stderr(sentence)
    return ExitCode.FAILED


if __name__ == "__main__":
    raise SystemExit(main())
