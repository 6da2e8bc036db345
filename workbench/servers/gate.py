"""The wire gate: tests a deployed server's actual responses before anything is measured, by a few
connections, and by behaviour, never by documentation."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
from pathlib import Path

import msgspec

from workbench import paths, stores
from workbench.machines.base import ran
from workbench.servers.deployment import Deployment, telling
from workbench.servers.entry import ServerEntry
from workbench.servers.footprint import settled_footprint
from workbench.workloads.gating import PIPELINED, GateResult, failed
from workbench.workloads.registry import spoken_by
from workbench.workloads.wire import Fault, Wire

__all__ = ["PIPELINED", "GateResult", "gate", "wire_to"]

CHECKED_WITHIN_S = 30.0
"""Tested by a server's own program."""

TUNNELLED = "It was reached through SSH, so it was not tested with clients that reset connections."


def wire_to(deployment: Deployment, patience_s: float = 5.0, impatience_s: float = 1.0) -> Wire:
    """Return a test client of the server; limits as of `gate`."""
    # SSH forwarding loses an early reset, and keeps the connection at the other end open.
    return Wire(
        *deployment.near,
        patience_s,
        impatience_s,
        resets=deployment.direct,
        tls=deployment.tls,
        tls_name=deployment.tls_name,
    )


async def gate(
    deployment: Deployment, *, patience_s: float = 5.0, impatience_s: float = 1.0
) -> GateResult:
    """Test a server in the protocols it declares. A failure is a result, not raised. `patience_s`:
    time limit for each reply; `impatience_s`: for replies that may never come."""
    reply = await _first_reply(deployment, patience_s) if deployment.entry.fault else b""
    result = await _gate(deployment, patience_s, impatience_s)
    if not result.passed and reply:
        result = _faulty(deployment.entry, result, reply)
    if result.passed:
        # Workers may have opened new sockets, each with a backlog of its own.
        listening = await deployment.machine.listening(deployment.port)
        deployment.backlog = listening[1] if listening else deployment.backlog
        used = await settled_footprint(deployment.machine, deployment.roots)
        result = msgspec.structs.replace(
            result, processes=used.processes, threads=used.threads, rss_bytes=used.rss_bytes
        )
    deployment.gated = msgspec.to_builtins(result)
    return result


async def _gate(deployment: Deployment, patience_s: float, impatience_s: float) -> GateResult:
    entry = deployment.entry
    wire = wire_to(deployment, patience_s, impatience_s)
    workload = spoken_by(entry.protocols)
    if workload is None or entry.check:
        return await _own_check(deployment)
    try:
        result = await workload.gate(wire, entry)
    except Fault as fault:
        # A server that is crashing responds oddly first: wait a moment for its exit.
        ended = await deployment.ended_within(impatience_s / 2)
        return failed(entry, str(fault), *([_last_output(deployment)] if ended else []))
    if not deployment.alive():
        return failed(entry, "All replies were correct.", _last_output(deployment))
    if result.passed and wire.agreed:
        said = f"It speaks {wire.agreed[0]}."
        result = msgspec.structs.replace(
            result, tls=wire.agreed[0], sentences=[*result.sentences, said]
        )
    if result.passed and not deployment.direct:
        return msgspec.structs.replace(result, sentences=[*result.sentences, TUNNELLED])
    return result


async def _first_reply(deployment: Deployment, within_s: float) -> bytes:
    """Return the reply to a single call; empty: not the expected one."""
    entry, reply = deployment.entry, b""
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(within_s):
            reader, writer = await asyncio.open_connection(*deployment.near)
            try:
                writer.write(f"GET {entry.path} HTTP/1.0\r\nHost: pongbench\r\n\r\n".encode())
                reply = await reader.read()
            finally:
                writer.close()
    return reply if reply.rstrip().endswith((entry.reply.body or "").encode()) else b""


def _faulty(entry: ServerEntry, failure: GateResult, reply: bytes) -> GateResult:
    return GateResult(
        server=entry.id,
        passed=True,
        sentences=[f"Known fault: {entry.fault}", *failure.sentences],
        protocols=list(entry.protocols),
        reply=reply.decode("latin-1"),
        bytes_on_wire=len(reply),
    )


async def _own_check(deployment: Deployment) -> GateResult:
    entry, check = deployment.entry, deployment.check
    if check is None:
        return failed(entry, "It has no check program.")
    status, lines = await ran(deployment.machine, check, CHECKED_WITHIN_S)
    output = [*lines, "nothing"][-2:][0].removeprefix("AssertionError: ")
    if status is None:
        return failed(entry, f"Its check did not end within {CHECKED_WITHIN_S:.0f} s.")
    if status:
        return failed(entry, output)
    return GateResult(
        server=entry.id, passed=True, sentences=[output], protocols=list(entry.protocols)
    )


def _last_output(deployment: Deployment) -> str:
    last = telling(deployment.process.tail())
    output = f"; the last it said was {last!r}" if last else ""
    return f"It {deployment.end()} meanwhile{output}."


class Measured(msgspec.Struct, frozen=True):
    """One result of the gate."""

    gate: GateResult
    when_utc: str
    """ISO 8601 with a trailing Z."""
    version: str = ""
    """The framework's version."""


def remember(entry: ServerEntry, gate: GateResult, version: str = "", machine: str = "") -> None:
    """Save a result. `machine`: a profile's name; empty: this computer, or the one used. A cache
    that cannot be written is no error."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = _path(entry, machine)
    with contextlib.suppress(OSError):
        stores.write(path, msgspec.json.encode(Measured(gate, now, version)))


def recall(entry: ServerEntry, machine: str = "") -> Measured | None:
    """Return the last result for the server with its present files; None: never tested."""
    try:
        return msgspec.json.decode(_path(entry, machine).read_bytes(), type=Measured)
    except (OSError, msgspec.DecodeError):
        return None


def _path(entry: ServerEntry, machine: str) -> Path:
    content = hashlib.sha256(msgspec.json.encode(sorted(entry.files().items()))).hexdigest()
    where = f"@{machine}" if machine else ""
    return paths.cache_dir() / "gates" / f"{entry.id}-{content[:16]}{where}.json"
