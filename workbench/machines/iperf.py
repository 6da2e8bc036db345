"""iperf3 between two machines that have it: the throughput of one TCP stream in each direction."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.answers import output, ran
from workbench.machines.base import Command, Machine, Process
from workbench.machines.wire import InvalidMessage, decode

SECONDS = 1
WITHIN_S = 8.0
"""The measurement of one direction takes just over one second."""


class _Received(msgspec.Struct):
    bits_per_second: Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class _End(msgspec.Struct):
    sum_received: _Received | None = None


class _Report(msgspec.Struct):
    end: _End = msgspec.field(default_factory=_End)
    error: str = ""


_REPORT = msgspec.json.Decoder(_Report)


async def measure(
    client: Machine, target: Machine, *, bind: str, reach: str, port: int
) -> tuple[float, float] | None:
    """Return the bits per second from `target`, which listens, to `client`, and those back, one
    after the other, each in one TCP stream.

    None: one of them has no iperf3, or it failed; the caller measures in another way.
    """
    if not (await _there(client) and await _there(target)):
        return None
    words = ["--forceflush", "--bind", bind, "--port", str(port)]
    serving = await target.start(Command(["iperf3", "--server", *words]))
    try:
        async with asyncio.timeout(WITHIN_S):
            async for line in serving.lines():
                if b"listening" in line:
                    break
        words = ["--client", reach, "--json", "--time", str(SECONDS), "--port", str(port)]
        there = await _one_way(client, [*words, "--reverse"])
        back = await _one_way(client, words)
        return (there, back) if there and back else None
    except (TimeoutError, InvalidMessage):
        return None
    finally:
        await _stop(serving)


async def _one_way(client: Machine, words: list[str]) -> float | None:
    async with asyncio.timeout(WITHIN_S):
        asking = await client.start(Command(["iperf3", *words]))
        try:
            return bits_per_s(b"\n".join(await output(asking, WITHIN_S)))
        finally:
            await _stop(asking)


async def _stop(process: Process) -> None:
    with contextlib.suppress(PongbenchError):  # The machine may be lost.
        await process.stop(0)


def bits_per_s(output: bytes) -> float | None:
    """Return the throughput from the output of `iperf3 --json`; None: it did not measure."""
    try:
        report = decode(_REPORT, output)
    except InvalidMessage:
        return None
    received = report.end.sum_received
    return received.bits_per_second if received and not report.error else None


async def _there(machine: Machine) -> bool:
    try:
        return (await ran(machine, Command(["iperf3", "--version"]), WITHIN_S))[0] == 0
    except PongbenchError:
        return False
