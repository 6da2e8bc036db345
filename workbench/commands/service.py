"""Compares versions of one service here: finds a rate, how far passes differ, how many to run."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from workbench.analysis.sensitivity import FIGURES, Spread, detectable, passes_for, spread
from workbench.analysis.summary import Summary, summarise
from workbench.commands.asking import answer_at_terminal, is_interactive
from workbench.control import Control
from workbench.documents import AnyDocument, PointStop
from workbench.errors import PongbenchError
from workbench.formatting import listed, span, time_span
from workbench.machines.local import LocalMachine, open_local
from workbench.plan.model import Plan, three_figures
from workbench.plan.reading import plan_from_data
from workbench.presentable import presentable
from workbench.run.engine import Consents
from workbench.run.factory import engine_for
from workbench.servers import services
from workbench.servers.entry import ServerEntry
from workbench.servers.recognising import NoCommand
from workbench.servers.services import Told, Version
from workbench.servers.sources import Repository
from workbench.terminal import to_stderr

PILOT_PASSES = 4
MOST_PASSES = 40
"""Of a plan that is not told how many."""
FEWEST_PASSES = 6
LOADED = 0.3
"""The rate of a comparison, as a share of what the slowest version answers at most: response times
are then the server's, and not those of its queue."""
AT_ONCE = 8
CALLS = 1_000
"""Of a point: enough for a p99."""
BRIEF_S = 2.0
SECONDS = (1.0, 5.0)
"""Of a point, at least and at most."""
_OVERHEAD_S = 3.0
"""About, of each server in a pass: started, warmed up and stopped."""


