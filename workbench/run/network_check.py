"""Checks the links between a run's clients and its target before anything is measured."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.runner_client import Command
from workbench.machines.wire import Count, InvalidMessage, Text, decode, quoted
from workbench.messages.base import Stated
from workbench.messages.notes import notice
from workbench.plan.model import Plan
from workbench.remote import REMOTE
from workbench.run.environment import Stage
from workbench.run.state import RunState
from workbench.servers.gate import GateResult

PROBE = REMOTE / "linkprobe.py"
WITHIN_S = 10.0
ENOUGH = 0.8
"""Share of the measured throughput; a plan that needs more gets a warning."""
SEGMENT = 1448
HEADERS = 66
"""Ethernet, IP and TCP headers of every segment, in bytes."""
PER_CONNECTION = 4
"""Segments without payload in one direction: to open, to acknowledge, to close."""


class _Answer(msgspec.Struct):
    trips_us: Annotated[list[Count], msgspec.Meta(max_length=1000)] = []
    bytes: Count = 0
    seconds: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.0
    put_bytes: Count = 0
    put_seconds: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.0
    segments: Count = 0
    resent: Count = 0
    port: Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)] = 0
    unconnected: Text = ""
    """Why the client could not connect to the target."""
    error: Text = ""


_ANSWER = msgspec.json.Decoder(_Answer)


class Unconnected(PongbenchError):
    """A client cannot connect to the target, so it can offer no load."""


async def check_link(client: Machine, target: Machine, *, bind: str, reach: str) -> Stated:
    """Measure for about two seconds.

    `bind`: where the target listens, `reach`: where the client connects to.

    Raises Unconnected when the client cannot connect, PongbenchError when it cannot measure.
    """
    token = secrets.token_hex(16)
    async with (
        _probe(target, "serve", bind, token) as serving,
        _probe(client, "ask", reach, str(serving.port), token) as got,
    ):
        if got.unconnected:
            raise Unconnected(
                f"'{client.name}' cannot connect to '{target.name}' at {reach}"
                f" ({quoted(got.unconnected)}); check its address for the others in its profile"
                " (reach), and firewalls between the two."
            )
    trips = sorted(got.trips_us)
    return notice(
        "link",
        client=client.name,
        target=target.name,
        min_us=trips[0],
        p50_us=trips[len(trips) // 2],
        p99_us=trips[-1 - len(trips) // 100],
        bits_per_s=_rate(got.bytes, got.seconds),
        to_target_bits_per_s=_rate(got.put_bytes, got.put_seconds),
        segments=got.segments,
        resent=got.resent,
    )


def _rate(count: int, seconds: float) -> float:
    """Bits per second; 0: unknown."""
    return 8 * count / seconds if seconds else 0.0


@contextlib.asynccontextmanager
async def _probe(machine: Machine, *words: str) -> AsyncIterator[_Answer]:
    """What the program answers, while it runs. Raises PongbenchError."""
    program = await machine.tool(PROBE)
    process = await machine.start(Command([*machine.python, program, *words]))
    try:
        line: bytes | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WITHIN_S):
                line = await anext(process.lines(), None)
        try:
            answer = decode(_ANSWER, line or b"")
            failed = answer.error or answer.unconnected
            if not (answer.port or failed or (answer.trips_us and answer.seconds)):
                raise InvalidMessage
        except InvalidMessage:
            answer = _Answer(error="it did not answer")
        if answer.error:
            output = quoted(answer.error)
            raise PongbenchError(f"The link of {machine.name} could not be checked: {output}.")
        yield answer
    finally:
        with contextlib.suppress(PongbenchError):
            await process.stop(0)


async def check_links(stage: Stage) -> Mapping[str, Stated]:
    """Check one link after another, as they share the target; loopback has none. Raises Unconnected
    if a client cannot reach the target: it would blame every server."""
    found: dict[str, Stated] = {}
    for name in stage.fleet.clients:
        if name == stage.target.name:
            continue
        client = stage.members[name].machine
        try:
            found[name] = await check_link(client, stage.target, bind=stage.bind, reach=stage.reach)
        except Unconnected:
            raise
        except PongbenchError as error:
            found[name] = notice("link-unchecked", client=name, said=str(error))
    return found


def note_links(run: RunState) -> None:
    """Note the results, and what the plan needs."""
    gates = [rehearsal.gate for rehearsal in run.rehearsed.values()]
    clients = len(run.stage.fleet.clients)
    needed = needed_bits(run.plan, clients, gates)
    for link in run.links.values():
        for each in notes_of(link, *needed) if link.code == "link" else [link]:
            run.note(each)


def notes_of(link: Stated, needed: float, to_target: float = 0.0) -> list[Stated]:
    """The measurements, and a warning for each direction that may be too slow for the plan.
    `needed`, `to_target`: bits per second from and to the target; 0: unknown."""
    measured = link.parameters
    found = [notice("link", **measured, needed_bits_per_s=needed)]
    there, back = measured["bits_per_s"], measured["to_target_bits_per_s"]
    for carries, wanted, is_back in ((there, needed, False), (back, to_target, True)):
        if wanted > ENOUGH * carries and (carries or not is_back):
            slow = notice(
                "slow-link",
                client=measured["client"],
                target=measured["target"],
                bits_per_s=carries,
                needed_bits_per_s=wanted,
                to_target=is_back,
            )
            found.append(slow)
    return found


def needed_bits(plan: Plan, clients: int, gates: Sequence[GateResult]) -> tuple[float, float]:
    """Bits per second between the target and each client, from it with the largest reply, and to it
    with the largest request, at the highest rate; 0: unknown, because a closed loop has no rate."""
    if plan.closed or not gates:
        return 0.0, 0.0
    calls = plan.workload.calls_per_connection
    per_s = max(plan.rates_per_s) / clients * (1 if plan.unit == "requests" else calls)
    reply = max(gate.kept_bytes if calls > 1 else gate.bytes_on_wire for gate in gates)
    most = max(plan.declared.request_bytes(plan.at(x).workload) for x in plan.values)

    def with_headers(each_bytes: int) -> float:
        segments = -(-each_bytes // SEGMENT) + PER_CONNECTION / calls
        return 8 * per_s * (each_bytes + HEADERS * segments)

    return with_headers(reply), with_headers(most)
