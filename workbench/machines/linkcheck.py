"""The link between a client and the target: its round-trip time and its throughput."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import Annotated

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.base import Command, Machine, Process
from workbench.machines.wire import Count, InvalidMessage, Text, decode, quoted
from workbench.messages.notes import Link
from workbench.remote import REMOTE

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


async def check_link(client: Machine, target: Machine, *, bind: str, reach: str) -> Link:
    """Measure for about two seconds.

    `bind`: where the target listens, `reach`: where the client connects to.

    Raises Unconnected when the client cannot connect, PongbenchError when it cannot measure.
    """
    token = secrets.token_hex(16)
    serving = await _start(target, "serve", bind, token)
    try:
        port = (await _answer(serving, target)).port
        asking = await _start(client, "ask", reach, str(port), token)
        try:
            got = await _answer(asking, client)
            if got.unconnected:
                raise Unconnected(
                    f"'{client.name}' cannot connect to '{target.name}' at {reach}"
                    f" ({quoted(got.unconnected)}); check its address for the others in its profile"
                    " (reach), and firewalls between the two."
                )
        finally:
            await _stop(asking)
    finally:
        await _stop(serving)
    trips = sorted(got.trips_us)
    return Link(
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


def needed_bits_per_s(calls_per_s: float, calls_per_connection: int, each_bytes: int) -> float:
    """Return the bits per second in one direction, for this size of a call in bytes, including
    protocol overhead."""
    segments = -(-each_bytes // SEGMENT) + PER_CONNECTION / calls_per_connection
    return 8 * calls_per_s * (each_bytes + HEADERS * segments)


async def _start(machine: Machine, *words: str) -> Process:
    program = await machine.tool(PROBE)
    return await machine.start(Command([*machine.python, program, *words]))


async def _answer(process: Process, machine: Machine) -> _Answer:
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
    return answer


async def _stop(process: Process) -> None:
    with contextlib.suppress(PongbenchError):
        await process.stop(0)
