"""The state of a run under way."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench.consent import Exposure
from workbench.control import Control
from workbench.documents import AnyDocument, ServerRecord
from workbench.messages.base import Said, Stated
from workbench.messages.notes import lost_share, notice
from workbench.plan.budget import Budget
from workbench.plan.model import Plan
from workbench.run.claims import Claim, Hold
from workbench.run.environment import Stage
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import GateResult


@dataclass
class ClientLimit:
    """The rate that the clients are known to reach. It applies to the clients with which it was
    measured, so it is void while any of them is lost."""

    per_s: float | None = None
    """On the plan's axis; 0: the clients reached no rate; None: unknown."""
    background_load_pct: float = 0.0
    """Percent of a core that other programs took during calibration."""
    of_all: float | None = None
    """The limit of all clients together, kept while some of them are lost."""


@dataclass(frozen=True)
class Rehearsal:
    """What was learnt of a server before the run."""

    entry: ServerEntry
    record: ServerRecord
    gate: GateResult


@dataclass
class RunState:
    """What a run was given, and where it puts what it finds.

    The engine makes it, and every part of the run (scheduler, server runs, points, client recovery)
    takes it. What goes in is fixed; what comes out are documents, through `emit` and `note`; what
    changes are `limits`, and `plan` and `budget` once, if the plan's rates end at the client limit.
    """

    plan: Plan
    stage: Stage
    budget: Budget
    rehearsed: Mapping[str, Rehearsal]
    control: Control
    emit: Callable[[AnyDocument], None]
    assess: Callable[[Plan], Budget]
    notify: Callable[[str], None]
    seed: int
    zero_us: int
    """The session's zero on this computer's monotonic clock."""
    exposed: Exposure | None = None
    """Servers without security fixes that may listen where other machines reach them."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Secrets that the plan names, by name; never recorded."""
    limits: defaultdict[str, ClientLimit] = field(default_factory=lambda: defaultdict(ClientLimit))
    claim: Hold | None = None
    """On the machines; None: they are not claimed."""
    links: Mapping[str, Stated] = field(default_factory=dict)
    """By client: its link to the target, as checked before the run; on loopback there is none."""

    @property
    def limit(self) -> ClientLimit:
        """The client limit with the plan's first load tool."""
        return self.limits[self.plan.load_tools[0]]

    @property
    def link_lost_share(self) -> float:
        """Largest share of segments that a link lost when it was checked."""
        return max((lost_share(link.parameters) for link in self.links.values()), default=0.0)

    def now_us(self) -> int:
        """The current time on the session's axis."""
        return time.monotonic_ns() // 1000 - self.zero_us

    async def note_others(self) -> None:
        """Note runs that have begun on the same machines."""
        if self.claim is None:
            return
        try:
            newcomers = await asyncio.to_thread(self.claim.newcomers)
        except OSError:
            return
        for other in newcomers:
            self.note_other(other)

    def note_other(self, other: Claim) -> None:
        assert self.claim
        shared = self.claim.claim.shared(other)
        found = notice("another-run", title=other.title, machines=list(shared))
        self.note(found, machine=shared[0])

    def note(self, said: Said, server: str = "", *, machine: str = "") -> None:
        """Record a note now. `machine` empty: the target."""
        machine = machine or self.stage.target.name
        self.emit(said.note(self.now_us(), server=server, machine=machine))
