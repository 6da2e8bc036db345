"""Runs on a client: starts a load tool at an instant and reports what it wrote and used.

Standard library only. The first line of stdin is one JSON object {argv, env, files: {name: text},
read: [name], counted: {name: column}}; "ready" is the answer. The second is {at_us}, the start on
this machine's monotonic clock. A later one, of any content, interrupts the tool (SIGINT). The last
line of output is {ev: "ended", status, began_us, wall_us, cpu_us, output, files, counted} or
{ev: "failed", said}.

The tool runs in a folder of its own, with `files` in it. Of the files it writes, `read` are
returned as text, and of those in `counted`, tables with a heading and tabs between columns, how
often each value of that column occurs: a line for each call need not cross the network.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

MOST_OUTPUT = 600_000
"""Characters of output and of each file; of more, the beginning and the end."""

PATIENCE_S = 2.0
"""Between two signals to a tool that is to end."""


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # The tool inherits it; a runner ignores it.
    task = json.loads(sys.stdin.readline())
    folder = Path(tempfile.mkdtemp(prefix="load-"))
    try:
        for name, text in task["files"].items():
            (folder / name).write_text(text, "utf-8")
        say(ev="ready")
        at_us = json.loads(sys.stdin.readline())["at_us"]
        say(ev="ended", **run(task, folder, at_us))
    except OSError as error:
        say(ev="failed", said=f"{error.strerror}: {error.filename or task['argv'][0]}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def say(**event: Any) -> None:
    print(json.dumps(event), flush=True)


def run(task: dict[str, Any], folder: Path, at_us: int) -> dict[str, Any]:
    env = {**os.environ, "LC_ALL": "C", **task["env"]}
    with (folder / "output").open("wb") as output:
        time.sleep(max(0.0, at_us / 1e6 - time.monotonic()))
        began_us = time.monotonic_ns() // 1000
        tool = subprocess.Popen(
            task["argv"],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    ended = threading.Event()
    threading.Thread(target=end_when_asked, args=(tool.pid, ended), daemon=True).start()
    _, status, usage = os.wait4(tool.pid, 0)
    ended.set()
    return {
        "status": os.waitstatus_to_exitcode(status),
        "began_us": began_us,
        "wall_us": time.monotonic_ns() // 1000 - began_us,
        "cpu_us": round((usage.ru_utime + usage.ru_stime) * 1e6),
        "output": text_of(folder / "output"),
        "files": {name: text_of(folder / name) for name in task["read"]},
        "counted": {n: counted(folder / n, column) for n, column in task["counted"].items()},
    }


def end_when_asked(pid: int, ended: threading.Event) -> None:
    """Interrupt it, so that it prints its results; one that has just begun may need a second
    signal."""
    if sys.stdin.readline():
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if not ended.is_set():
                os.kill(pid, number)
            ended.wait(PATIENCE_S)


def text_of(path: Path) -> str:
    """Return its text; empty: the tool did not write it."""
    try:
        text = path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return ""
    half = MOST_OUTPUT // 2
    return text if len(text) <= MOST_OUTPUT else f"{text[:half]}\n...\n{text[-half:]}"


def counted(path: Path, column: str) -> dict[str, int]:
    """Return how often each value occurs; empty: the tool did not write the column."""
    found: Counter[str] = Counter()
    try:
        with path.open(encoding="utf-8", errors="replace") as rows:
            heading = rows.readline().rstrip("\n").split("\t")
            if column in heading:
                place = heading.index(column)
                for row in rows:
                    cells = row.rstrip("\n").split("\t")
                    found[cells[place] if place < len(cells) else ""] += 1
    except FileNotFoundError:
        pass
    return dict(found)


if __name__ == "__main__":
    main()
