"""A cell tried: what the load agent and the other clients say of the same server."""

from __future__ import annotations

import contextlib
import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import median, quantiles

from workbench.servers.certificate import issue

from . import server
from .cells import SURPLUS, Cell
from .client import Calls, Client, Told
from .expected import Expected, expected
from .ours import LoadAgent, by_gate
from .peers import with_curl, with_h11, with_wrk

CONCURRENCY = 3
SLOW, SLOW_S = 5, 0.02
"""Times as long, and longer by this."""


@dataclass(frozen=True)
class Trial:
    cell: Cell
    wanted: Expected
    told: dict[str, Told]
    """By client; the agent is one."""
    faults: dict[str, str] = field(default_factory=dict)
    """By client: how it disagrees with what is expected."""

    @property
    def slow(self) -> bool:
        """Whether the agent's replies took far longer than the epoll client's; a hint, no fault."""
        agent, epoll = self.told["agent"].times_s, self.told["epoll"].times_s
        if not agent or not epoll or self.cell.worker == "busy":
            return False
        return median(agent) > SLOW * median(epoll) + SLOW_S

    def __str__(self) -> str:
        """Return a line of the table for each client."""
        verdict = "disagree" if self.faults else "slow" if self.slow else "agree"
        lines = [f"{verdict:<9}{self.cell}"]
        for name, told in self.told.items():
            lost = ", ".join(f"{count} {why}" for why, count in sorted(told.lost.items()))
            times = ""
            if len(told.times_s) > 1:
                cuts = quantiles(told.times_s, n=100, method="inclusive")
                times = f"p50 {cuts[49] * 1e3:8.1f} ms  p99 {cuts[98] * 1e3:8.1f} ms"
            cpu = f"CPU {told.cpu_s * 1e3:8.1f} ms" if told.cpu_s else ""
            fault = f"   <- {self.faults[name]}" if name in self.faults else ""
            said = f"{told.whole} whole" + (f", {lost}" if lost else "")
            lines.append(f"    {name:<6} {said:<32} {times:<36} {cpu}{fault}")
        return "\n".join(lines)


class Referee:
    """Has the server and the agent, as processes; see `referee`."""

    def __init__(
        self,
        folder: Path,
        ports: tuple[int, int],
        certificate: str,
        *,
        timeout_s: float,
        with_wrk: bool,
    ) -> None:
        self._wrk = shutil.which("wrk") if with_wrk else None
        self._folder = folder
        self._ports = ports
        self._certificate = certificate
        self._timeout_s = timeout_s
        self._agent = LoadAgent(certificate)

    def close(self) -> None:
        self._agent.close()

    def tried(self, cell: Cell) -> Trial:
        wanted = expected(cell)
        calls = self._calls(cell)
        Client(replace(calls, connections=1)).run()  # Afterwards the server has the reply.
        told = {"agent": self._agent.told(cell, calls), "gate": by_gate(cell, calls)}
        told["epoll"] = Client(calls).run()
        if _for_h11(cell):
            told["h11"] = with_h11(calls)
        if shutil.which("curl") and _for_curl(cell):
            some = min(2, cell.connections)
            told["curl"] = with_curl(
                replace(calls, connections=some, calls=_until_end(cell)),
                self._folder,
                self._folder / "certificate",
            )
        if self._wrk and _for_wrk(cell):
            told["wrk"] = with_wrk(calls)
        faults = {name: _fault(cell, name, it, wanted) for name, it in told.items()}
        return Trial(cell, wanted, told, {name: why for name, why in faults.items() if why})

    def _calls(self, cell: Cell) -> Calls:
        version = "1.1" if cell.protocol == "http/1.1" else "1.0"
        lines = [f"{cell.method} {cell.path} HTTP/{version}", "Host: pongbench"]
        if cell.protocol == "http/1.0" and cell.calls > 1:
            lines.append("Connection: keep-alive")
        body = cell.sent.encode()
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return Calls(
            port=self._ports[cell.tls == "tls"],
            request="\r\n".join([*lines, "", ""]).encode() + body,
            connections=cell.connections,
            calls=cell.calls,
            pipeline=cell.pipeline,
            rate_per_s=cell.rate_per_s,
            concurrency=0 if cell.rate_per_s else CONCURRENCY,
            reconnect=cell.rest == "reconnect",
            timeout_s=self._timeout_s,
            tls=_context(self._certificate) if cell.tls == "tls" else None,
        )


