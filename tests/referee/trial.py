"""A cell tried: what the load agent and the other clients say of the same server."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import quantiles
from typing import Any

from agents import Agent, agent

from workbench.agent.tls import NAME
from workbench.analysis.histogram import bucket_bounds
from workbench.servers.certificate import issue

from . import server
from .cells import SURPLUS, Cell
from .client import Calls, Client, Told
from .expected import Expected, expected
from .peers import with_curl, with_h11, with_wrk

CONCURRENCY = 3
STOPPED_S = 0.02
"""At a time, of a worker that is busy."""
LOST = {
    "connreset": "reset",
    "client-timo": "timeout",
    "protocol-cut": "cut",
    "protocol-closed": "closed",
    "protocol-malformed": "malformed",
}
"""The classes of the agent's errors, as `client.LOST`."""


@dataclass(frozen=True)
class Trial:
    cell: Cell
    wanted: Expected
    told: dict[str, Told]
    """By client; the agent is one."""
    faults: dict[str, str] = field(default_factory=dict)
    """By client: how it disagrees with what is expected."""

    def __str__(self) -> str:
        """Return a line of the table for each client."""
        lines = [f"{'disagree' if self.faults else 'agree':<9}{self.cell}"]
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

    def __init__(self, folder: Path, ports: tuple[int, int], certificate: str, timeout_s: float):
        self._folder = folder
        self._ports = ports
        self._certificate = certificate
        self._timeout_s = timeout_s
        self._agent: Agent | None = None
        self._points = 0
        self._ending = contextlib.ExitStack()

    def close(self) -> None:
        self._ending.close()

    def tried(self, cell: Cell) -> Trial:
        wanted = expected(cell)
        calls = self._calls(cell)
        Client(replace(calls, connections=1)).run()  # Afterwards the server has the reply.
        told = {"agent": self._by_agent(cell), "epoll": Client(calls).run()}
        if _for_h11(cell):
            told["h11"] = with_h11(calls)
        if shutil.which("curl") and _for_curl(cell):
            some = min(2, cell.connections)
            told["curl"] = with_curl(
                replace(calls, connections=some, calls=_until_end(cell)),
                self._folder,
                self._folder / "certificate",
            )
        if shutil.which("wrk") and _for_wrk(cell):
            told["wrk"] = with_wrk(calls)
        faults = {name: _fault(cell, name, it, wanted) for name, it in told.items()}
        return Trial(cell, wanted, told, {name: why for name, why in faults.items() if why})

    def _calls(self, cell: Cell) -> Calls:
        version = "1.1" if cell.protocol == "http/1.1" else "1.0"
        lines = [f"{_method(cell)} {cell.path} HTTP/{version}", "Host: pongbench"]
        if cell.protocol == "http/1.0" and cell.calls > 1:
            lines.append("Connection: keep-alive")
        body = _body(cell).encode()
        if body:
            lines.append(f"Content-Length: {len(body)}")
        closed = cell.load in ("closed", "kept-closed")
        return Calls(
            port=self._ports[cell.tls == "tls"],
            request="\r\n".join([*lines, "", ""]).encode() + body,
            connections=cell.connections,
            calls=cell.calls,
            pipeline=cell.pipeline,
            rate_per_s=0 if closed else _rate(cell),
            concurrency=CONCURRENCY if closed else 0,
            timeout_s=self._timeout_s,
            tls=_context(self._certificate) if cell.tls == "tls" else None,
        )

    def _by_agent(self, cell: Cell) -> Told:
        options = {
            "protocol": cell.protocol,
            "path": cell.path,
            "pipeline": cell.pipeline,
            "method": _method(cell),
            "body": _body(cell),
        }
        closed = cell.load in ("closed", "kept-closed")
        pace = (
            {"mode": "closed", "concurrency": CONCURRENCY}
            if closed
            else {"rate_per_s": _rate(cell)}
        )
        one = self._running()
        self._points += 1
        stop = {"op": "stop", "id": self._points}
        overdue = threading.Timer(4 * self._timeout_s, lambda: one.say(**stop))
        overdue.start()
        try:
            with _stopped_half_of_the_time(_worker_of(one), cell.worker == "busy"):
                outcome = one.run(
                    self._ports[cell.tls == "tls"],
                    workload="pong" if cell.protocol == "pong" else "http",
                    options=options,
                    reply=_reply(cell),
                    tls={"certificate": self._certificate} if cell.tls == "tls" else {},
                    connections=cell.connections,
                    calls_per_connection=cell.calls,
                    timeout_s=self._timeout_s,
                    **pace,
                )
        except AssertionError as error:  # It has ended, or does not account for each call.
            self._ending.close()
            self._agent = None
            return Told(lost=Counter({f"the agent: {error}"[:60]: cell.connections * cell.calls}))
        finally:
            overdue.cancel()
        told = Told(whole=outcome.total("replies"), cpu_s=outcome.total("cpu_us") / 1e6)
        for error, count in (outcome.errors | _unfinished(outcome.reports)).items():
            if count:
                told.lost[LOST.get(error, error)] += count
        told.held = outcome.total("wall_us") > self._timeout_s * 1e6
        told.times_s = _times_s(outcome.histogram("service"))
        return told

    def _running(self) -> Agent:
        if self._agent is None:
            self._agent = self._ending.enter_context(agent())
            self._points = 0
        return self._agent


