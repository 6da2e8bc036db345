"""What a newcomer can run: the demo's rates against servers of their choice. No Qt.

The engine is imported where it is used, in its own thread: the first paint does not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from workbench.budget import Budget
    from workbench.engine import Engine
    from workbench.plans import Plan
    from workbench.servers.entry import ServerEntry


@dataclass(frozen=True)
class Offer:
    """Servers to choose from, and the plan they would run."""

    plan: Plan
    entries: tuple[ServerEntry, ...]
    """Those that speak the plan's protocol."""
    broken: tuple[str, ...] = ()
    """Sentences about folders that hold no usable server."""

    def plan_for(self, servers: Sequence[str]) -> Plan:
        return msgspec.structs.replace(self.plan, servers=list(servers))


async def load() -> Offer:
    """Raises BadInput when the plan is not there."""
    return await asyncio.to_thread(_load)


def _load() -> Offer:
    from workbench.plans import load_plan  # noqa: PLC0415
    from workbench.servers.catalogue import Catalogue  # noqa: PLC0415

    plan, catalogue = load_plan("demo"), Catalogue.load()
    protocol = plan.workload.protocol
    entries = tuple(e for e in catalogue.contestants() if protocol in e.protocols)
    return Offer(plan, entries, tuple(broken.problem for broken in catalogue.broken.values()))


async def cost(plan: Plan) -> Budget:
    """Of a plan on this machine. Raises PongbenchError."""
    engine = await asyncio.to_thread(_engine, plan)
    return await engine.assess()


def _engine(plan: Plan) -> Engine:
    from workbench.runs import engine_for  # noqa: PLC0415

    return engine_for(plan, lambda document: None)
