"""Runs on a machine: compiles a server once. Standard library only.

Argument: one JSON object {cache, work, folder, commands, values, made_of, id}. Output: JSON lines;
the last is `ready` {made} or `failed` {why, detail}.

The output is a folder `<cache>/made/<id>-<key>`, renamed into place when it is complete.
Packages that compilers fetch are kept in `<cache>/packages`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

UNREACHED = (
    "Could not transfer|Connection refused|UnknownHost|Unknown host|dial tcp|Network is unreachable"
    "|No plugin found for prefix|in offline mode|Could not resolve host|Could ?n.t resolve host"
)


def main() -> None:
    task = json.loads(sys.argv[1])
    try:
        parts = [task["made_of"], task["commands"], platform.machine(), platform.libc_ver()]
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
        place = Path(task["cache"], "made", f"{task['id']}-{key}")
        if not place.is_dir():
            say(event="making")
            put_in_place(make(task), place)
        say(event="ready", made=str(place))
    except subprocess.CalledProcessError as error:
        say(event="failed", **complaint(error.cmd, error.stdout or b""))
    except OSError as error:
        say(event="failed", why="disk", detail=f"{error.strerror}: {error.filename}")


def complaint(command: list[str], output: bytes) -> dict[str, str]:
    """Describe why a command failed, with its output, without colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", output.decode("utf-8", "replace"))
    lines = text.strip().splitlines() or ["nothing"]
    error = next((line for line in lines if "error" in line.lower()), lines[-1])
    error = error.strip().removeprefix("[ERROR] ").partition(" -> [Help")[0]
    error = error.partition(" in the current project")[0]
    what = Path(command[0]).name
    why = "offline" if re.search(UNREACHED, text) else "command"
    return {"why": why, "detail": f"{what} said: {error[:300]}"}


def say(**event: Any) -> None:
    print(json.dumps(event), flush=True)


def make(task: dict[str, Any]) -> Path:
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
        "CARGO_TARGET_DIR": f"{task['work']}/cargo-build",
        "CGO_ENABLED": "0",  # So that it runs with any C library.
        "NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt",  # npm knows only its own.
    }
    for command in task["commands"]:
        argv = [part.format_map(values) for part in command]
        subprocess.run(
            argv,
            cwd=task["folder"],
            env=env,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    return made


def put_in_place(made: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        made.rename(place)
    except OSError:
        if not place.is_dir():  # Otherwise another build was faster.
            raise
        shutil.rmtree(made, ignore_errors=True)


if __name__ == "__main__":
    main()
