"""Deploys a server of the catalogue to a machine, ready to be measured."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import msgspec

from workbench.closing import to_the_end
from workbench.documents import Confinement
from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.runner_client import Command
from workbench.machines.secrets import named
from workbench.servers import sources
from workbench.servers.certificate import Certificate
from workbench.servers.deployment import Deployment, PortTaken, port_taken, see_address
from workbench.servers.entry import ServerEntry
from workbench.servers.requirements import normalised
from workbench.servers.runtimes import Job, Notify, Runtime, heritage
from workbench.servers.runtimes.builders import confinement, detail_of, run_builder
from workbench.servers.runtimes.prepare import prepare, put_files
from workbench.workloads.http.requests import Secret

SPECIFICATION = "PONGBENCH_CONFINE"


async def confined(
    machine: Machine, entry: ServerEntry, command: Command, runtime: Runtime
) -> Command:
    """Wrap a command to run with those privileges. Its `cwd` is the folder of its files on the
    machine, its `env` the additions to every server's environment."""
    home = _home(machine, command)
    paths = [
        *runtime.placeholders.values(),
        *(path for value in runtime.env.values() for path in value.split(":")),
    ]
    task = await confinement(machine, paths, command.env) | {
        "folder": command.cwd,
        "home": home,
        "tmp": f"{machine.run_dir}/tmp/{PurePosixPath(home).name}",
        "rights": sorted(entry.rights),
        "report": f"{home}.json",
    }
    argv = [*task.pop("launcher"), *command.argv]
    return replace(command, argv=argv, env={SPECIFICATION: msgspec.json.encode(task).decode()})


def _home(machine: Machine, command: Command) -> str:
    return f"{machine.run_dir}/homes/{PurePosixPath(command.cwd).name}"


PORTS = range(20_000, 30_000)
"""Range searched for a free port: below the ports Linux gives to clients."""

ATTEMPTS = 3
"""The most ports tried."""

_ENV = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
_numbers = itertools.count(1)


async def deploy(
    machine: Machine,
    entry: ServerEntry,
    *,
    backlog: int = 512,
    nofile: int = 0,
    cpus: Sequence[int] = (),
    host: str = "",
    reach: str = "",
    notify: Notify = lambda _: None,
    install: bool = False,
    certificate: Certificate | None = None,
) -> Deployment:
    """Copy a server to a machine, prepare its runtime, start it and wait until it is ready. `host`:
    where it listens, `reach`: where clients connect; empty: as the machine says. `install`: whether
    missing programs may be unpacked there. `certificate`: it terminates TLS with that. Raises
    PongbenchError, with the server's last output if any; nothing is left running then."""
    assert entry.running is None, "it is only attached to"
    if entry.unavailable:
        raise PongbenchError(f"{entry.name} cannot be run: {entry.unavailable.reason}")
    host, reach = host or machine.bind, reach or machine.reach
    see_address(entry, host)
    known = await named({v.secret for v in entry.env.values() if isinstance(v, Secret)})
    env = {k: known[v.secret] if isinstance(v, Secret) else v for k, v in entry.env.items()}
    also = heritage.to_fetch(entry)
    source = await sources.provide(entry, install=install, notify=notify, also=also)
    notify(f"Copying {entry.name} to {machine.name}")
    await asyncio.to_thread(entry.check_links)
    files = await asyncio.to_thread(entry.files)
    place = f"servers/{entry.id}-{next(_numbers)}"
    folder = await put_files(machine, entry, place, source)
    sealed = await certificate.put(machine, place) if certificate else {}
    # Where it finds them beside the arguments of `tls`.
    env |= {f"PONGBENCH_{name.upper()}": path for name, path in sealed.items()}
    if source:
        files["source"] = await asyncio.to_thread(sources.digest, source)
    runtime = await prepare(Job(machine, entry, folder, notify, install, source))

    async def start(port: int) -> Deployment:
        notify(f"Starting {entry.name} on port {port}")
        values = {"host": host, "port": str(port), "backlog": str(backlog), "folder": folder}
        values |= {**runtime.placeholders, **sealed}
        command = Command(
            entry.argv(**values),
            env={**_ENV, **runtime.env, **env},
            cwd=folder,
            nofile=nofile,
            cpus=cpus,
        )
        check = [part.format_map(values) for part in entry.check]
        started = await confined(machine, entry, command, runtime)
        begun = time.monotonic()
        deployment = Deployment(
            entry=entry,
            machine=machine,
            process=await machine.start(started),
            host=reach or host,
            port=port,
            runtime=runtime.name,
            version=_version(entry, runtime),
            files=files,
            at_odds=runtime.at_odds,
            tls=certificate.context() if certificate else None,
            check=(
                await confined(machine, entry, replace(command, argv=check), runtime)
                if check
                else None
            ),
        )
        try:
            await deployment.until_ready(entry.ready_within_s)
            deployment.ready_s = time.monotonic() - begun
            if (listening := await machine.listening(port)) is None:
                raise PongbenchError(
                    f"{entry.name} accepted a connection on port {port} of {machine.name}, but"
                    " nothing listens there now; it may have ended."
                )
            deployment.backlog = listening[1]
            (text,) = await machine.read([f"{_home(machine, command)}.json"])
            deployment.confinement = msgspec.json.decode(text or "{}", type=Confinement)
        except BaseException:
            with contextlib.suppress(PongbenchError):  # The machine itself may be lost.
                await to_the_end(deployment.stop())
            raise
        return deployment

    for _ in range(ATTEMPTS - 1):
        # Ports change hands: one found free may be occupied a moment later.
        with contextlib.suppress(PortTaken):
            return await start(await _port(machine, entry, host))
    return await start(await _port(machine, entry, host))


async def _port(machine: Machine, entry: ServerEntry, host: str) -> int:
    """Return a free port to listen on."""
    wanted = random.sample(PORTS, 100)
    event = await run_builder(machine, "port", {"host": host, "ports": wanted})
    detail = detail_of(event)
    if event.get("why") == "taken":
        raise port_taken(entry, machine, 0, detail.lower())
    if event.get("port") in wanted:
        return int(event["port"])
    raise PongbenchError(f"{machine.name} cannot report free ports: {detail or 'no output'}.")


def _version(entry: ServerEntry, runtime: Runtime) -> str:
    if entry.version:
        return entry.version
    if not entry.framework:
        own = entry.runtime == "python" and not entry.requirements
        return "standard library" if own else ""
    return f"{entry.framework} {runtime.packages.get(normalised(entry.framework), '')}".strip()
