"""Which clients of a run are there: one that is lost joins again when it can be reached."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from workbench.control import Control
from workbench.errors import PongbenchError
from workbench.machines import facts, opening
from workbench.machines.base import Machine
from workbench.measure import Bench
from workbench.stage import Stage

BACK_WITHIN_S = 60.0
ANSWERS_WITHIN_S = 2.0


class Noting(Protocol):
    """Tells something in the session."""

    def __call__(self, topic: str, text: str, server: str = "", **data: object) -> None: ...


class Attendance:
    """Tells of clients that are lost and of those that are back, and keeps the ceiling honest: it
    holds for the clients with which it was found."""

    def __init__(
        self,
        stage: Stage,
        bench: Bench,
        control: Control,
        note: Noting,
        tell: Callable[[str], None],
    ) -> None:
        self._stage = stage
        self._bench = bench
        self._control = control
        self._note = note
        self._tell = tell
        self._lost: list[str] = []
        self._ceiling_per_s: float | None = None
        """Of all clients together, as long as some are lost."""
        self._refused: set[str] = set()
        """Why clients did not come back, told once each."""

    def look(self) -> None:
        """Tell of clients that were lost since the last look."""
        new = [name for name in self._stage.load.lost if name not in self._lost]
        if not new or len(self._lost) + len(new) == len(self._stage.fleet.clients):
            return  # none is left: the next point ends the run
        if not self._lost:
            self._ceiling_per_s = self._bench.ceiling_per_s
        self._lost += new
        self._bench.ceiling_per_s = None
        gone = f"{', '.join(new)} is gone; from here on {self._offering()}"
        known = ", and the ceiling found before no longer holds" if self._ceiling_per_s else ""
        self._note("client-lost", f"{gone}{known}.", clients=new)

    async def take_back(self) -> None:
        """Before a server starts: clients that can be reached again offer load from here on."""
        for name in list(self._lost):
            self._tell(f"Looking whether {name} is back")
            try:
                said = await self._control.unless_interrupted(rejoin(self._stage, name))
            except PongbenchError as error:
                text = f"{name} did not come back: {error}"
                if text not in self._refused:
                    self._refused.add(text)
                    self._note("client-lost", text, clients=[name])
                continue
            if said is None:
                return
            self._lost.remove(name)
            # Found while one was away, it is not that of those that are here now.
            self._bench.ceiling_per_s = None if self._lost else self._ceiling_per_s
            known = ", and the ceiling found with all of them holds again"
            known = known if self._bench.ceiling_per_s else ""
            text = f"{name} is back; from here on {self._offering()}{known}."
            self._note("client-back", " ".join([text, *said]), clients=[name])

    def _offering(self) -> str:
        left = len(self._stage.fleet.clients) - len(self._lost)
        return "1 client offers the whole rate" if left == 1 else f"{left} clients offer the rate"


async def rejoin(stage: Stage, name: str) -> list[str]:
    """Take a lost client back: a new agent, on its machine opened anew where that was lost, too.

    What became of its tuning and which facts changed, in sentences. Nobody is asked for a password
    in mid-run. Raises PongbenchError when it cannot be, also when its host key has changed.
    """
    try:
        async with asyncio.timeout(BACK_WITHIN_S):
            said = []
            if not await _answers(stage.members[name].machine):
                said = await _open_again(stage, name)
            await stage.load.rejoin(stage.members[name].machine)
            return said
    except TimeoutError:
        raise PongbenchError(f"It was not ready within {BACK_WITHIN_S:.0f} s.") from None


async def _answers(machine: Machine) -> bool:
    with contextlib.suppress(PongbenchError, TimeoutError):
        async with asyncio.timeout(ANSWERS_WITHIN_S):
            await machine.read(["/proc/uptime"])
            return True
    return False


async def _open_again(stage: Stage, name: str) -> list[str]:
    before = stage.members[name]
    await before.machine.close()
    machine = await opening.open_machine(before.profile)
    try:
        told = await stage.tuneup.again(machine, before.profile)
        clock, found = await machine.clock(), await machine.facts()
        await stage.watch.start(machine, clock)
    except BaseException:
        await machine.close()
        raise
    stage.returned.push_async_callback(machine.close)
    stage.members[name] = replace(before, machine=machine, facts=found, clock=clock)
    new = facts.changes(before.facts, found)
    said = [f"These facts of it changed meanwhile: {', '.join(new)}."] if new else []
    return [*(one.text for one in told), *said]
