"""Finds, builds or records something on a machine: a task for each module.

A folder for the standard library of Python 3.10 or later. Arguments: the module, and a JSON object
for its `run`, with absolute paths: {cache, work, ...}. Output: JSON lines; the last is `ready` with
what `run` returned, or `failed` {why, detail, lines, ...}.

What is built is a folder below `cache`. It is made in the work folder, and renamed into place when
it is complete, so that what is in place is whole even if this process is killed.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LAST_LINES, LONGEST_LINE = 12, 300
"""Of the output of what failed."""


class Failed(Exception):
    """The reason in one word, details, and what else the event says."""

    def __init__(self, why: str, detail: str = "", *, output: str = "", **more: Any) -> None:
        """`output`: of the program that failed."""
        super().__init__(detail)
        lines = [line.rstrip()[:LONGEST_LINE] for line in output.splitlines() if line.strip()]
        event = {"event": "failed", "why": why, "detail": detail, "lines": lines[-LAST_LINES:]}
        self.event: dict[str, Any] = {**event, **more}


def main(name: str, task: str) -> None:
    try:
        say(event="ready", **importlib.import_module(f"{__name__}.{name}").run(json.loads(task)))
    except Failed as failure:
        say(**failure.event)
    except OSError as error:
        say(event="failed", why="disk", detail=f"{error.strerror}: {error.filename}")


def say(**event: Any) -> None:
    print(json.dumps(event), flush=True)


def ran(
    argv: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    seconds: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end. Raises Failed where it takes far longer than `seconds`."""
    env = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", **(env or {})}
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=env,
            cwd=cwd,
            check=False,
            timeout=None if seconds is None else seconds + 60,
        )
    except subprocess.TimeoutExpired:
        raise Failed("failed", f"{os.path.basename(argv[0])} did not end") from None


def last_line(output: str) -> str:
    return (output.strip().splitlines() or ["no output"])[-1]


def digest(*parts: Any) -> str:
    """Return a part of a folder's name: what its content is made of."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def put_in_place(made: Path, place: Path, mark: str = "") -> bool:
    """Rename what was made, unless another build was faster and left its `mark`: then False."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        made.rename(place)
    except OSError:
        if not (place / mark).exists():
            raise
        shutil.rmtree(made, ignore_errors=True)
        return False
    return True
