"""The passes over the servers: calibrate, sweep, look again at what is in doubt."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec

from workbench.analysis.repeats import holds, undecided
from workbench.analysis.verdicts import OTHERS_PCT
from workbench.control import Control
from workbench.documents import AnyDocument, Block, PointStop
from workbench.exposure import Exposure
from workbench.messages import notes
from workbench.messages.notes import Notice
from workbench.plan.budget import Budget
from workbench.plan.model import Plan
from workbench.plan.schedule import Sweep, calibration, look_again, order, sweep
from workbench.rights import recorded
from workbench.run.environment import Stage
from workbench.run.network_check import check_links
from workbench.run.point import Bench
from workbench.run.server_run import LeftOut, Rehearsal, Turns
from workbench.run.target_watch import Presence
from workbench.run.tuning import Told


class Passes:
    """A run under way. Everything it does and finds is emitted as documents."""

    def __init__(
        self,
        plan: Plan,
        stage: Stage,
        budget: Budget,
        rehearsed: dict[str, Rehearsal],
        *,
        control: Control,
        emit: Callable[[AnyDocument], None],
        tell: Callable[[str], None],
        seed: int,
        zero_us: int,
        exposed: Exposure | None = None,
    ) -> None:
        """`exposed`: what was agreed to."""
        self.plan = plan
        self.exposed = exposed
        self.stage = stage
        self.budget = budget
        self.rehearsed = rehearsed
        self.control = control
        self.emit = emit
        self.tell = tell
        self.seed = seed
        self.zero_us = zero_us
        self.swept: defaultdict[tuple[str, int], list[PointStop]] = defaultdict(list)
        """By server and pass."""
        self.closed: set[tuple[str, int]] = set()
        """What is not looked at again: it was skipped, died, or could not be started."""
        self.left_out: list[str] = []
        """Why servers could not be measured after all."""
        self.bench = Bench(
            plan=plan,
            load=stage.load,
            tool=stage.tool,
            sampling=stage.sampling,
            presence=Presence(stage.target, stage.sampling),
            control=control,
            emit=emit,
            session_us=lambda mono_us: mono_us - zero_us,
            client_cores=len(stage.placement.agents),
            target=stage.target.name,
            here=stage.target.is_local,
            loopback=stage.loopback,
        )
        self.turns = Turns(
            plan, stage, rehearsed, bench=self.bench, control=control, note=self.note, tell=tell
        )

    def now_us(self) -> int:
        """On the session's axis."""
        return time.monotonic_ns() // 1000 - self.zero_us

    def left_out_text(self) -> str:
        return " ".join(self.left_out)

    def note(self, notice: Notice, server: str = "", *, machine: str = "") -> None:
        """`machine` empty: the target."""
        machine = machine or self.stage.target.name
        self.emit(notice.note(self.now_us(), server=server, machine=machine))

    async def run(self) -> None:
        """All blocks of the plan's order. Raises Stopped when it was asked to end."""
        for warning in [*self.budget.warnings, self.stage.placement.shared]:
            if warning:
                self.note(warning)
        self.tell_of_tuning(self.stage.tuneup.told)
        if self.exposed:
            names, address = list(self.exposed.names), self.exposed.address
            exposed = notes.Exposed(servers=names, address=address, said=self.exposed.text)
            self.note(exposed)
        self.tell_of_confinement()
        for server, rehearsal in self.rehearsed.items():
            self.note(notes.Gate(gate=msgspec.to_builtins(rehearsal.gate)), server)
            for text in rehearsal.entry.unequal:
                self.note(notes.Unequal(name=rehearsal.entry.name, said=text), server)
        await check_links(
            self.stage,
            self.plan,
            [rehearsal.gate for rehearsal in self.rehearsed.values()],
            self.note,
        )
        await self.calibrate()
        blocks = order(self.plan, self.seed)
        for block in blocks:
            await self.sweep(block)
        for _ in range(1, self.plan.looks if self.plan.axis.has_limit else 1):
            await self.look_again(blocks)

    async def put_back(self) -> None:
        """End the tuning; what could not be put back is told."""
        self.tell_of_tuning(await self.stage.tuneup.close())

    def tell_of_tuning(self, told: Sequence[Told]) -> None:
        for machine, notice in told:
            self.note(notice, machine=machine)

    def tell_of_confinement(self) -> None:
        """Where the kernel cannot keep servers from the files of their user."""
        records = [rehearsal.record for rehearsal in self.rehearsed.values()]
        found = [recorded(record.confinement) for record in records]
        if any(each.user and not each.landlock and "files" not in each.rights for each in found):
            self.note(notes.Confinement(machine=self.stage.target.name))

    async def calibrate(self) -> None:
        """Find the rate up to which the clients themselves can be trusted."""
        if not self.plan.calibrate or not self.plan.axis.calibrated:
            return
        null = next((r.entry for r in self.rehearsed.values() if r.entry.family == "tool"), None)
        if null is None:
            return
        if self.plan.workload.protocol not in null.protocols:
            self.note(notes.ClientLimitUnknown(protocol=self.plan.workload.protocol))
            return
        ceiling = None
        try:
            ceiling = await self.turns.take(
                null.id, calibration(self.plan, null.id, seed=self.seed)
            )
        except LeftOut as reason:
            self.note(notes.Deploy(said=str(reason)), null.id)
        if ceiling is None:
            self.note(notes.ClientLimitUnknown())
            return
        self.bench.ceiling_per_s = ceiling.per_s
        self.bench.ceiling_others_pct = ceiling.others_pct
        reached_all = ceiling.per_s >= max(self.plan.rates_per_s)
        found = notes.Ceiling(
            ceiling_per_s=ceiling.per_s,
            reached_all=reached_all,
            others_cpu_pct=ceiling.others_pct,
            disturbed=ceiling.others_pct >= OTHERS_PCT,
        )
        self.note(found, null.id)

    async def sweep(self, block: Block) -> None:
        """One server's points in one pass."""
        points = sweep(self.plan, block.server, seed=self.seed, pass_number=block.pass_number)
        await self.turn(block, points)

    async def look_again(self, blocks: Sequence[Block]) -> None:
        """At what is in doubt, after every server had its turn: a slow spell of a machine is over
        then, and taken for none of them."""
        known = self.bench.ceiling_per_s or 0.0
        doubts = [
            (block, last)
            for block in blocks
            if (last := undecided(self.swept[_key(block)], known))
            and _key(block) not in self.closed
        ]
        for block, last in doubts:
            again = notes.Again(
                name=self.rehearsed[block.server].entry.name,
                look=last.look,
                pass_number=block.pass_number,
                rates_per_s=[last.x],
                suffix=self.plan.axis.suffix,
                verdict=last.verdict,
                held=holds(last),
                passes=self.plan.repeats,
            )
            self.note(again, block.server)
        for block, _ in doubts:
            before = list(self.swept[_key(block)])
            points = look_again(
                self.plan,
                block.server,
                before,
                seed=self.seed,
                pass_number=block.pass_number,
                ceiling_per_s=self.bench.ceiling_per_s or 0.0,
            )
            await self.turn(block, points)

    async def turn(self, block: Block, points: Sweep) -> None:
        """What goes wrong with a server is a note, not an error. Raises Stopped."""
        key, rests = _key(block), self.budget.cool_down_s[block.server]
        try:
            ended = await self.turns.take(block.server, points, rests, self.swept[key])
        except LeftOut as reason:
            self.closed.add(key)
            self.left_out.append(str(reason))
            self.note(notes.Deploy(said=str(reason)), block.server)
            return
        if ended is None:
            self.closed.add(key)
        for gave_up in ended or ():
            self.note(gave_up, block.server)


def _key(block: Block) -> tuple[str, int]:
    return block.server, block.pass_number
