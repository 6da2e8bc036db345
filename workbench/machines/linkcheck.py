"""The link between a client and the target: how long a trip takes, how much it carries."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path

import msgspec

from workbench.errors import PongbenchError
from workbench.machines import iperf
from workbench.machines.base import Command, Machine, Process
from workbench.wording import duration

PROBE = Path(__file__).with_name("linkprobe.py")
WITHIN_S = 10.0
ENOUGH = 0.8
"""Of what one stream carried; a plan that needs more is warned of."""
SEGMENT = 1448
HEADERS = 66
"""Ethernet, IP and TCP, of every segment."""
PER_CONNECTION = 4
"""Segments from the server that carry nothing: to open, to acknowledge, to close."""


@dataclass(frozen=True)
class LinkFigures:
    """What was measured from `client` to `target` and back."""

    client: str
    target: str
    min_us: int
    p50_us: int
    p99_us: int
    bits_per_s: float
    """From the target to the client, as replies go, in one stream of TCP."""
    by: str = ""
    """What measured that: "iperf3", or our own probe."""

    def sentence(self, needed_bits_per_s: float = 0.0) -> str:
        """`needed_bits_per_s`: what the plan needs of it; 0: not known."""
        text = (
            f"{self.client} reaches {self.target} in {duration(self.p50_us)}"
            f" (p99 {duration(self.p99_us)}) and at {bits(self.bits_per_s)}"
            + (f" ({self.by})" if self.by else "")
        )
        needed = f"; the plan needs about {bits(needed_bits_per_s)} at most"
        return f"{text}{needed if needed_bits_per_s else ''}."

    def warning(self, needed_bits_per_s: float) -> str:
        """A sentence when the link may be the limit; else nothing."""
        if needed_bits_per_s <= ENOUGH * self.bits_per_s:
            return ""
        return (
            f"The link from {self.target} to {self.client} carried {bits(self.bits_per_s)} and the"
            f" plan needs about {bits(needed_bits_per_s)}: at its highest rates the link may be the"
            " limit, and not a server."
        )


class _Answer(msgspec.Struct):
    trips_us: list[int] = []
    bytes: int = 0
    seconds: float = 0.0
    port: int = 0
    error: str = ""


async def check_link(client: Machine, target: Machine, *, bind: str, reach: str) -> LinkFigures:
    """For about a second, two where both have iperf3. `bind`: where the target listens, `reach`:
    where the client finds it.

    Raises PongbenchError when the client does not get there.
    """
    token = secrets.token_hex(16)
    serving = await _start(target, "serve", bind, token)
    try:
        port = (await _answer(serving, target)).port
        asking = await _start(client, "ask", reach, str(port), token)
        try:
            got = await _answer(asking, client)
        finally:
            await _stop(asking)
    finally:
        await _stop(serving)
    trips = sorted(got.trips_us)
    # On the port that was just free and let through.
    known = await iperf.measure(client, target, bind=bind, reach=reach, port=port)
    return LinkFigures(
        client.name,
        target.name,
        trips[0],
        trips[len(trips) // 2],
        trips[-1 - len(trips) // 100],
        known or 8 * got.bytes / got.seconds,
        "iperf3" if known else "",
    )


def needed_bits_per_s(requests_per_s: float, calls_per_connection: int, reply_bytes: int) -> float:
    """From the server to its clients, with what the network adds."""
    segments = -(-reply_bytes // SEGMENT) + PER_CONNECTION / calls_per_connection
    return 8 * requests_per_s * (reply_bytes + HEADERS * segments)


def bits(per_s: float) -> str:
    """ "940 Mbit/s", "1.4 Gbit/s"."""
    for unit, name in ((1e9, "Gbit/s"), (1e6, "Mbit/s")):
        if per_s >= unit:
            return f"{per_s / unit:.3g} {name}"
    return f"{per_s / 1e3:,.3g} kbit/s"


async def _start(machine: Machine, *words: str) -> Process:
    program = await machine.put(PROBE, "linkprobe.py")
    return await machine.start(Command([*machine.python, program, *words]))


async def _answer(process: Process, machine: Machine) -> _Answer:
    line: bytes | None = None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(WITHIN_S):
            line = await anext(process.lines(), None)
    try:
        answer = msgspec.json.decode(line or b"", type=_Answer)
    except msgspec.MsgspecError:
        answer = _Answer(error="it did not answer")
    if answer.error:
        raise PongbenchError(f"The link of {machine.name} could not be checked: {answer.error}.")
    return answer


async def _stop(process: Process) -> None:
    with contextlib.suppress(PongbenchError):
        await process.stop(0)
