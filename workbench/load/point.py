"""A point under way on several agents: armed, begun at one instant, its reports collected."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from workbench.documents import ClientPart
from workbench.errors import PongbenchError
from workbench.load.agent import Agent
from workbench.load.base import LoadReport, LoadWindow
from workbench.load.merge import WindowMerger, client_part, merge_reports

ARM_WITHIN_S = 5.0


class Point:
    """A point under way."""

    def __init__(
        self, number: int, agents: list[Agent], on_window: Callable[[LoadWindow], None]
    ) -> None:
        self.number = number
        self.agents = agents
        self.parts = {(a.name, w) for a in agents for w in range(a.client.workers)}
        self.merger = WindowMerger(self.parts, on_window)
        self.armed: set[tuple[str, int]] = set()
        self.ended: set[tuple[str, int]] = set()
        self.reports: dict[tuple[str, int], dict[str, Any]] = {}
        self.complaints: list[str] = []
        self.news = asyncio.Event()
        self.lost_lines = 0
        """Reports of 200 ms that were not read in time and dropped on their way."""
        self._lost_before = {agent.name: agent.process.dropped for agent in agents}
        self.refused: Exception | None = None
        """What whoever takes the windows raised; no fault of the agent that sent them."""
        for agent in agents:
            agent.on_event = self.take

    async def arm(self, load: dict[str, Any]) -> None:
        first = 0
        for agent in self.agents:
            shared = {**load, "share": first, "shares": len(self.parts)}
            await self._say(agent, op="point", id=self.number, load=shared)
            first += agent.client.workers
        await self._until(lambda: self.armed | self.ended == self.parts, ARM_WITHIN_S, "arm")

    async def start(self, at_us: int) -> None:
        for agent in self.agents:
            await self._say(agent, op="start", id=self.number, at_us=at_us - agent.offset_us)

    async def result(self, allowed_s: float) -> LoadReport:
        await self._until(lambda: self.ended == self.parts, allowed_s, "finish")
        if not self.reports:
            raise PongbenchError(self.complaints[0])
        for agent in self.agents:
            self.lost_lines += agent.process.dropped - self._lost_before[agent.name]
        if self.lost_lines:
            self.complaints.append(
                f"{self.lost_lines:,} reports of 200 ms were lost on their way here; the windows "
                "have gaps, the point's figures are whole."
            )
        return replace(
            merge_reports(list(self.reports.values()), self.complaints),
            clients=list(self._parts_of_clients()),
        )

    async def stop(self) -> None:
        for agent in self.agents:
            await self._say(agent, op="stop", id=self.number)

    async def _say(self, agent: Agent, **command: Any) -> None:
        """One that is lost is told by its reader; the others go on."""
        if not agent.failure:
            with contextlib.suppress(PongbenchError):
                await agent.say(**command)

    def _parts_of_clients(self) -> Iterator[ClientPart]:
        for agent in self.agents:
            reports = [r for (name, _), r in sorted(self.reports.items()) if name == agent.name]
            if reports:
                yield client_part(agent.name, reports, agent.uncertainty_us)

    def take(self, agent: Agent, event: dict[str, Any]) -> None:
        try:
            self._take(agent, event)
        except Exception as error:
            self.refused = error
            self.news.set()

    def _take(self, agent: Agent, event: dict[str, Any]) -> None:
        kind = event["ev"]
        if kind == "lost":
            for part in self.parts - self.ended:
                if part[0] == agent.name:
                    self._end(part)
            self.complaints.append(agent.failure)
        elif event.get("id") != self.number:
            if kind == "error":
                self.complaints.append(f"The load agent on {agent.name}: {event['text']}.")
            return
        else:
            part = (agent.name, event["worker"])
            self.lost_lines += event.get("dropped", 0)
            if kind == "armed":
                self.armed.add(part)
            elif kind == "window":
                self.merger.add(part, event)
            elif kind == "done":
                self.reports[part] = event
                self._end(part)
            elif kind == "error":
                self.complaints.append(f"The load agent on {agent.name}: {event['text']}.")
        self.news.set()

    def _end(self, part: tuple[str, int]) -> None:
        self.ended.add(part)
        self.merger.ended(part)

    async def _until(self, reached: Callable[[], bool], within_s: float, what: str) -> None:
        try:
            async with asyncio.timeout(within_s):
                while self.refused is None and not reached():
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            silent = sorted({name for name, _ in self.parts - self.ended})
            raise PongbenchError(
                f"The load agent on {', '.join(silent)} did not {what} the point within "
                f"{within_s:.0f} s."
            ) from None
        if self.refused is not None:
            raise self.refused


def longest_s(load: dict[str, Any]) -> float:
    """What a point may take when every call is answered at the last moment. `load`: see
    `agent.protocol.Load`."""
    seconds: float = load["seconds"]
    connection_s: float = load["calls_per_connection"] * (load["timeout_s"] + load["think_time_s"])
    if load["mode"] == "closed" and not seconds:
        rounds: int = math.ceil(load["connections"] / load["concurrency"])
        return rounds * connection_s
    return seconds + connection_s
