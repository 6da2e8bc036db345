"""The entry of a frozen build: the program, or one of the things it starts itself as.

    pongbench [COMMAND...]             the program
    pongbench --agent [OPTIONS]        the load agent
    pongbench --python SCRIPT [ARG...] a single-file program of ours, on the bundle's interpreter
    python SCRIPT [ARG...]             the same, by a link of that name: a server of the catalogue

The last three load neither Qt nor the workbench.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path


def main() -> int:
    """Returns the exit code."""
    name, *words = sys.argv
    if Path(name).name.startswith("python"):
        return _run_script(words)
    match words:
        case ["--agent", *options]:
            from workbench.agent.__main__ import main as agent  # noqa: PLC0415

            return agent(options)
        case ["--python", *rest]:
            return _run_script(rest)
        case _:
            from app.__main__ import main as program  # noqa: PLC0415

            return program(words)


def _run_script(words: Sequence[str]) -> int:
    """As `python [-flags] SCRIPT [ARG...]` would; flags say how to start an interpreter, and this
    one is started."""
    words = list(words)
    while words and words[0].startswith("-"):
        words.pop(0)
    if not words:
        print("pongbench: --python needs a script.", file=sys.stderr)
        return 2
    script, sys.argv = words[0], words
    sys.path.insert(0, str(Path(script).resolve().parent))
    # What the bundle needed to start is not for the programs that a script starts.
    for variable in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        original = os.environ.pop(f"{variable}_ORIG", None)
        os.environ.pop(variable, None)
        if original is not None:
            os.environ[variable] = original
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
