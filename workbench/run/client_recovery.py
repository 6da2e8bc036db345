"""Recovery of lost clients: one that can be reached again offers load again."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from workbench.closing import to_the_end
from workbench.errors import PongbenchError
from workbench.machines import facts
from workbench.machines.base import answers
from workbench.machines.secrets import never_ask
from workbench.messages.notes import ClientBack, ClientLost, ClientNotBack
from workbench.run.environment import Stage
from workbench.run.state import RunState

BACK_WITHIN_S = 60.0
ANSWERS_WITHIN_S = 2.0


class ClientRecovery:
    """Notes which clients are lost and back; meanwhile the client limit is suspended."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._stage = run.stage
        self._lost: list[str] = []
        self._refused: dict[str, ClientNotBack] = {}
        """By client: why it could not rejoin when that was last noted."""

    def note_lost(self) -> None:
        """Note the clients that were lost since the last call."""
        lost_now = {name for load in self._stage.loads.values() for name in load.lost}
        new = [n for n in self._stage.fleet.clients if n in lost_now and n not in self._lost]
        if not new or len(self._lost) + len(new) == len(self._stage.fleet.clients):
            return  # none is left: the next point ends the run
        limit = self._run.limit
        for each in self._run.limits.values():
            each.of_all, each.per_s = each.of_all if self._lost else each.per_s, None
        for name in new:
            self._lost.append(name)
            lost = ClientLost(clients=[name], left=self._left, limit_void=bool(limit.of_all))
            self._run.note(lost, machine=name)

    async def rejoin_lost(self) -> None:
        """Before a server starts: clients that can be reached again offer load from here on."""
        limit = self._run.limit
        for name in list(self._lost):
            self._run.notify(f"Reconnecting to {name}")
            try:
                found = await self._run.control.unless_interrupted(rejoin(self._stage, name))
            except PongbenchError as error:
                refused = ClientNotBack(clients=[name], said=str(error))
                if refused != self._refused.get(name):
                    self._refused[name] = refused
                    self._run.note(refused, machine=name)
                continue
            if found is None:
                return
            self._lost.remove(name)
            for each in self._run.limits.values():
                # One measured in between was that of fewer clients.
                each.per_s = None if self._lost else each.of_all
            valid = bool(limit.per_s)
            back = ClientBack(clients=[name], left=self._left, limit_valid=valid, **found)
            self._run.note(back, machine=name)

    @property
    def _left(self) -> int:
        return len(self._stage.fleet.clients) - len(self._lost)


async def rejoin(stage: Stage, name: str) -> dict[str, list[str]]:
    """Take a lost client back: a new agent, on its machine opened again where that was lost, too.

    Returns which facts changed and what became of its tuning, for a `ClientBack`. Nobody is asked
    for a password during a run. Raises PongbenchError when it fails, also for a changed host key.
    """
    try:
        async with asyncio.timeout(BACK_WITHIN_S):
            found: dict[str, list[str]] = {}
            if not await answers(stage.members[name].machine, ANSWERS_WITHIN_S):
                found = await _reopen(stage, name)
            for load in stage.loads.values():
                if name in load.lost:
                    await load.rejoin(stage.members[name].machine)
            return found
    except TimeoutError:
        raise PongbenchError(f"It was not ready within {BACK_WITHIN_S:.0f} s.") from None


async def _reopen(stage: Stage, name: str) -> dict[str, list[str]]:
    before = stage.members[name]
    await before.machine.close()
    machine = await stage.fleet.open(before.profile, never_ask)
    try:
        events = await stage.tuneup.retune(machine, before.profile)
        clock, found = await machine.clock(), await machine.facts()
        await stage.samplers.start(machine, clock)
    except BaseException:
        await to_the_end(machine.close())
        raise
    stage.returned.push_async_callback(machine.close)
    stage.members[name] = replace(before, machine=machine, facts=found, clock=clock)
    new = facts.changes(before.facts, found)
    return {"changed": new, "said": [notice.text() for _, notice in events]}
