"""What a new user can run: a quick look, or the demo's rates against chosen servers. No Qt.

The engine is imported where it is used, in its own thread, so that the first paint does not wait
for it.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.planning import resources
from app.planning.resources import PlanResources
from app.start.questions import QUESTIONS

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
    plans: Mapping[str, Plan]
    """The plans of all questions, by their presets."""
    resources: PlanResources

    @property
    def entries(self) -> tuple[ServerEntry, ...]:
        """Return the servers that can run the plan and answer at its path, the plan's own first."""
        plan, listed = self.plan, self.plan.servers
        able = [
            entry
            for entry in self.resources.entries
            if plan.declared.serves(plan.workload.protocol, entry.protocols)
            and not entry.unavailable
            and plan.declared.suits(plan.workload, entry)
        ]
        first = [entry for id_ in listed for entry in able if entry.id == id_]
        others = [entry for entry in able if entry not in first]
        return (*first, *sorted(others, key=lambda e: e.name.casefold()))

    def answering(self, preset: str) -> Offer:
        """Return the offer with the plan of another question."""
        return replace(self, plan=self.plans.get(preset, self.plan))

    def rates(self) -> str:
        """Describe in one line what the plan offers each server."""
        plan = self.plan
        unit = "requests/s" if plan.rate_of == "requests" else "new connections/s"
        if plan.search:
            span = f"{plan.search.from_:,.0f} to {plan.search.to:,.0f}"
            return f"Searched between {span} {unit}."
        rates = plan.rates_per_s
        if plan.to_ceiling:
            span = f"{rates[0]:,.0f} {unit} to the client limit"
            return f"{len(rates)} rates, {span}, {plan.seconds:g} s each."
        seconds = f"{plan.seconds:g} s each"
        if len(rates) == 1:
            return f"{rates[0]:,.0f} {unit}, {plan.seconds:g} s, {plan.repeats} passes."
        return f"{len(rates)} rates, {rates[0]:,.0f} to {rates[-1]:,.0f} {unit}, {seconds}."

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
    names = ("quick", *(question.preset for question in QUESTIONS))
    plans = await asyncio.to_thread(lambda: {name: load_plan(name) for name in names})
    return Offer(plans[QUESTIONS[0].preset], plans["quick"], plans, await reading)
