"""Starts guardian and runner."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any, NoReturn

from .claims import Claimed, Run, claim
from .loop import Runner
from .program import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    end_descendants,
    prctl,
    send_signal,
)


def read_config() -> tuple[dict[str, Any], bytes]:
    """Return the first line and the bytes received after it. Exits when there is no first line."""
    line = bytearray()
    while b"\n" not in line:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            sys.exit(1)
        line += chunk
    first, _, rest = bytes(line).partition(b"\n")
    return json.loads(first), rest


def guard(runner: int, run: Run) -> NoReturn:
    """Run the guardian: wait for the runner to end, then end whatever is left."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: send_signal(runner, signal.SIGTERM))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)  # So that only the runner holds the connection.
    while os.waitpid(-1, 0)[0] != runner:
        pass
    end_descendants(0)
    run.remove()
    os._exit(0)


def main() -> None:
    config, rest = read_config()
    umask = os.umask(0o077)
    cache = os.path.realpath(os.path.expanduser(config["cache"]))
    try:
        run = Run(cache, config["run"], config["holder"])
    except OSError as error:
        event = {"ev": "fatal", "error": f"{error.strerror}: {error.filename or cache}"}
        os.write(1, f"\n{config['nonce']}\n- {json.dumps(event)}\n".encode())
        sys.exit(1)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    guardian = os.getpid()
    try:
        runner = os.fork()
    except OSError:
        run.remove()
        raise
    if runner:
        guard(runner, run)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    body = Runner(config, run, rest, umask)
    if config.get("exclusive"):
        try:
            body.claim, body.beside = claim()
        except Claimed as claimed:
            holder, there = claimed.args
            body.event("busy", holder=holder, there=there)
            body.end("another run is on this machine")
    if os.getppid() != guardian:
        body.end("the guardian died")
    try:
        body.run()
    except Exception as error:
        body.end(f"an error in the runner: {type(error).__name__}: {error}")
