"""Checks servers: deploys them, passes them through the wire gate and stops them."""

from __future__ import annotations

import asyncio
import functools
import os
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from msgspec.structs import replace

from workbench.closing import all_of
from workbench.consent import Consent, Exposure, agreed, exposure, never_agree
from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.opening import open_machine
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Ask
from workbench.servers.certificate import Certificate, issue
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
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
    error: PongbenchError | None = None
    """Why it could not be tested."""


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
) -> list[Checked]:
    """Check servers on a machine, several concurrently, those that compile last; results in the
    order of `entries`. Raises PongbenchError when the machine is lost."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(entry: ServerEntry) -> Checked:
        async with turns:
            doing = functools.partial(progress.doing, entry)
            checked = await check(machine, entry, doing, install=install)
            progress.done(checked)
            return checked

    async with await open_machine(profile, ask=ask) as machine:
        listening = [entry for entry in entries if not entry.unavailable]
        await agreed(exposure(listening, machine.name, machine.bind), expose)
        # They get their turns in the order in which their tasks are created.
        places = sorted(range(len(entries)), key=lambda place: effort(entries[place]))
        found = dict(zip(places, await all_of(one(entries[n]) for n in places), strict=True))
        return [found[place] for place in range(len(entries))]


def effort(entry: ServerEntry) -> int:
    """Those that take longer to build have more."""
    return 4 * ("cargo" in entry.programs) + 2 * bool(entry.make) + (entry.build or entry.heritage)


async def check(
    machine: Machine, entry: ServerEntry, notify: Notify, *, install: bool = False
) -> Checked:
    """Deploy a server, pass it through the gate, stop it."""
    if gone := entry.unavailable:
        return Checked(entry, "unavailable", gone.reason)

    async def gated(certificate: Certificate | None) -> tuple[Deployment, GateResult]:
        deployment = await deploy(
            machine, entry, notify=notify, install=install, certificate=certificate
        )
        try:
            notify(f"Testing {entry.name}{' over TLS' if certificate else ''}")
            return deployment, await gate(deployment)
        finally:
            await deployment.stop()

    try:
        deployment, result = await gated(None)
        if result.passed and entry.tls is not None:
            _, sealed = await gated(issue())
            if sealed.passed:
                said = [*result.sentences, f"It terminates TLS: {sealed.tls}."]
                result = replace(result, tls=sealed.tls, sentences=said)
            else:
                said = [f"Over TLS: {' '.join(sealed.sentences)}"]
                result = replace(sealed, sentences=said)
    except (NeedsSource, Unfetched) as error:
        return Checked(entry, "needs source", str(error), error=error)
    except PongbenchError as error:
        if error.code in ("machine-gone", "lease-expired"):
            raise
        return Checked(entry, "failed", str(error), error=error)
    where = "" if machine.is_local else machine.name
    await asyncio.to_thread(remember, entry, result, deployment.version, where)
    status: Status = "passed" if result.passed else "failed"
    return Checked(entry, status, " ".join(result.sentences), deployment, result)


def version_of(entry: ServerEntry, version: str) -> str:
    """Return 6.6.1 of "tornado 6.6.1", and all of "go 1.26.8", which is not the server's."""
    if entry.framework in entry.programs:
        return version
    last = version.rpartition(" ")[2]
    return last if last[:1].isdigit() else ""
