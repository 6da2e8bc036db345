"""Tests a server on a machine: deploys it, sends requests, stops it, and reports. No Qt."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.closing import to_the_end
from workbench.consent import agreed, exposure, never_agree
from workbench.errors import PongbenchError, ProgramFailed
from workbench.machines.base import Machine
from workbench.machines.local import open_local
from workbench.machines.opening import open_machine
from workbench.machines.profiles import Profile
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.servers.gate import PIPELINED, GateResult, gate, remember
from workbench.servers.programs import MissingPrograms
from workbench.servers.readiness import MachineReadiness, examine, forget_programs

if TYPE_CHECKING:
    from app.machines.prompts import Asker

BACKLOG = 512
HERE = "this computer"


@dataclass(frozen=True)
class Line:
    """One observation."""

    sentence: str
    tone: str = "ok"
    """ok, muted, warn or bad."""


@dataclass(frozen=True)
class TrialResult:
    """The result of a test."""

    passed: bool
    lines: list[Line] = field(default_factory=list)
    request: str = ""
    """The first request, as sent."""
    answered: str = ""
    bytes_on_wire: int = 0
    output: list[str] = field(default_factory=list)
    """The last lines of the server's output."""
    cancelled: bool = False
    """By the user: neither passed nor failed."""
    commands: list[str] = field(default_factory=list)
    """The commands that would install missing programs, once the user consents."""


async def run_trial(
    folder: Path,
    notify: Callable[[str], None],
    *,
    shipped: bool,
    install: bool = False,
    profile: Profile | None = None,
    person: Asker | None = None,
) -> TrialResult:
    """Test the saved server in a folder, on a machine (None: this computer). A failure is a result
    and is not raised. `person`: answers questions about passwords and host keys.
    """
    try:
        entry = await asyncio.to_thread(load_entry, folder, shipped=shipped)
        notify(f"Opening {profile.name if profile else HERE}")
        machine = await _open(profile, person)
    except PongbenchError as error:
        return TrialResult(False, [Line(str(error), "bad")])
    begun = time.monotonic()
    try:
        consent = person.expose if person else never_agree
        await agreed(exposure([entry], machine.name, machine.bind), consent)
        deployment = await deploy(machine, entry, backlog=BACKLOG, notify=notify, install=install)
        took_s = time.monotonic() - begun
        try:
            notify(f"Checking the replies of {entry.name}")
            result = await gate(deployment)
            output = list(deployment.process.tail())
        finally:
            await to_the_end(deployment.stop())
    except MissingPrograms as error:
        return TrialResult(False, [Line(error.offer, "warn")], commands=error.commands)
    except ProgramFailed as error:
        return TrialResult(False, [Line(error.sentence, "bad")], output=error.output)
    except PongbenchError as error:
        return TrialResult(False, [Line(str(error), "bad")])
    finally:
        forget_programs()
        with contextlib.suppress(PongbenchError):
            await to_the_end(machine.close())
    where = profile.name if profile else ""
    await asyncio.to_thread(remember, entry, result, deployment.version, where)
    return _result(entry, deployment, result, took_s, output)


async def examine_machine(profile: Profile, person: Asker) -> MachineReadiness:
    """Return what a machine has of the servers' requirements; nothing is changed. Raises
    PongbenchError.
    """
    catalogue = await asyncio.to_thread(Catalogue.load)
    machine = await _open(profile, person)
    try:
        return await examine(machine, list(catalogue.contestants()))
    finally:
        with contextlib.suppress(PongbenchError):
            await to_the_end(machine.close())


async def _open(profile: Profile | None, person: Asker | None) -> Machine:
    if profile is None or person is None:
        return await open_local(name=HERE)
    return await person.trusting(lambda: open_machine(profile, ask=person.ask))


def _result(
    entry: ServerEntry, deployment: Deployment, result: GateResult, took_s: float, output: list[str]
) -> TrialResult:
    with_ = " and ".join(filter(None, (deployment.runtime, _version_text(deployment.version))))
    processes = f" in {result.processes} processes" if result.processes > 1 else ""
    lines = [Line(f"Started in {took_s:,.1f} s with {with_ or 'system programs'}{processes}.")]
    tone = "ok" if result.passed else "bad"
    # What passed comes first, then other observations.
    known = "muted" if result.passed else tone
    lines += [Line(text, known if n else tone) for n, text in enumerate(result.sentences)]
    if result.passed:
        lines.append(_workloads(result))
        lines.append(_backlog(deployment.backlog))
        lines += [Line(sentence, "warn") for sentence in entry.differences]
    return TrialResult(
        result.passed,
        lines,
        request=f"GET {entry.path} HTTP/1.0\nHost: pongbench\n" * result.reply.startswith("HTTP/"),
        answered=result.reply.replace("\r\n", "\n"),
        bytes_on_wire=result.bytes_on_wire,
        output=output,
    )


def _workloads(result: GateResult) -> Line:
    if "messages" in result.protocols:
        return Line("Message servers can be tested here, but not used in plans.", "muted")
    if "pong" in result.protocols:
        return Line("Closes after every reply: one call per connection.", "muted")
    spoken = " and ".join(protocol.upper() for protocol in result.protocols)
    if not (result.keep_alive or result.keep_alive_1_0):
        return Line(f"{spoken}: one call per connection.")
    at_once = ", also pipelined" if result.pipelining == PIPELINED else ""
    return Line(f"{spoken}: several calls per connection{at_once}.")


def _backlog(in_force: int) -> Line:
    if in_force == BACKLOG:
        return Line(f"Accept queue: {in_force:,} connections, as requested.")
    return Line(f"Accept queue: {in_force:,} connections; {BACKLOG:,} were requested.", "warn")


def _version_text(version: str) -> str:
    return "" if version == "standard library" else version
