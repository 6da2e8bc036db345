"""What a new user can run: a quick look, or the demo's rates against chosen servers. No Qt.

The engine is imported where it is used, in its own thread, so that the first paint does not wait
for it.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.planning import resources
from app.planning.resources import PlanResources

if TYPE_CHECKING:
    from workbench.plan.budget import Budget
    from workbench.plan.model import Plan
    from workbench.servers.entry import ServerEntry


@dataclass(frozen=True)
class Offer:
    """Servers to choose from, and the plans they would run."""

    plan: Plan
    """The plan for chosen servers."""
    quick: Plan
    resources: PlanResources

    @property
    def entries(self) -> tuple[ServerEntry, ...]:
        """Return the servers that can run the plan, the plan's own first."""
        protocol, listed = self.plan.workload.protocol, self.plan.servers
        able = [e for e in self.resources.entries if protocol in e.protocols and not e.unavailable]
        first = [entry for id_ in listed for entry in able if entry.id == id_]
        others = [entry for entry in able if entry not in first]
        return (*first, *sorted(others, key=lambda e: e.name.casefold()))

    def plan_for(self, servers: Sequence[str]) -> Plan:
        import msgspec

        if list(servers) == self.plan.servers:
            return self.plan
        # The note describes the plan's own servers.
        return msgspec.structs.replace(self.plan, servers=list(servers), description="")

    async def cost(self, plan: Plan) -> Budget:
        """Return the budget of a plan on this computer. Raises BadInput when it cannot run here."""
        import asyncio

        from workbench.plan.budget import assess

        def assess_plan() -> Budget:
            entries = [self.resources.catalogue[server] for server in plan.servers]
            return assess(plan, entries, self.resources.facts, loopback=True)

        return await asyncio.to_thread(assess_plan)

    def conditions(self) -> str:
        """Describe this computer in one line."""
        facts, parts = self.resources.facts, []
        if cores := facts.get("cpu_count"):
            parts.append("1 core for servers and clients" if cores == 1 else f"{cores} cores")
        if kernel := facts.get("kernel"):
            parts.append(re.match(r"[^-]*", kernel)[0])  # type: ignore[index]
        if descriptors := facts.get("descriptor_limits", {}).get("hard"):
            parts.append(f"{descriptors:,} file descriptors")
        parts.append(f"{self.resources.ports():,} free ports")
        return " · ".join(parts)


async def load() -> Offer:
    """Load the plans and the servers. Raises PongbenchError when a plan is missing or this computer
    cannot be examined.
    """
    import asyncio

    from workbench.plan.reading import load_plan

    reading = asyncio.create_task(resources.load())
    plans = await asyncio.to_thread(lambda: (load_plan("demo"), load_plan("quick")))
    return Offer(*plans, await reading)
