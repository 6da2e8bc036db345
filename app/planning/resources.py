"""The resources for a plan: servers, machines, presets, and the limits of this computer. No Qt.

Everything here waits or reads, and belongs in the engine's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.machines import work
from workbench.errors import BadInput
from workbench.formatting import time_span
from workbench.machines import facts
from workbench.machines.profiles import Profile
from workbench.machines.tuning import TuningSet, load_set, set_names
from workbench.messages.plans import Warned, warning
from workbench.plan.budget import span_s
from workbench.plan.editing import Draft, examine
from workbench.plan.library import Preset, presets
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.readiness import MachineReadiness, out_of_reach, to_fetch
from workbench.sessions import is_session


@dataclass(frozen=True)
class PlanResources:
    """Read as a whole, and again after each change."""

    catalogue: Catalogue
    facts: Mapping[str, Any]
    """The facts of this computer."""
    machines: tuple[Profile, ...]
    presets: tuple[Preset, ...]
    broken: tuple[str, ...] = ()
    """Sentences about files that contain no usable server or kernel settings."""
    damaged: Mapping[str, str] = field(default_factory=dict)
    """A sentence about each machine whose profile cannot be read, by its name."""
    tunings: Mapping[str, TuningSet] = field(default_factory=dict)
    """Sets of kernel settings, by name."""

    @property
    def entries(self) -> tuple[ServerEntry, ...]:
        """Return the servers to choose from."""
        return tuple(self.catalogue.contestants())

    def takes(self, preset: Preset) -> str:
        """Return how long a preset takes on this computer: "0.5 to 1.4 min"; empty: unknown."""
        span = span_s(preset.plan, self.catalogue, self.facts) if preset.plan else None
        return time_span(span) if span else ""

    async def examine(
        self,
        data: Mapping[str, Any],
        *,
        clients: int = 1,
        known: Sequence[Mapping[str, Any]] = (),
        target: str = "",
        **more: Any,
    ) -> Draft:
        """`known`: the facts of all clients; empty: those of this computer are used. Everything
        else: see `editing.examine`.
        """
        from workbench.load.registry import with_tools  # noqa: PLC0415 - the engine
        from workbench.machines.secrets import unusable  # noqa: PLC0415
        from workbench.run.environment import tightest  # noqa: PLC0415

        of_clients = tightest([dict(each) for each in known]) if known else self.facts
        more |= {"clients": clients, "target": target}
        draft = await asyncio.to_thread(examine, data, self.catalogue, of_clients, **more)
        draft, plan = with_tools(draft, clients=clients), draft.plan
        if plan is None:
            return draft
        secrets = await unusable(plan.declared.secrets(plan.workload))
        lacking = await self._lacking(plan, target)
        return replace(draft, precautions=[*draft.precautions, *lacking, *secrets])

    async def _lacking(self, plan: Plan, target: str) -> list[Warned]:
        """Of another target, only what this computer would bring is known here."""
        known = (self.catalogue[server] for server in plan.servers if server in self.catalogue)
        entries = [entry for entry in known if not entry.unavailable]
        remote = any(m.name == target and m.connector != "local" for m in self.machines)
        there = MachineReadiness(target) if remote else None
        fetched = await asyncio.to_thread(to_fetch, entries, there)
        unreached = await out_of_reach(entries, there)
        missing = warning("must-be-fetched", servers=list(fetched)) if fetched else None
        return [each for each in (missing, unreached) if each]


async def load() -> PlanResources:
    """Read everything; what cannot be read is reported in `broken` and `damaged`."""
    return await asyncio.to_thread(_load)


def summed_up(sentences: Sequence[str], of: str) -> str:
    """Return at most two sentences about what cannot be read."""
    if len(sentences) < 2:
        return "".join(sentences)
    return f"{len(sentences)} {of} cannot be read. {sentences[0]}"


def _load() -> PlanResources:
    catalogue, known = Catalogue.load(), work.profiles()
    broken = [server.problem for server in catalogue.broken.values()]
    machines = tuple(each.profile for each in known if each.profile)
    skipped = [each for each in known if each.problem]
    damaged = {each.name: f"Machine {each.name} skipped. {each.problem}" for each in skipped}
    tunings = {}
    for name in set_names():
        try:
            tunings[name] = load_set(name)
        except BadInput as error:
            broken.append(str(error))
    here, found = facts.here(), tuple(presets())
    return PlanResources(catalogue, here, machines, found, tuple(broken), damaged, tunings)


def read_plan(path: Path) -> Plan | None:
    """Return the plan in a file, whatever its name; None: the file is a session, damaged or not.
    Raises BadInput.
    """
    if is_session(path):
        return None
    try:
        return load_plan(path.absolute())
    except BadInput as error:
        if path.name.endswith(".pong.yaml"):
            return None
        if path.suffix in (".yaml", ".yml"):
            raise
        raise BadInput(f"{path.name} is neither a session nor a plan. {error}") from None
