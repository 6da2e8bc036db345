"""Tests a server on a machine: deploys it, sends requests, stops it, and reports. No Qt."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.closing import to_the_end
from workbench.consent import agreed, exposure
from workbench.errors import PongbenchError, ProgramFailed
from workbench.machines.base import Machine
from workbench.machines.local import open_local
from workbench.machines.opening import open_machine
from workbench.machines.profiles import Profile
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked, check
from workbench.servers.entry_reading import load_entry
from workbench.servers.gate import PIPELINED, GateResult
from workbench.servers.programs import MissingPrograms
from workbench.servers.readiness import MachineReadiness, examine

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
    texts: dict[str, str] = field(default_factory=dict)
    """What was sent, received and printed, and the commands that would install missing programs, by
    heading."""
    cancelled: bool = False
    """By the user: neither passed nor failed."""
    needs_consent: bool = False
    """To those commands."""


async def run_trial(
    folder: Path,
    notify: Callable[[str], None],
    person: Asker,
    *,
    shipped: bool,
    install: bool,
    profile: Profile | None,
) -> TrialResult:
    """Test the saved server in a folder, on a machine (None: this computer). A failure is a result
    and is not raised. `person`: answers questions about passwords and host keys.
    """
    try:
        entry = await asyncio.to_thread(load_entry, folder, shipped=shipped)
        notify(f"Opening {profile.name if profile else HERE}")
        async with _opened(profile, person) as machine:
            await agreed(exposure([entry], machine.name, machine.bind), person.agree)
            return _result(await check(machine, entry, notify, install=install))
    except PongbenchError as error:
        return TrialResult(False, [Line(str(error), "bad")])


async def examine_machine(profile: Profile, person: Asker) -> MachineReadiness:
    """Return what a machine has of the servers' requirements; nothing is changed. Raises
    PongbenchError.
    """
    catalogue = await asyncio.to_thread(Catalogue.load)
    async with _opened(profile, person) as machine:
        return await examine(machine, list(catalogue.contestants()))


@contextlib.asynccontextmanager
async def _opened(profile: Profile | None, person: Asker) -> AsyncIterator[Machine]:
    if profile is None:
        machine = await open_local(name=HERE)
    else:
        machine = await person.trusting(lambda: open_machine(profile, ask=person.ask))
    try:
        yield machine
    finally:
        with contextlib.suppress(PongbenchError):
            await to_the_end(machine.close())


def _result(checked: Checked) -> TrialResult:
    deployment, result, error = checked.deployment, checked.gate, checked.error
    if isinstance(error, MissingPrograms):
        commands = {"Commands to run": "\n".join(error.commands)}
        return TrialResult(False, [Line(error.offer, "warn")], commands, needs_consent=True)
    if deployment is None or result is None:
        failed = isinstance(error, ProgramFailed)
        said = error.sentence if failed else checked.reason
        return TrialResult(False, [Line(said, "bad")], _output(error.output if failed else ()))
    version = deployment.version.replace("standard library", "")
    with_ = " and ".join(filter(None, (deployment.runtime, version))) or "system programs"
    processes = f" in {result.processes} processes" if result.processes > 1 else ""
    lines = [Line(f"Started in {deployment.ready_s:,.1f} s with {with_}{processes}.")]
    tone = "ok" if result.passed else "bad"
    # What passed comes first, then other observations.
    known = "muted" if result.passed else tone
    lines += [Line(text, known if n else tone) for n, text in enumerate(result.sentences)]
    if result.passed:
        lines.append(_workloads(result))
        got = f"Accept queue: {deployment.backlog:,} connections"
        wanted = f"; {BACKLOG:,} were requested." if deployment.backlog != BACKLOG else ""
        lines.append(Line(got + (wanted or ", as requested."), "warn" if wanted else "ok"))
        lines += [Line(sentence, "warn") for sentence in checked.entry.differences]
    texts = {}
    if result.reply.startswith("HTTP/"):
        texts["First request"] = f"GET {checked.entry.path} HTTP/1.0\nHost: pongbench"
    if result.reply:
        answered = result.reply.replace("\r\n", "\n").rstrip("\n")
        texts[f"Response, {result.bytes_on_wire:,} bytes"] = answered
    return TrialResult(result.passed, lines, texts | _output(deployment.process.tail()))


def _output(lines: Sequence[str]) -> dict[str, str]:
    return {"Last output": "\n".join(lines[-12:])} if lines else {}


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
