"""What is tried: the load agent, driven as a run drives it, and the gate."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents import Agent, agent

from workbench.analysis.histogram import bucket_bounds
from workbench.workloads.wire import KEPT_BODY, Fault, Reply, Wire

from . import server
from .cells import Cell
from .client import Calls, Told

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


class LoadAgent:
    """The process, started with the first cell; and again if it has ended."""

    def __init__(self, certificate: str) -> None:
        self._certificate = certificate
        self._agent: Agent | None = None
        self._points = 0
        self._ending = contextlib.ExitStack()

    def close(self) -> None:
        self._ending.close()
        self._agent = None

    def told(self, cell: Cell, calls: Calls) -> Told:
        if self._agent is None:
            self._agent, self._points = self._ending.enter_context(agent()), 0
        one, self._points = self._agent, self._points + 1
        stop = {"op": "stop", "id": self._points}
        overdue = threading.Timer(4 * calls.timeout_s, lambda: one.say(**stop))
        overdue.start()
        try:
            with _stopped_half_of_the_time(_worker_of(one), cell.worker == "busy"):
                outcome = one.run(calls.port, **self._load(cell, calls))
        except AssertionError as error:  # It has ended, or does not account for each call.
            self.close()
            return Told(lost=Counter({f"the agent: {error}"[:60]: cell.connections * cell.calls}))
        finally:
            overdue.cancel()
        told = Told(whole=outcome.total("replies"), cpu_s=outcome.total("cpu_us") / 1e6)
        unfinished = {"in flight": outcome.total("in_flight") + outcome.total("unsent")}
        for error, count in (outcome.errors | unfinished).items():
            if count:
                told.lost[LOST.get(error, error)] += count
        told.held = outcome.total("wall_us") > calls.timeout_s * 1e6
        told.times_s = _times_s(outcome.histogram("service"))
        return told

    def _load(self, cell: Cell, calls: Calls) -> dict[str, Any]:
        options: dict[str, Any] = {"protocol": cell.protocol, "pipeline": cell.pipeline}
        request = {"path": cell.path, "method": cell.method, "body": cell.sent}
        if cell.wanted == "each":
            options["requests"] = [{**request, "weight": weight} for weight in (1, 2, 1)]
            reply = {"each": [_reply(cell, wanted) for wanted in ("status", "body", "checks")]}
        else:
            options |= request
            reply = _reply(cell, cell.wanted)
        if cell.rest == "reconnect":
            options["on_close"] = "reconnect"
        closed = {"mode": "closed", "concurrency": calls.concurrency}
        return {
            "workload": "pong" if cell.protocol == "pong" else "http",
            "options": options,
            "reply": reply,
            "tls": {"certificate": self._certificate} if calls.tls else {},
            "connections": calls.connections,
            "calls_per_connection": calls.calls,
            "timeout_s": calls.timeout_s,
            **(closed if calls.concurrency else {"rate_per_s": calls.rate_per_s}),
        }


def _reply(cell: Cell, wanted: str) -> dict[str, Any]:
    body = server.body(int(cell.size)).decode()
    text = body[-len(server.MARK) :]
    checks = {"status": cell.status, "bytes": len(body), "type": "text/plain", "text": text}
    forms = {
        "status": {"status": cell.status},
        "body": {"status": cell.status, "body": body},
        "checks": {"checks": checks},
    }
    return forms.get(wanted, {})


def _times_s(histogram: list[int]) -> list[float]:
    pairs = zip(histogram[::2], histogram[1::2], strict=True)
    return [bucket_bounds(bucket)[1] / 1e6 for bucket, count in pairs for _ in range(count)]


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


def by_gate(cell: Cell, calls: Calls) -> Told:
    """What the gate makes of one connection: its replies, and why it refuses the rest."""
    wire = Wire("127.0.0.1", calls.port, patience_s=calls.timeout_s, tls=calls.tls)
    told = Told()
    try:
        replies = asyncio.run(_replies(wire, cell, calls))
    except Fault as fault:
        told.lost[str(fault)] += calls.calls
        return told
    told.whole = len(replies)
    told.bodies = {
        (
            reply.status,
            reply.body_bytes,
            server.crc(reply.body) if reply.body_bytes <= KEPT_BODY else -1,
        )
        for reply in replies
    }
    if missing := calls.calls - len(replies):
        told.lost["fewer replies"] += missing
    return told


async def _replies(wire: Wire, cell: Cell, calls: Calls) -> list[Reply]:
    if cell.load == "pipelined":
        return await wire.at_once(calls.request, calls.calls)
    if calls.calls > 1:
        return await wire.one_by_one(calls.request, calls.calls)
    end = await wire.whole(calls.request, must_close=cell.end != "keep")
    if end.surplus and cell.protocol != "pong":
        raise Fault(f"It sends {end.surplus} bytes after the end of its reply.")
    return [end.reply]
