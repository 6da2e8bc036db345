"""Runs on a client: starts a load tool at an instant and reports what it wrote and used.

Standard library only. The first line of stdin is one JSON object {argv, env, files: {name: text},
read: [name], counted: {name: {columns, heading, span}}}; "ready" is the answer. The second is
{at_us}, the start on this machine's monotonic clock. A later one, of any content, interrupts the
tool and what it started (SIGINT). The last line of output is {ev: "ended", status, began_us,
wall_us, cpu_us, output, files, counted, spans} or {ev: "failed", said}.

The tool runs in a folder of its own, with `files` in it. Of the files it writes, `read` are
returned as text, and of those in `counted`, tables with tabs or semicolons between columns, how
often each combination of these columns occurs, with tabs between them: a line for each call need
not cross the network. `heading` is that of a table without one; a name may be a pattern. Numbers
have three figures where there are more than `MOST_VALUES` combinations. `span` names three columns,
who made a call, when it ended, in seconds, and how long it took, in ms: returned are how many made
calls, and the seconds between the first and the last of them who began.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST_VALUES = 20_000
MOST_OUTPUT = 600_000
"""Bytes of output and of each file that are reported; of more, the beginning and the end."""
MOST_WRITTEN = 1 << 30
"""Bytes of output and of each file, beyond which the tool is ended (SIGXFSZ), not the disk full."""

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Except tab and line feed."""

PATIENCE_S = 2.0
"""Between two signals to a tool that is to end."""


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # The tool inherits it; a runner ignores it.
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    if least == resource.RLIM_INFINITY or least > MOST_WRITTEN:
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_WRITTEN, most))
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
            start_new_session=True,
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
        "counted": {
            name: counted(folder, name, table["columns"], table["heading"])
            for name, table in task["counted"].items()
        },
        "spans": {
            name: span(folder, name, table["span"], table["heading"])
            for name, table in task["counted"].items()
            if table["span"]
        },
    }


def end_when_asked(pid: int, ended: threading.Event) -> None:
    """Interrupt it, so that it prints its results; one just begun may need a second signal."""
    if sys.stdin.readline():
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if not ended.is_set():
                os.killpg(pid, number)
            ended.wait(PATIENCE_S)


def text_of(path: Path) -> str:
    """Return its text; empty: the tool did not write it."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        if path.stat().st_size <= MOST_OUTPUT:
            return readable(file.read())
        begun = file.read(MOST_OUTPUT // 2)
        file.seek(-MOST_OUTPUT // 2, os.SEEK_END)
        return readable(begun + b"\n...\n" + file.read())


def readable(data: bytes) -> str:
    """Return what is text of it: in JSON, anything else would be several times as long."""
    text = data.decode("utf-8", "ignore").replace("\r\n", "\n").replace("\r", "\n")
    return CONTROLS.sub("", text)


def counted(folder: Path, name: str, columns: list[str], heading: str = "") -> dict[str, int]:
    """Return how often each combination occurs; empty: the tool did not write the columns."""
    found = Counter("\t".join(values) for values in rows(folder, name, columns, heading))
    if len(found) > MOST_VALUES:
        rounded: Counter[str] = Counter()
        for values, count in found.items():
            rounded["\t".join(map(three_figures, values.split("\t")))] += count
        found = rounded
    return dict(found)


def span(folder: Path, name: str, columns: list[str], heading: str = "") -> dict[str, Any]:
    """Return how many made calls, and the seconds between the first beginnings of these."""
    began_s: dict[str, float] = {}
    for who, ended_s, took_ms in rows(folder, name, columns, heading):
        with contextlib.suppress(ValueError):
            at_s = float(ended_s) - float(took_ms) / 1000
            began_s[who] = min(at_s, began_s.get(who, at_s))
    times = began_s.values()
    return {"begun": len(times), "seconds": max(times) - min(times) if times else 0.0}


def rows(folder: Path, name: str, columns: list[str], heading: str) -> Iterator[list[str]]:
    """The values of these columns in each row; none: the tool did not write the columns."""
    for path in sorted(folder.glob(name))[:1]:
        with path.open(encoding="utf-8", errors="replace") as lines:
            heading = heading or lines.readline().rstrip("\n")
            between = ";" if ";" in heading else "\t"
            names = heading.split(between)
            if not set(columns) <= set(names):
                return
            places = [names.index(column) for column in columns]
            for line in lines:
                cells = line.rstrip("\n").split(between)
                if max(places) < len(cells):
                    yield [cells[place] for place in places]


def three_figures(value: str) -> str:
    try:
        return f"{float(value):.3g}"
    except ValueError:
        return value


if __name__ == "__main__":
    main()
