"""A point running on several agents: armed, started at one instant, its reports collected."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from workbench.documents import ClientPart
from workbench.errors import PongbenchError
from workbench.load import events
from workbench.load.agent import Agent
from workbench.load.base import LoadReport, LoadWindow
from workbench.load.merge import WindowMerger, client_part, merge_reports
from workbench.machines.wire import InvalidMessage, quoted
from workbench.messages.base import Message
from workbench.messages.reasons import AgentProblem, ClientGone, WindowsLost

ARM_WITHIN_S = 5.0
WINDOWS_PER_S = 5
SPARE_S = 60.0
"""Seconds by which a point may exceed its calls before it has too many windows."""
MOST_COMPLAINTS = 20


class NotInTime(PongbenchError):
    """Some agents have not done in time what was asked of them."""

    def __init__(self, silent: list[str], what: str, within_s: float) -> None:
        where = ", ".join(silent)
        super().__init__(
            f"The load agent on {where} did not {what} the point within {within_s:.0f} s."
        )
        self.silent = silent


class Point:
    """A point running on several agents."""

    def __init__(
        self, number: int, agents: list[Agent], on_window: Callable[[LoadWindow], None]
    ) -> None:
        self.number = number
        self.agents = agents
        self.parts = {(a.name, w) for a in agents for w in range(a.client.workers)}
        self.merger = WindowMerger(self.parts, on_window)
        self.armed: set[tuple[str, int]] = set()
        self.ended: set[tuple[str, int]] = set()
        self.reports: dict[tuple[str, int], events.Done] = {}
        self.complaints: list[Message] = []
        self.windows: dict[tuple[str, int], int] = {}
        """The last of each worker."""
        self.most_windows = 0
        """That a worker may send in the time the point may take."""
        self.news = asyncio.Event()
        self.lost_lines = 0
        """Reports of 200 ms that were not read in time and dropped on their way."""
        self._lost_before = {agent.name: agent.process.dropped for agent in agents}
        self.refused: Exception | None = None
        """What whoever takes the windows raised; no fault of the agent that sent them."""
        for agent in agents:
            agent.on_event = self.take

    async def arm(
        self, load: dict[str, Any], longest_s: float, within_s: float = ARM_WITHIN_S
    ) -> None:
        """Arm all agents. `load`: see `agent.protocol.Load`, without shares; `longest_s`: of the
        point."""
        first = 0
        self.most_windows = math.ceil((longest_s + SPARE_S) * WINDOWS_PER_S)
        for agent in self.agents:
            shared = {**load, "share": first, "shares": len(self.parts)}
            await self._send(agent, op="point", id=self.number, load=shared)
            first += agent.client.workers
        await self._until(lambda: self.armed | self.ended == self.parts, within_s, "arm")

    async def start(self, at_us: int) -> None:
        for agent in self.agents:
            await self._send(agent, op="start", id=self.number, at_us=at_us - agent.offset_us)

    async def result(self, allowed_s: float) -> LoadReport:
        await self._until(lambda: self.ended == self.parts, allowed_s, "finish")
        if not self.reports:
            raise PongbenchError(self.complaints[0].text())
        for agent in self.agents:
            self.lost_lines += agent.process.dropped - self._lost_before[agent.name]
        if self.lost_lines:
            self.complaints.append(WindowsLost(count=self.lost_lines))
        return replace(
            merge_reports(list(self.reports.values()), self.complaints),
            clients=list(self._parts_of_clients()),
        )

    async def stop(self) -> None:
        for agent in self.agents:
            await self._send(agent, op="stop", id=self.number)

    async def _send(self, agent: Agent, **command: Any) -> None:
        """Send a command to all agents. A lost one is reported by its reader; the others
        continue."""
        if not agent.failure:
            with contextlib.suppress(PongbenchError):
                await agent.send(**command)

    def _parts_of_clients(self) -> Iterator[ClientPart]:
        for agent in self.agents:
            reports = [r for (name, _), r in sorted(self.reports.items()) if name == agent.name]
            if reports:
                yield client_part(agent.name, reports, agent.uncertainty_us)

    def take(self, agent: Agent, event: events.AgentEvent | events.Lost) -> None:
        try:
            self._take(agent, event)
        except InvalidMessage:
            raise
        except Exception as error:
            self.refused = error
        self.news.set()

    def _take(self, agent: Agent, event: events.AgentEvent | events.Lost) -> None:
        match event:
            case events.Lost():
                for part in self.parts - self.ended:
                    if part[0] == agent.name:
                        self._end(part)
                self.complaints.append(ClientGone(client=agent.name, said=agent.failure))
            case events.Error() if len(self.complaints) >= MOST_COMPLAINTS:
                raise InvalidMessage("complaints without end")
            case events.Error():
                self.complaints.append(AgentProblem(client=agent.name, said=quoted(event.text)))
            case events.Armed() | events.Window() | events.Done() if event.id == self.number:
                self._take_part((agent.name, event.worker), event)
            case _:
                pass

    def _take_part(
        self, part: tuple[str, int], event: events.Armed | events.Window | events.Done
    ) -> None:
        if part not in self.parts or part in self.ended:
            raise InvalidMessage(f"worker {part[1]} is not at work")
        if isinstance(event, events.Armed):
            self.armed.add(part)
            return
        self.lost_lines += event.dropped
        if isinstance(event, events.Done):
            self.reports[part] = event
            self._end(part)
            return
        if not self.windows.get(part, -1) < event.i <= self.most_windows:
            raise InvalidMessage(f"window {event.i} after {self.windows.get(part, -1)}")
        self.windows[part] = event.i
        self.merger.add(part, event)

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
            raise NotInTime(silent, what, within_s) from None
        if self.refused is not None:
            raise self.refused
