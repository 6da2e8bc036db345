"""The entry point of a frozen build: the program itself, or, for tests, `pongbench --python SCRIPT
[ARG...]`, which runs a script with the program's modules.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path


def main() -> int | str:
    """Returns the exit code, or what is to be said on stderr."""
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
            return _program(words)


def _program(words: list[str]) -> int | str:
    """The program; one sentence instead of a traceback when a file of it is missing."""
    try:
        from app.__main__ import main as program  # noqa: PLC0415  scripts come without it

        return program(words)
    except ImportError as error:
        problem: Exception = error
    except FileNotFoundError as error:
        if not str(error.filename).startswith(str(Path(sys.executable).parent)):
            raise
        problem = error
    why = str(problem).strip().splitlines()[-1]
    # Our own output may need what is missing.
    return (
        f"pongbench: A part of Pongbench is missing or cannot be loaded ({why}). Perhaps a virus"
        " scanner removed it; install Pongbench again."
    )


if __name__ == "__main__":
    raise SystemExit(main())
