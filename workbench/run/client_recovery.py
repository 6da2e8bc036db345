"""Which clients of a run are there: one that is lost joins again when it can be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from workbench.closing import to_the_end
from workbench.control import Control
from workbench.errors import PongbenchError
from workbench.machines import facts
from workbench.machines.base import answers
from workbench.machines.secrets import ask_nobody
from workbench.messages.notes import ClientBack, ClientLost, ClientNotBack
from workbench.run.environment import Stage
from workbench.run.point import Bench
from workbench.run.target_watch import Noting

BACK_WITHIN_S = 60.0
ANSWERS_WITHIN_S = 2.0


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
        self._refused: dict[str, ClientNotBack] = {}
        """Why clients did not come back when that was last noted."""

    def look(self) -> None:
        """Tell of clients that were lost since the last look."""
        new = [name for name in self._stage.load.lost if name not in self._lost]
        if not new or len(self._lost) + len(new) == len(self._stage.fleet.clients):
            return  # none is left: the next point ends the run
        if not self._lost:
            self._ceiling_per_s = self._bench.ceiling_per_s
        self._bench.ceiling_per_s = None
        void = bool(self._ceiling_per_s)
        for name in new:
            self._lost.append(name)
            self._note(ClientLost(clients=[name], left=self._left, limit_void=void), machine=name)

    async def take_back(self) -> None:
        """Before a server starts: clients that can be reached again offer load from here on."""
        for name in list(self._lost):
            self._tell(f"Looking whether {name} is back")
            try:
                found = await self._control.unless_interrupted(rejoin(self._stage, name))
            except PongbenchError as error:
                refused = ClientNotBack(clients=[name], said=str(error))
                if refused != self._refused.get(name):
                    self._refused[name] = refused
                    self._note(refused, machine=name)
                continue
            if found is None:
                return
            self._lost.remove(name)
            # Found while one was away, it is not that of those that are here now.
            self._bench.ceiling_per_s = None if self._lost else self._ceiling_per_s
            valid = bool(self._bench.ceiling_per_s)
            back = ClientBack(clients=[name], left=self._left, limit_valid=valid, **found)
            self._note(back, machine=name)

    @property
    def _left(self) -> int:
        return len(self._stage.fleet.clients) - len(self._lost)


async def rejoin(stage: Stage, name: str) -> dict[str, list[str]]:
    """Take a lost client back: a new agent, on its machine opened anew where that was lost, too.

    Which facts changed and what became of its tuning, for a `ClientBack`. Nobody is asked for a
    password in mid-run. Raises PongbenchError when it cannot be, also for a changed host key.
    """
    try:
        async with asyncio.timeout(BACK_WITHIN_S):
            found: dict[str, list[str]] = {}
            if not await answers(stage.members[name].machine, ANSWERS_WITHIN_S):
                found = await _open_again(stage, name)
            await stage.load.rejoin(stage.members[name].machine)
            return found
    except TimeoutError:
        raise PongbenchError(f"It was not ready within {BACK_WITHIN_S:.0f} s.") from None


async def _open_again(stage: Stage, name: str) -> dict[str, list[str]]:
    before = stage.members[name]
    await before.machine.close()
    machine = await stage.fleet.open(before.profile, ask_nobody)
    try:
        told = await stage.tuneup.again(machine, before.profile)
        clock, found = await machine.clock(), await machine.facts()
        await stage.watch.start(machine, clock)
    except BaseException:
        await to_the_end(machine.close())
        raise
    stage.returned.push_async_callback(machine.close)
    stage.members[name] = replace(before, machine=machine, facts=found, clock=clock)
    new = facts.changes(before.facts, found)
    return {"changed": new, "said": [notice.text() for _, notice in told]}
