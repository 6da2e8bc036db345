"""Locust: agents whose workers are users of a locustfile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from workbench.errors import BadInput, PongbenchError
from workbench.load.base import Client, LoadTool
from workbench.load.fleet import FILES, AgentFleet
from workbench.load.fleet import TOOL as AGENT
from workbench.machines.base import ran
from workbench.machines.bundle import agent_place, own_platform
from workbench.machines.runner_client import Command
from workbench.machines.wire import InvalidMessage, Text, decode

OLDEST = (3, 11)
"""The first Python of the version of Locust in resources/agent."""
LOADS_WITHIN_S = 60.0
_CHECK = (
    "import sys; sys.path[:0] = [sys.argv.pop(1)];"
    " from workbench.remote.generators.locust.locustfile import check; check(*sys.argv[1:])"
)


class _Answer(msgspec.Struct):
    problem: Text


_ANSWER = msgspec.json.Decoder(_Answer)


class LocustFleet(AgentFleet):
    """Agents with users of a locustfile."""

    arms_within_s = LOADS_WITHIN_S
    untold = ("established",)  # Users open connections whenever they like.


async def start(clients: Sequence[Client]) -> LocustFleet:
    """Load the locustfile on every client, then start. Raises BadInput, PongbenchError."""
    for client in clients:
        await checked(client)
    return await LocustFleet.start(clients, worker="locust")


async def checked(client: Client) -> str:
    """Load the locustfile on a client. Returns the path of Locust there. Raises as `start`."""
    machine, brought = client.machine, client.brought
    if brought is None:
        raise PongbenchError("Locust runs locustfiles only; choose another load tool.")
    platform = machine.platform or own_platform()
    if tuple(map(int, platform.python.split(".")[:2])) < OLDEST:
        raise PongbenchError(
            f"Locust needs Python {'.'.join(map(str, OLDEST))} or later on '{machine.name}', which"
            f" has {platform.python}; install a later one there, and name it in its profile"
            " (python)."
        )
    place = await agent_place(machine, "locust", brought)
    for name, source in brought.files.items():
        await machine.put(source, f"{FILES}/{name}")
    argv = [*machine.python, "-c", _CHECK, place, *brought.arguments]
    status, lines = await ran(machine, Command(argv, cwd=FILES), LOADS_WITHIN_S)
    if status is None:
        raise BadInput(
            f"{Path(brought.arguments[0]).name} did not finish loading on {machine.name} within"
            f" {LOADS_WITHIN_S:.0f} s; a locustfile must not start its work when it is imported."
        )
    try:
        answer = decode(_ANSWER, lines[-1].encode() if lines else b"")
    except InvalidMessage:
        if lines:
            where = f"on '{machine.name}'"
            raise PongbenchError(f"Locust does not start {where}: {lines[-1]}.") from None
        raise BadInput(
            f"{Path(brought.arguments[0]).name} ended Python (status {status}) on {machine.name}"
            " while it was loaded; a locustfile must only define its users then."
        ) from None
    if answer.problem:
        raise BadInput(answer.problem)
    return place


TOOL = LoadTool(
    name="locust",
    label="Locust",
    capabilities=msgspec.structs.replace(
        AGENT.capabilities,
        workloads=("locust",),
        reports=AGENT.capabilities.reports - {"connect"},
        only={"engine": "agent"},
    ),
    start=start,
)
