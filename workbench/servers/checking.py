"""Checks servers: deploys them, passes them through the wire gate and stops them."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from workbench.closing import ended
from workbench.consent import Consent, Exposure, agreed, exposure, never_agree
from workbench.errors import BadInput, PongbenchError, why
from workbench.machines.base import Machine
from workbench.machines.opening import open_machine
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Ask
from workbench.servers.certificate import Certificate, issue
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import Seen, ServerEntry
from workbench.servers.gate import GateResult, gate, remember
from workbench.servers.runtimes import Notify
from workbench.servers.sources import NeedsSource, Unfetched

AT_ONCE = max(2, os.cpu_count() or 2)
"""Servers checked concurrently: most of the time is waiting, for packages and for timeouts."""

Status: TypeAlias = Literal["passed", "failed", "unavailable", "needs source"]


@dataclass(frozen=True)
class Checked:
    """The result of checking one server."""

    entry: ServerEntry
    status: Status
    reason: str
    """Sentences."""
    deployment: Deployment | None = None
    gate: GateResult | None = None
    warm_start_s: float | None = None
    """Seconds until a second start was ready; None: there was none."""


class Progress(Protocol):
    """Receives the progress of a check."""

    def doing(self, entry: ServerEntry, text: str) -> None: ...
    def done(self, checked: Checked) -> None: ...


async def check_all(
    entries: list[ServerEntry],
    progress: Progress,
    *,
    profile: Profile,
    ask: Ask,
    install: bool = False,
    expose: Consent[Exposure] = never_agree,
    again: bool = False,
) -> list[Checked]:
    """Check servers on a machine, several concurrently, those that compile last; results in the
    order of `entries`. `again`: one after another, and each is started a second time. Raises
    PongbenchError when the machine is lost."""
    machine = await open_machine(profile, ask=ask)
    turns = asyncio.Semaphore(1 if again else AT_ONCE)

    async def one(entry: ServerEntry) -> Checked:
        async with turns:
            checked = await check(
                machine,
                entry,
                lambda text: progress.doing(entry, text),
                install=install,
                again=again,
            )
            progress.done(checked)
            return checked

    tasks: dict[int, asyncio.Task[Checked]] = {}
    try:
        listening = [entry for entry in entries if not entry.unavailable]
        await agreed(exposure(listening, machine.name, machine.bind), expose)
        # They get their turns in the order in which their tasks are created.
        for n in sorted(range(len(entries)), key=lambda n: _effort(entries[n])):
            tasks[n] = asyncio.create_task(one(entries[n]))
        return await asyncio.gather(*(tasks[n] for n in range(len(entries))))
    finally:
        await ended(*tasks.values())
        await machine.close()


def _effort(entry: ServerEntry) -> int:
    return 4 * ("cargo" in entry.programs) + 2 * bool(entry.make) + (entry.build or entry.heritage)


async def check(
    machine: Machine,
    entry: ServerEntry,
    notify: Notify,
    *,
    install: bool = False,
    again: bool = False,
) -> Checked:
    """Deploy a server, pass it through the gate, stop it. `again`: start it a second time."""
    if gone := entry.unavailable:
        return Checked(entry, "unavailable", gone.reason)

    async def started(certificate: Certificate | None = None) -> Deployment:
        return await deploy(
            machine, entry, notify=notify, install=install, certificate=certificate
        )

    async def gated(certificate: Certificate | None) -> tuple[Deployment, GateResult]:
        deployment = await started(certificate)
        try:
            notify(f"Testing {entry.name}{' over TLS' if certificate else ''}")
            return deployment, await gate(deployment)
        finally:
            await deployment.stop()

    try:
        deployment, result = await gated(None)
        if again:
            second = await started()
            await second.stop()
        if result.passed and entry.tls is not None:
            _, sealed = await gated(issue())
            if sealed.passed:
                said = [*result.sentences, f"It terminates TLS: {sealed.tls}."]
                result = replace(result, tls=sealed.tls, sentences=said)
            else:
                said = [f"Over TLS: {' '.join(sealed.sentences)}"]
                result = replace(sealed, sentences=said)
    except (NeedsSource, Unfetched) as error:
        return Checked(entry, "needs source", str(error))
    except PongbenchError as error:
        if error.code in ("machine-gone", "lease-expired"):
            raise
        return Checked(entry, "failed", str(error))
    where = "" if machine.is_local else machine.name
    await asyncio.to_thread(remember, entry, result, deployment.version, where)
    status: Status = "passed" if result.passed else "failed"
    warm_s = second.ready_s if again else None
    return Checked(entry, status, " ".join(result.sentences), deployment, result, warm_s)


_LINE = re.compile(r"^seen: \{.*\}$", re.MULTILINE)


def record(checked: Checked) -> bool:
    """Write what was seen of a server that passed into its `server.yaml`; False: it did not pass.
    Raises BadInput."""
    seen = seen_of(checked)
    if seen:
        write(checked.entry, seen)
    return seen is not None


def seen_of(checked: Checked) -> Seen | None:
    """Return what is worth keeping of a check on this computer; None: it did not pass."""
    gate, deployment = checked.gate, checked.deployment
    if checked.status != "passed" or gate is None or deployment is None:
        return None
    warm_s = checked.warm_start_s
    return Seen(
        keep_alive=gate.keep_alive,
        pipelining=gate.pipelining,
        bytes=gate.bytes_on_wire,
        processes=gate.processes,
        threads=gate.threads,
        memory_mb=round(gate.rss_bytes / 1e6),
        version=version_of(checked.entry, deployment.version),
        cold_start_s=round(deployment.ready_s, 2),
        warm_start_s=None if warm_s is None else round(warm_s, 2),
        source=source(datetime.now(UTC)),
    )


def version_of(entry: ServerEntry, version: str) -> str:
    """Return 6.6.1 of "tornado 6.6.1", and all of "go 1.26.8", which is not the server's."""
    if entry.framework in entry.programs:
        return version
    last = version.rpartition(" ")[2]
    return last if last[:1].isdigit() else ""


def source(when: datetime) -> str:
    """Return what `seen` gives as its source."""
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.platform())
    return f"catalogue check on {system}, {os.cpu_count()} cores, {when:%Y-%m-%d}"


def write(entry: ServerEntry, seen: Seen) -> None:
    """Write it into the entry's `server.yaml`. Raises BadInput."""
    path = entry.folder / "server.yaml"
    values = {name: value for name, value in msgspec.to_builtins(seen).items() if value is not None}
    line = ", ".join(f"{name}: {json.dumps(value)}" for name, value in values.items())
    text, times = _LINE.subn(lambda _: f"seen: {{{line}}}", path.read_text("utf-8"))
    try:
        path.write_text(text if times else f"{text.rstrip()}\nseen: {{{line}}}\n", "utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {why(error)}.") from None
