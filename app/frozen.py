"""The entry point of a frozen build: the program itself, or, for tests, `pongbench --python SCRIPT
[ARG...]`, which runs a script with the program's modules.
"""

from __future__ import annotations

import os
import runpy
import sys


def main() -> int:
    """Returns the exit code."""
    # What the bundle needed to start is not for the programs that it starts.
    for variable in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        original = os.environ.pop(f"{variable}_ORIG", None)
        os.environ.pop(variable, None)
        if original is not None:
            os.environ[variable] = original
    match sys.argv[1:]:
        case ["--python", script, *words]:
            sys.argv = [script, *words]
            runpy.run_path(script, run_name="__main__")
            return 0
        case words:
            from app.__main__ import main as program  # noqa: PLC0415  scripts come without it

            return program(words)


if __name__ == "__main__":
    raise SystemExit(main())
