"""Runs a plan: first everything that can go wrong, then the session."""

from __future__ import annotations

import datetime
import secrets
import time
from collections.abc import Callable, Sequence

from workbench import __version__
from workbench.budget import Budget, assess
from workbench.control import Control, Stopped
from workbench.documents import AnyDocument, RunStart, RunStop, Status
from workbench.errors import PongbenchError
from workbench.passes import Passes, Rehearsal
from workbench.plans import Plan, to_data
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import gate
from workbench.stage import Stage, open_machine, open_stage
from workbench.sweeps import draw_seed, order


class Engine:
    """One run of one plan. `emit` gets every document, in order, in the engine's event loop.

    An exception out of `emit` ends the run: it means that nobody records it any more.
    """

    def __init__(
        self,
        plan: Plan,
        entries: Sequence[ServerEntry],
        emit: Callable[[AnyDocument], None],
        *,
        null: ServerEntry | None = None,
        machine: str = "localhost",
        control: Control | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`null`: to find the clients' ceiling with; `tell`: progress in words."""
        self.plan = plan
        self.entries = entries
        # A closed loop offers no rate that could be beyond a ceiling.
        self.null = null if plan.calibrate and plan.workload.mode == "open" else None
        self.emit = emit
        self.machine = machine
        self.control = control or Control()
        self.tell = tell
        self.on_budget: Callable[[Budget], None] = lambda budget: None
        """Told what the run will cost, before anything is started."""
        self.seed = plan.seed or draw_seed()

    async def assess(self) -> Budget:
        """What the run will cost on its machines, without beginning it."""
        machine = await open_machine(self.machine)
        try:
            return assess(self.plan, self.entries, await machine.facts(), loopback=True)
        finally:
            await machine.close()

    async def run(self) -> RunStop:
        """Raises BadInput or PongbenchError before the first document, when the run cannot begin.

        Afterwards the session always ends with a RunStop, which is returned; only a failing
        `emit` and cancellation (abort) are raised, too.
        """
        async with open_stage(self.plan, self.machine, self.emit) as stage:
            budget = assess(self.plan, self.entries, stage.facts, loopback=stage.loopback)
            self.on_budget(budget)
            budget.check()
            rehearsed = await self._rehearse(stage)
            zero = time.monotonic_ns() // 1000
            stage.session_zero(zero)
            self.emit(self._start(stage, rehearsed))
            passes = Passes(
                self.plan,
                stage,
                budget,
                rehearsed,
                control=self.control,
                emit=self.emit,
                tell=self.tell,
                seed=self.seed,
                zero_us=zero,
            )
            status: Status = "aborted"
            reason = ""
            try:
                await passes.run()
                status, reason = ("failed" if passes.left_out else "done"), passes.left_out_text()
            except Stopped:
                status = "stopped"
            except PongbenchError as error:
                status, reason = "failed", str(error)
            finally:
                stop = RunStop(t_us=passes.now_us(), status=status, reason=reason)
                self.emit(stop)
            return stop

    async def _rehearse(self, stage: Stage) -> dict[str, Rehearsal]:
        """Deploy, gate and stop every server once: what cannot work is told before hours have been
        spent, and no runtime is built while something is measured."""
        self.tell("Trying every server once before the run.")
        rehearsed = {}
        for entry in [*self.entries, *([self.null] if self.null else [])]:
            deployment = await stage.deploy(entry, self.plan, self.tell)
            try:
                result = await gate(deployment)
                if not result.passed:
                    raise PongbenchError(
                        f"{entry.name} did not pass the wire gate: {' '.join(result.sentences)} "
                        "Mend it, or leave it out of the plan."
                    )
                rehearsed[entry.id] = Rehearsal(entry, deployment.record(), result)
            finally:
                await deployment.stop()
        return rehearsed

    def _start(self, stage: Stage, rehearsed: dict[str, Rehearsal]) -> RunStart:
        return RunStart(
            session=secrets.token_hex(8),
            started_utc=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            pongbench=__version__,
            plan=to_data(self.plan),
            machines=stage.records(),
            servers=[rehearsed[server].record for server in self.plan.servers],
            order=order(self.plan, self.seed),
            seed=self.seed,
        )