@contextlib.contextmanager
def referee(folder: Path, *, timeout_s: float = 30.0, with_wrk: bool = True) -> Iterator[Referee]:
    """`folder`: for its files, may be empty. `timeout_s`: of a call; none should come to that.
    `with_wrk`: which takes a second for a cell."""
    made = issue()
    for name, text in (("certificate", made.certificate), ("key", made.key)):
        (folder / name).write_text(text)
    argv = [sys.executable, server.__file__, str(folder / "certificate"), str(folder / "key")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            plain, tls = map(int, process.stdout.readline().split())
            found = Referee(
                folder, (plain, tls), made.certificate, timeout_s=timeout_s, with_wrk=with_wrk
            )
            with contextlib.closing(found):
                yield found
        finally:
            process.kill()


def _fault(cell: Cell, name: str, told: Told, wanted: Expected) -> str:
    """Return how a client disagrees; empty: it agrees."""
    if name == "wrk":
        return "" if told.whole and not told.lost else "not every reply is whole"
    connections, calls = cell.connections, cell.calls
    if name == "gate":
        connections, wanted = 1, expected(replace(cell, rest="fails"))
    if name == "curl":
        connections, calls = min(2, connections), _until_end(cell)
    if name in ("agent", "gate") and cell.protocol == "pong" and cell.end in SURPLUS:
        wanted = Expected(1, 1)  # What the servers of 2009 send.
    most, least = min(wanted.most, calls) * connections, min(wanted.least, calls) * connections
    if told.whole + told.lost.total() != connections * calls:
        return f"{connections * calls} calls were made"
    if name == "gate":
        return _fault_of_gate(cell, told, most, least)
    if not least <= told.whole <= most:
        return f"{least if least == most else f'{least} to {most}'} are whole"
    if other := set(told.lost) - wanted.lost:
        may_be = " or ".join(sorted(wanted.lost)) or "none"
        return f"{', '.join(sorted(other))} in place of {may_be}"
    if told.held:
        return "a connection without a call is held to the timeout, and a closed loop lacks it"
    return _other_bytes(cell, told)


def _fault_of_gate(cell: Cell, told: Told, most: int, least: int) -> str:
    """It refuses what is not whole, or has fewer replies; what comes late it waits for."""
    if told.whole == cell.calls and most < cell.calls:
        return "accepts what is not whole"
    if told.whole < min(least, cell.calls) == cell.calls and cell.end not in SURPLUS:
        return "refuses what is whole"
    return _other_bytes(cell, told)


def _other_bytes(cell: Cell, told: Told) -> str:
    sent = server.body(0 if cell.framing in ("204", "304") else int(cell.size))
    right = {(cell.status, len(sent), crc) for crc in (server.crc(sent), -1)}
    return "" if told.bodies <= right else f"other bytes: {sorted(told.bodies - right)}"


def _until_end(cell: Cell) -> int:
    """Calls of a connection up to the one with the end: curl makes those after it again."""
    return 1 if cell.at == "first" else cell.calls


def _confuses_asyncio(cell: Cell) -> bool:
    """Whether asyncio throws away what it has not read when it cannot send."""
    return cell.answered == "unread" and cell.end.startswith("rst")


def _for_h11(cell: Cell) -> bool:
    """h11 knows no pipelining, keeps no connection of HTTP/1.0, and one after a length beside
    chunks."""
    own = cell.calls > 1 and (cell.protocol == "http/1.0" or cell.framing == "both")
    own |= cell.rest == "reconnect"
    return cell.load != "pipelined" and not own and not _confuses_asyncio(cell)


def _for_curl(cell: Cell) -> bool:
    """curl ignores bytes after a reply and an end within the head, and knows no pipelining."""
    whole = server.reply(cell.framing, int(cell.size), "HTTP/1.1", "close")
    head = re.match(rb"(HTTP/1.1 1.*?\r\n\r\n)*.*?\n\r?\n", whole, re.DOTALL)
    in_head = cell.end == "fin-within" and (not head or len(whole) // 2 <= head.end())
    return not (
        cell.load == "pipelined" or cell.end in SURPLUS or in_head or _confuses_asyncio(cell)
    )


def _for_wrk(cell: Cell) -> bool:
    """wrk makes calls again whose connection ends, refuses a length beside chunks, takes an
    interim response for a reply, and waits for the body of a 304."""
    plain = cell.protocol == "http/1.1" and cell.tls == "plain" and cell.request == "get"
    return (
        plain
        and cell.end == "keep"
        and cell.framing not in ("both", "interim", "304")
        and int(cell.size) <= 1_000_000
    )


@cache
def _context(certificate: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=certificate)
