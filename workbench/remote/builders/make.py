"""Compiles a server once, into a folder `<cache>/made/<id>-<key>`.

Task: {folder, commands, values, made_of, id, confined}. Says `making` {elapsed_s, output} at once
and then every few seconds, with the last line that the compiler printed. Packages that compilers
fetch are kept in `<cache>/packages`. What cargo had compiled when it was interrupted is kept in
`<cache>/building/<id>`, where the next build continues. `confined` is given for foreign sources:
{launcher, cache, uses, env, rights}, with which `confine.py` runs each command.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import LAST_LINES, LONGEST_LINE, Failed, digest, put_in_place, say

UNREACHED = (
    r"Could not transfer|Connection refused|Unknown ?[Hh]ost|dial tcp|Network is unreachable"
    r"|No plugin found for prefix|in offline mode|(Could not|Couldn't) (resolve host|connect)"
    r"|E(NOTFOUND|CONNREFUSED|AI_AGAIN|NETUNREACH|TIMEDOUT)\b"
)
"""In the output of Maven, Go, cargo and npm."""
EVERY_S = 10.0
"""Seconds between two events of progress."""
MOST_BYTES = 1 << 20
"""Of a command's output; what is before is forgotten."""
ERRORS = (r"(?i)\berror\b|\bERR!", r"^\S+:\d+:")
"""Lines with an error, the likelier first; compilers write the place of theirs."""
NO_ERRORS = (
    r"COMPILATION ERROR|too many errors|complete log|^ *(?:Compil|Download)|^warning"
    r"|^npm (?:ERR!|error) (?:(?:code|errno|path|syscall|type) |\s)"
)
"""Lines that only announce errors, or name packages whose name has that word."""


def run(task: dict[str, Any]) -> dict[str, Any]:
    key = digest(task["made_of"], task["commands"], platform.machine(), platform.libc_ver())
    place = Path(task["cache"], "made", f"{task['id']}-{key}")
    if not place.is_dir():
        say(event="making", elapsed_s=0, output="")
        with alone(Path(task["cache"], "building", task["id"])) as building:
            if not place.is_dir():  # Otherwise another build was faster.
                put_in_place(make(task, building), place)
    return {"made": str(place)}


def failed(command: list[str], status: int, output: bytes) -> Failed:
    """Describe why a command failed: its first error, and the last lines of its output."""
    said = lines_of(output)
    # What follows there in Maven's output is advice about its own options.
    said = said[: 1 + next((n for n, line in enumerate(said) if "-> [Help" in line), len(said))]
    said = [line.partition(" -> [Help")[0] for line in said]
    what = Path(command[0]).name
    if not said:
        return Failed("command", f"{what} ended with status {status} and no output")
    likely = [line for line in said if not re.search(NO_ERRORS, line)]
    offline = any(re.search(UNREACHED, line) for line in said)
    signs = (UNREACHED, *ERRORS) if offline else ERRORS
    errors = (line for sign in signs for line in likely if re.search(sign, line))
    error = next(errors, said[-1])
    error = error.strip().removeprefix("[ERROR] ").partition(" in the current project")[0]
    why = "offline" if offline else "command"
    last = "\n".join(said[-LAST_LINES:])
    return Failed(why, f"{what} said: {error[:LONGEST_LINE]}", output=last)


def lines_of(output: bytes) -> list[str]:
    """Return the lines that have text, without colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", output.decode("utf-8", "replace"))
    return [line.rstrip() for line in text.splitlines() if line.strip() not in ("", "[ERROR]")]


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[Path]:
    """Wait until no other program builds in a folder. It is emptied, unless this is interrupted."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            for path in folder.iterdir():
                if path.name != ".lock":
                    shutil.rmtree(path, ignore_errors=True)


def make(task: dict[str, Any], building: Path) -> Path:
    made = Path(task["work"], f"made-{task['id']}-{os.getpid()}")
    made.mkdir(parents=True)
    packages = Path(task["cache"], "packages")
    values = {**task["values"], "made": str(made), "packages": str(packages)}
    env = {
        **os.environ,
        "GOCACHE": f"{task['work']}/go-build",
        "GOPATH": f"{packages}/go",
        "GOTOOLCHAIN": "local",
        "CARGO_HOME": f"{packages}/cargo",
        "CARGO_TARGET_DIR": f"{building}/cargo",
        "CGO_ENABLED": "0",  # So that it runs with any C library.
        "NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt",  # npm knows only its own.
    }
    begun = time.monotonic()
    launcher = []
    if confined := task.get("confined"):
        # Only `made` and the folder can be written.
        own = {"folder": task["folder"], "home": str(made), "tmp": f"{made}-tmp"}
        settings = {**confined, **own, "report": f"{made}-confined.json"}
        launcher = confined["launcher"]
        env = {**os.environ, "PONGBENCH_CONFINE": json.dumps(settings)}
    for command in task["commands"]:
        argv = [*launcher, *(part.format_map(values) for part in command)]
        try:
            process = subprocess.Popen(
                argv,
                cwd=task["folder"],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except FileNotFoundError:
            raise Failed("command", f"there is no program {argv[0]}") from None
        with process:
            said = followed(process, begun)
        if process.returncode:
            raise failed(argv, process.returncode, said)
    if launcher and os.geteuid() == 0:  # Nobody made it, and must not change it when it serves.
        for folder, _, names in os.walk(made):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                os.chown(path, 0, 0, follow_symlinks=False)
    return made


def followed(process: subprocess.Popen[bytes], begun: float) -> bytes:
    """Return the output of a program once it has ended, reporting progress meanwhile."""
    assert process.stdout
    output, reported = b"", begun
    while True:
        if select.select([process.stdout], [], [], EVERY_S)[0]:
            data = os.read(process.stdout.fileno(), 65_536)
            if not data:
                return output
            output = (output + data)[-MOST_BYTES:]
        if (now := time.monotonic()) - reported >= EVERY_S:
            last = (lines_of(output[-4 * LONGEST_LINE :]) or [""])[-1]
            say(event="making", elapsed_s=round(now - begun), output=last[:LONGEST_LINE])
            reported = now