@contextlib.contextmanager
def referee(folder: Path, timeout_s: float = 30.0) -> Iterator[Referee]:
    """`folder`: for its files, may be empty. `timeout_s`: of a call; none should come to that."""
    made = issue()
    for name, text in (("certificate", made.certificate), ("key", made.key)):
        (folder / name).write_text(text)
    argv = [sys.executable, server.__file__, str(folder / "certificate"), str(folder / "key")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            plain, tls = map(int, process.stdout.readline().split())
            with contextlib.closing(
                Referee(folder, (plain, tls), made.certificate, timeout_s)
            ) as found:
                yield found
        finally:
            process.kill()


def _fault(cell: Cell, name: str, told: Told, wanted: Expected) -> str:
    """Return how a client disagrees; empty: it agrees."""
    if name == "wrk":
        return "" if told.whole and not told.lost else "not every reply is whole"
    connections, calls = cell.connections, cell.calls
    if name == "curl":
        connections, calls = min(2, connections), _until_end(cell)
    if name == "agent" and cell.protocol == "pong" and cell.end in SURPLUS:
        wanted = Expected(1, 1)  # What the servers of 2009 send.
    most, least = min(wanted.most, calls) * connections, min(wanted.least, calls) * connections
    if told.whole + told.lost.total() != connections * calls:
        return f"{connections * calls} calls were made"
    if not least <= told.whole <= most:
        return f"{least if least == most else f'{least} to {most}'} are whole"
    if other := set(told.lost) - wanted.lost:
        return (
            f"{', '.join(sorted(other))} in place of {' or '.join(sorted(wanted.lost)) or 'none'}"
        )
    if told.held:
        return "a connection without a call is held to the timeout, and a closed loop lacks it"
    sent = server.body(0 if cell.framing in ("204", "304") else int(cell.size))
    right = {(_status(cell), len(sent), zlib.crc32(sent)), (_status(cell), len(sent), -1)}
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
    """wrk makes calls again whose connection ends, refuses a length beside chunks, and takes an
    interim response for a reply."""
    plain = cell.protocol == "http/1.1" and cell.tls == "plain" and cell.request == "get"
    return (
        plain
        and cell.end == "keep"
        and cell.framing not in ("both", "interim")
        and int(cell.size) <= 1_000_000
    )


def _method(cell: Cell) -> str:
    return "GET" if cell.request == "get" else "POST"


def _body(cell: Cell) -> str:
    _, _, length = cell.request.partition("-")
    return "x" * int(length or 0)


def _rate(cell: Cell) -> float:
    return 100.0 if int(cell.size) <= 100_000 else 20.0


def _status(cell: Cell) -> int:
    return int(cell.framing) if cell.framing in ("204", "304") else 200


def _reply(cell: Cell) -> dict[str, Any]:
    body = server.body(int(cell.size)).decode()
    if cell.wanted == "body":
        return {"status": _status(cell), "body": body}
    text = body[-len(server.MARK) :]
    checks = {"status": _status(cell), "bytes": len(body), "type": "text/plain", "text": text}
    return {"checks": checks} if cell.wanted == "checks" else {}


@cache
def _context(certificate: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=certificate)
    assert NAME == "pongbench"
    return context


def _times_s(histogram: list[int]) -> list[float]:
    pairs = zip(histogram[::2], histogram[1::2], strict=True)
    return [bucket_bounds(bucket)[1] / 1e6 for bucket, count in pairs for _ in range(count)]


def _unfinished(reports: list[dict[str, Any]]) -> dict[str, int]:
    return {"in flight": sum(report["in_flight"] + report["unsent"] for report in reports)}


def _worker_of(one: Agent) -> int:
    pid = one.process.pid
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


@contextlib.contextmanager
def _stopped_half_of_the_time(pid: int, busy: bool) -> Iterator[None]:
    """So that what comes one after the other is found together, as where others have its core."""
    over = threading.Event()

    def stop() -> None:
        with contextlib.suppress(ProcessLookupError):
            while not over.wait(STOPPED_S):
                os.kill(pid, signal.SIGSTOP)
                over.wait(STOPPED_S)
                os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=stop)
    if busy:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if busy:
            thread.join()
