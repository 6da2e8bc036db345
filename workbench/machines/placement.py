"""Which cores of a machine the server and the load agents run on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import BadInput
from workbench.machines.profiles import Cores, Cpus
from workbench.messages.notes import SharedCores


@dataclass(frozen=True)
class Placement:
    """Cores by number, the same for every server of a run."""

    server: tuple[int, ...]
    agents: tuple[int, ...]
    shared: SharedCores | None = None
    """None: no core is shared."""


def place(cpus: Cpus, allowed: Sequence[int], *, machine: str) -> Placement:
    """Place server and agents that run on the same machine.

    `auto`: the server gets the first allowed core that was not given to the agents, and the agents
    get all others; when none is left they share. Raises BadInput for a core that the machine does
    not allow.
    """
    given_server = _given(cpus.server, allowed, "server", machine)
    given_agents = _given(cpus.agent, allowed, "agent", machine)
    server = given_server or _without(allowed, given_agents)[:1] or tuple(allowed[:1])
    agents = given_agents or _without(allowed, server) or server
    shared = sorted(set(server) & set(agents))
    if not shared:
        return Placement(server, agents)
    return Placement(server, agents, SharedCores(machine=machine, cores=shared))


def place_server(cpus: Cpus, allowed: Sequence[int], *, machine: str) -> tuple[int, ...]:
    """Place servers on a machine without agents: one core, as beside agents, so that results are
    comparable. Raises BadInput."""
    return _given(cpus.server, allowed, "server", machine) or tuple(allowed[:1])


def place_agents(cpus: Cpus, allowed: Sequence[int], *, machine: str) -> tuple[int, ...]:
    """Place agents on a machine without servers: all cores. Raises BadInput."""
    return _given(cpus.agent, allowed, "agent", machine) or tuple(allowed)


def _given(cores: Cores, allowed: Sequence[int], who: str, machine: str) -> tuple[int, ...]:
    if cores == "auto":
        return ()
    for core in cores:
        if core not in allowed:
            there = ", ".join(map(str, allowed))
            raise BadInput(
                f"profile {machine}, cpus.{who}: there is no core {core} to use; there are {there}."
            )
    return tuple(dict.fromkeys(map(int, cores)))


def _without(cores: Sequence[int], taken: Sequence[int]) -> tuple[int, ...]:
    return tuple(core for core in cores if core not in taken)
