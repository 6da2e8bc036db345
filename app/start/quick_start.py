"""What a new user can run: a quick look, or the plan of a question for chosen servers. No Qt."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from app.planning import resources
from app.planning.resources import PlanResources
from app.planning.values import span
from workbench.formatting import number_of
from workbench.machines.local import refusal
from workbench.messages.plans import Warned
from workbench.plan.budget import Budget, assess
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.servers.entry import ServerEntry
from workbench.servers.readiness import out_of_reach


@dataclass(frozen=True)
class Question:
    """What a comparison can find out, and the preset that answers it."""

    preset: str
    label: str
    text: str


QUESTIONS = (
    Question(
        "demo", "New connections", "Which server accepts the most new connections per second?"
    ),
    Question(
        "keep-alive", "HTTP keep-alive", "Which web server answers the most calls over keep-alive?"
    ),
    Question(
        "visitors", "Visitors who stay", "Which web server keeps the most visitors connected?"
    ),
    Question("database", "With a database", "Which web application reads fastest from PostgreSQL?"),
    Question("cost", "CPU per call", "Which server needs the least CPU time for a call?"),
    Question(
        "peak", "Peak under SLO", "Which server sustains the highest rate with a p99 below 50 ms?"
    ),
)


@dataclass(frozen=True)
class Offer:
    """Servers to choose from, and the plans they would run."""

    plan: Plan
    """The plan for chosen servers."""
    three: Plan
    """A quick look at three servers."""
    plans: Mapping[str, Plan]
    """The plans of all questions, by their presets."""
    resources: PlanResources
    refusal: str = ""
    """Why this computer runs nothing, in a sentence; empty: it does."""
    unreached: Warned | None = None
    """What only runs with packages that cannot be fetched now."""

    @property
    def quick(self) -> Plan:
        """Return the quick look at those of its servers that can run, and others in place of the
        rest."""
        others = self.plans[QUESTIONS[0].preset].servers
        wanted = dict.fromkeys([*self.three.servers, *others])
        able = [id_ for id_ in wanted if not self._lacks(id_)]
        return _of(self.three, able[: len(self.three.servers)])

    @property
    def entries(self) -> tuple[ServerEntry, ...]:
        """Return the servers that can run the plan and answer at its path, the plan's own first."""
        return tuple(entry for entry in self._suitable() if not self._lacks(entry.id))

    def missing(self) -> str:
        """Return in a sentence which servers cannot be chosen and why; empty: all can."""
        lacking = [entry for entry in self._suitable() if self._lacks(entry.id)]
        if not lacking or self.unreached is None:
            return ""
        count = number_of(len(lacking), "servers")
        why = self.unreached.parameters["why"]
        return f"{count} left out: their packages are not on this computer, and {why}."

    def _lacks(self, id_: str) -> bool:
        return self.unreached is not None and id_ in self.unreached.parameters["ids"]

    def _suitable(self) -> list[ServerEntry]:
        declared, workload = self.plan.declared, self.plan.workload
        able = [
            entry
            for entry in self.resources.entries
            if declared.serves(declared.needs(workload), entry.protocols)
            and not entry.unavailable
            and declared.suits(workload, entry)
        ]
        first = {id_: place for place, id_ in enumerate(self.plan.servers)}
        return sorted(able, key=lambda e: (first.get(e.id, len(first)), e.name.casefold()))

    def answering(self, preset: str) -> Offer:
        return replace(self, plan=self.plans.get(preset, self.plan))

    def rates(self) -> str:
        """Describe in one line what the plan offers each server."""
        lasts = "" if self.plan.search else f", {self.plan.seconds:g} s each"
        return f"{span(self.plan)}{lasts}."

    def plan_for(self, servers: Sequence[str]) -> Plan:
        return _of(self.plan, list(servers))

    async def cost(self, plan: Plan) -> Budget:
        """Return the budget of a plan on this computer. Raises BadInput when it cannot run here."""
        entries = [self.resources.catalogue[server] for server in plan.servers]
        facts = self.resources.facts
        return await asyncio.to_thread(assess, plan, entries, facts, loopback=True)


def _of(plan: Plan, servers: list[str]) -> Plan:
    """Return the plan for these servers, without its note where they are others."""
    if servers == plan.servers:
        return plan
    return msgspec.structs.replace(plan, servers=servers, description="")


async def load() -> Offer:
    """Raises PongbenchError when a plan is missing or this computer cannot be examined."""
    reading = asyncio.create_task(resources.load())
    names = ("quick", *(question.preset for question in QUESTIONS))
    plans = await asyncio.to_thread(lambda: {name: load_plan(name) for name in names})
    return Offer(plans[QUESTIONS[0].preset], plans["quick"], plans, await reading, refusal())


async def reached(offer: Offer) -> Offer:
    """Return the offer without what only runs with packages that cannot be fetched now."""
    entries = offer.resources.entries
    unreached = await out_of_reach([entry for entry in entries if not entry.unavailable])
    return replace(offer, unreached=unreached)