@dataclass
class Bench:
    repository: Repository
    told: Told
    consents: Consents
    passes: int | None
    """None: as many as show the `difference`."""
    difference: float
    rate: float = 0.0
    """0: not known yet."""

    async def entries(self, wanted: Sequence[Version]) -> list[ServerEntry]:
        """Return the versions as tested servers; what one lacks is said, and the rest goes on."""
        found = []
        async with await open_local() as machine:
            for each in wanted:
                try:
                    found.append(await self._entry(machine, each))
                except PongbenchError as error:
                    to_stderr(f"{each.name}: {error}")
        return found

    async def _entry(self, machine: LocalMachine, wanted: Version) -> ServerEntry:
        to_stderr(f"Building {wanted.name}")
        make = services.entry
        try:
            made = await asyncio.to_thread(make, self.repository, wanted, self.told)
        except NoCommand as error:
            self.told = await _asked(self.repository.folder, self.told, error)
            made = await asyncio.to_thread(make, self.repository, wanted, self.told)
        install = self.consents.install
        return await services.observed(machine, made, notify=lambda _: None, install=install)

    async def plan(self, entries: Sequence[ServerEntry]) -> Plan:
        """Return an interleaved plan at a rate that all sustain, with as many passes as needed."""
        await self.find_rate(entries)
        spreads = {} if self.passes else await self._spreads(entries)
        # By the figure that shows it best.
        known = [spreads[name] for name in ("CPU per call", "p50") if name in spreads]
        counts = [passes_for(self.difference, each) for each in known]
        needed = min((each for each in counts if each), default=None)
        passes = self.passes or max(FEWEST_PASSES, min(needed or MOST_PASSES, MOST_PASSES))
        shows = {name: detectable(each, passes) for name, each in spreads.items()}
        self.announce([passes], len(entries), self.seconds)
        shown = (f"{_pct(share)} in {name}" for name, share in shows.items() if share)
        if any(shows.values()):
            to_stderr(f"They show differences from {listed(list(shown))}.")
        if self.passes is None and (needed is None or needed > MOST_PASSES):
            more = "more than 1,000" if needed is None else f"{needed}"
            to_stderr(
                f"{_pct(self.difference)} would take {more} passes on this machine now; --passes"
                " says how many to measure."
            )
        return self._plan(entries, repeats=passes)

    def announce(self, passes: Sequence[int], servers: int, seconds: float) -> None:
        """Say what is measured, and how long that takes. `passes`: after which it may end."""
        pass_s = servers * (seconds + _OVERHEAD_S)
        count, about = span(passes[0], passes[-1]), (passes[0] * pass_s, passes[-1] * pass_s)
        to_stderr(f"{count} passes at {self.rate:,.0f}/s take about {time_span(about)}.")

    async def find_rate(self, entries: Sequence[ServerEntry]) -> None:
        to_stderr("Finding a rate that all sustain")
        most = summarise(await self.measured(self._plan(entries, closed=True)))
        self.rate = _rate(most, entries)

    async def _spreads(self, entries: Sequence[ServerEntry]) -> dict[str, Spread]:
        to_stderr("Finding how far passes differ")
        documents = await self.measured(self._plan(entries, repeats=PILOT_PASSES))
        servers = list(summarise(documents).servers.values())
        found = {each.name: spread(servers, each, interleaved=True) for each in FIGURES}
        return {name: each for name, each in found.items() if each}

    async def measured(
        self, plan: Plan, enough: Callable[[Sequence[AnyDocument]], bool] = lambda documents: False
    ) -> list[AnyDocument]:
        """Run a plan unrecorded, until that is `enough` after a point. Raises PongbenchError."""
        documents: list[AnyDocument] = []
        control = Control()

        def take(document: AnyDocument) -> None:
            documents.append(presentable(document))
            if isinstance(document, PointStop) and document.judged and enough(documents):
                control.stop()

        stop = await engine_for(plan, take, consents=self.consents, control=control).run()
        if stop.status != "done" and not control.stopping:
            raise PongbenchError(stop.reason or "The run was stopped.")
        return documents

    @property
    def seconds(self) -> float:
        low, high = SECONDS
        return float(math.ceil(min(high, max(low, CALLS / self.rate))))

    def again(self, entries: Sequence[ServerEntry], passes: int) -> Plan:
        """Return a plan at the rate that is known, with points too short for a p99: where that is
        not asked for, more passes tell more than longer ones."""
        plan = self._plan(entries, repeats=passes)
        return msgspec.structs.replace(plan, seconds=min(self.seconds, BRIEF_S))

    def _plan(
        self, entries: Sequence[ServerEntry], *, closed: bool = False, repeats: int = 1
    ) -> Plan:
        both = set.intersection(*(set(each.protocols) for each in entries))
        if not both:
            raise PongbenchError(
                "One version keeps connections open and another closes them, so they have no"
                " protocol in common."
            )
        protocol = "http/1.1" if "http/1.1" in both and "http/1.0" not in both else "http/1.0"
        workload = {"protocol": protocol, "path": self.told.path}
        data = {
            "name": f"Versions of {self.repository.folder.name}",
            "servers": [each.id for each in entries],
            "workload": workload | ({"mode": "closed"} if closed else {}),
            **({"concurrency": [AT_ONCE]} if closed else {"rates": [self.rate]}),
            "seconds": 1.0 if closed else self.seconds,
            "repeats": repeats,
            "order": "interleaved",
            "looks": 1,
            "calibrate": False,
            "give_up": None,
        }
        return plan_from_data(data, name="versions")


def _pct(share: float) -> str:
    return f"{span(100 * share, 100 * share)} %"


def _rate(summary: Summary, entries: Sequence[ServerEntry]) -> float:
    """Raises PongbenchError if a version answers nothing."""
    for each in entries:
        server = summary.servers[each.id]
        if not server.most or not server.most.replies_per_s:
            raise PongbenchError(
                f"{each.name} answered no call under load. {' '.join(server.notes)}"
            )
    rate = LOADED * min(server.figure for server in summary.servers.values())
    return max(10.0, three_figures(rate, down=True))


async def _asked(folder: Path, known: Told, error: NoCommand) -> Told:
    """Ask how the service is started, and keep it. Raises NoCommand without a terminal."""
    path = services.beside(folder)
    if is_interactive():
        text = f"How is {folder.name} started? {{port}} stands for the port, no shell reads it:"
        if command := await answer_at_terminal(text):
            what = msgspec.structs.replace(known, command=command)
            services.keep(folder, what)
            to_stderr(f"Kept in {path}.")
            return what
    raise NoCommand(
        f"Nothing says how {folder.name} is started. Add a Procfile, or write {path}:"
        " command: python server.py --port {port}"
    ) from error
