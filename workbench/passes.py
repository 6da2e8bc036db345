"""The passes over the servers: calibrate, sweep, look again at what is in doubt."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from typing import Any

import msgspec

from workbench.analysis.looks import holds, undecided
from workbench.analysis.verdicts import OTHERS_PCT
from workbench.budget import Budget
from workbench.control import Control
from workbench.documents import AnyDocument, Block, Note, PointStop
from workbench.links import check_links
from workbench.measure import Bench
from workbench.plans import Plan
from workbench.stage import Stage
from workbench.sweeps import Ceiling, PointPlan, calibration, look_again, order, sweep
from workbench.tuneup import Told
from workbench.turns import LeftOut, Rehearsal, Turns
from workbench.wording import offered


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
    ) -> None:
        self.plan = plan
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
            sampling=stage.sampling,
            control=control,
            emit=emit,
            session_us=lambda mono_us: mono_us - zero_us,
            client_cores=len(stage.placement.agents),
            target=stage.target.name,
            here=stage.target.platform is None,
        )
        self.turns = Turns(
            plan, stage, rehearsed, bench=self.bench, control=control, note=self.note, tell=tell
        )

    def now_us(self) -> int:
        """On the session's axis."""
        return time.monotonic_ns() // 1000 - self.zero_us

    def left_out_text(self) -> str:
        return " ".join(self.left_out)

    def note(self, topic: str, text: str, server: str = "", **data: Any) -> None:
        self.emit(
            Note(
                t_us=self.now_us(),
                topic=topic,
                text=text,
                server=server,
                machine=self.stage.target.name,
                data=data,
            )
        )

    async def run(self) -> None:
        """All blocks of the plan's order. Raises Stopped when it was asked to end."""
        for warning in [*self.budget.warnings, self.stage.placement.note]:
            if warning:
                self.note("warning", warning)
        self.tell_of_tuning(self.stage.tuneup.told)
        for server, rehearsal in self.rehearsed.items():
            self.note(
                "gate",
                " ".join(rehearsal.gate.sentences),
                server,
                gate=msgspec.to_builtins(rehearsal.gate),
            )
            for text in rehearsal.entry.unequal:
                self.note("unequal", f"{rehearsal.entry.name}: {text}", server)
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
        for _ in range(1, self.plan.looks):
            await self.look_again(blocks)

    async def put_back(self) -> None:
        """End the tuning; what could not be put back is told."""
        self.tell_of_tuning(await self.stage.tuneup.close())

    def tell_of_tuning(self, told: Sequence[Told]) -> None:
        for one in told:
            self.emit(
                Note(
                    t_us=self.now_us(),
                    topic=one.topic,
                    text=one.text,
                    machine=one.machine,
                    data=one.data,
                )
            )

    async def calibrate(self) -> None:
        """Find the rate up to which the clients themselves can be trusted."""
        if not self.plan.calibrate or self.plan.workload.mode == "closed":
            return
        null = next((r.entry for r in self.rehearsed.values() if r.entry.family == "tool"), None)
        if null is None:
            return
        if self.plan.workload.protocol not in null.protocols:
            self.note(
                "warning",
                f"The null server does not speak {self.plan.workload.protocol}, so the clients' "
                "own ceiling was not measured.",
            )
            return
        ceiling = None
        try:
            ceiling = await self.turns.take(
                null.id, calibration(self.plan, null.id, seed=self.seed)
            )
        except LeftOut as reason:
            self.note("deploy", str(reason), null.id)
        if ceiling is None:
            self.note("warning", "The clients' own ceiling was not measured.")
            return
        self.bench.ceiling_per_s = ceiling.per_s
        self.bench.ceiling_others_pct = ceiling.others_pct
        reached_all = ceiling.per_s >= max(self.plan.rates_per_s)
        self.note(
            "ceiling",
            _told_of(ceiling, reached_all),
            null.id,
            ceiling_per_s=ceiling.per_s,
            reached_all=reached_all,
            others_cpu_pct=ceiling.others_pct,
        )

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
            self.note(
                "again",
                _why_again(self.rehearsed[block.server].entry.name, last, self.plan.repeats),
                block.server,
                pass_number=block.pass_number,
                look=last.look,
                rates_per_s=[last.rate_per_s],
            )
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

    async def turn(self, block: Block, points: Generator[PointPlan, PointStop, str]) -> None:
        """What goes wrong with a server is a note, not an error. Raises Stopped."""
        key, rests = _key(block), self.budget.cool_down_s[block.server]
        try:
            ended = await self.turns.take(block.server, points, rests, self.swept[key])
        except LeftOut as reason:
            self.closed.add(key)
            self.left_out.append(str(reason))
            self.note("deploy", str(reason), block.server)
            return
        if ended is None:
            self.closed.add(key)
        elif ended:
            self.note("gave-up", ended, block.server)


def _key(block: Block) -> tuple[str, int]:
    return block.server, block.pass_number


def _told_of(ceiling: Ceiling, reached_all: bool) -> str:
    found = f"The clients reach {ceiling.per_s:,.0f}/s against the null server"
    if reached_all:
        return f"{found}: all the plan asks for."
    if ceiling.per_s:
        said = f"{found}; what is offered beyond that says more about them than about a server."
    else:
        said = "The clients held no rate against the null server; no point can be trusted."
    if ceiling.others_pct < OTHERS_PCT:
        return said
    return (
        f"{said} Other programs took {ceiling.others_pct:.0f} % of a core meanwhile, so they may"
        " reach more; run it again when the machine is quiet."
    )


_FOUND = {
    "server-limited": "{name} did not hold {rate}",
    "client-limited": "The clients could not offer {name} {rate}",
    "network-limited": "The network did not carry {rate} to {name}",
}


def _why_again(name: str, last: PointStop, passes: int) -> str:
    otherwise = "{name} could not be judged at {rate}"
    found = "{name} held {rate}" if holds(last) else _FOUND.get(last.verdict, otherwise)
    where = f" of pass {last.pass_number}" if passes > 1 else ""
    return (
        f"{found.format(name=name, rate=offered(last))} in look {last.look}{where}; what it holds"
        " is decided there, so that is measured again."
    )
