"""Makes the engine of a run, for the terminal and the window alike."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from workbench import paths
from workbench.consent import is_loopback
from workbench.control import Control
from workbench.documents import AnyDocument
from workbench.errors import BadInput
from workbench.formatting import listed
from workbench.load import registry
from workbench.messages.problems import Problem
from workbench.plan.model import Plan
from workbench.plan.needs import protocol_problems
from workbench.run.engine import Consents, Engine, Observer
from workbench.run.environment import HERE, Fleet
from workbench.servers.address import is_address
from workbench.servers.catalogue import Catalogue, entry_of
from workbench.servers.entry import ServerEntry
from workbench.servers.sources import complete
from workbench.workloads.registry import FAMILIES

__all__ = ["FAMILIES", "HERE", "Fleet", "engine_for", "of_families", "session_path"]


def engine_for(
    plan: Plan,
    emit: Callable[[AnyDocument], None],
    *,
    fleet: Fleet | None = None,
    consents: Consents | None = None,
    observer: Observer | None = None,
    control: Control | None = None,
) -> Engine:
    """See `Engine`. Raises BadInput if a server is not available or a machine has no profile."""
    fleet = fleet or Fleet()
    fleet.profiles()
    for name in plan.load_tools:
        tool = registry.load_tool(name)
        for problem in registry.problems(tool, plan, clients=len(fleet.clients)):
            raise BadInput(problem.text())
    catalogue = Catalogue.load()
    entries = [
        entry_of(server, plan.running.get(server)) if is_address(server) else catalogue[server]
        for server in plan.servers
    ]
    for entry in entries:
        if entry.unavailable:
            raise BadInput(
                f"{entry.name} is not available: {entry.unavailable.reason} Leave it out of"
                " the plan."
            )
        if entry.running:
            _check_running(plan, entry, fleet)
        if unfit := plan.declared.unfit(plan.workload, entry):
            raise BadInput(unfit)
    null_server = plan.declared.null_server if plan.calibrate else ""
    null = catalogue[null_server] if null_server else None
    if null and null.tls is None and plan.declared.tls(plan.workload):
        null = None
        if plan.to_ceiling:
            raise BadInput(
                "Clients are not calibrated for this workload over TLS, so rates cannot end at the"
                " client limit; give a number as rates.to."
            )
    return Engine(
        plan,
        entries,
        emit,
        null=null,
        fleet=fleet,
        consents=consents or Consents(),
        observer=observer or Observer(),
        control=control or Control(),
    )


def _check_running(plan: Plan, entry: ServerEntry, fleet: Fleet) -> None:
    """Raise BadInput for a running server that cannot be measured in this way."""
    assert entry.running
    address = entry.running.address
    programs = [name for name in plan.load_tools if registry.load_tool(name).command]
    if not address.port and (programs or not fleet.loopback):
        how = f"with {listed(programs)}" if programs else "from another machine"
        raise BadInput(f"{address.text} is a Unix socket, so it cannot be measured {how}.")
    if not fleet.loopback and is_loopback(address.host):
        raise BadInput(
            f"{address.text} is reached from its own machine only; give the address at which the"
            " clients reach it."
        )
    if plan.profile:
        raise BadInput(f"{entry.name} is running already, so it cannot be profiled.")


def unfit(plan: Plan) -> list[Problem]:
    """Problems of servers that do not support the plan's protocol."""
    catalogue = Catalogue.load()
    entries = [catalogue[server] for server in plan.servers if server in catalogue]
    return list(protocol_problems(plan, entries))


def of_families(plan: Plan, families: Sequence[str]) -> list[str]:
    """Ids of servers of these families that a plan can load now. Raises BadInput if none."""
    # Consent is given server by server.
    found = [entry.id for entry in _fitting(plan, families) if complete(entry)]
    if families and not found:
        named = " or ".join(dict.fromkeys(families))
        asked = f"{plan.workload.protocol}{plan.declared.asked(plan.workload)}"
        raise BadInput(f"No server of the family {named} supports {asked}; use another plan.")
    return found


def left_out(plan: Plan, families: Sequence[str]) -> str:
    """Return a sentence on those that `of_families` lacks the source of; empty: none."""
    without = [
        entry.name
        for entry in _fitting(plan, families)
        if entry.id not in plan.servers and not complete(entry)
    ]
    if not without:
        return ""
    return (
        f"Left out, because their source is not at hand: {listed(without)};"
        " `pongbench catalogue show ID` says where it is."
    )


def _fitting(plan: Plan, families: Sequence[str]) -> Iterator[ServerEntry]:
    """Servers that a plan can load, if need be once their source is there."""
    workload = plan.workload
    for entry in Catalogue.load().contestants():
        if (
            entry.family in families
            and entry.unavailable is None
            and plan.declared.serves(plan.declared.needs(workload), entry.protocols)
            and plan.declared.suits(workload, entry)
        ):
            yield entry


def session_path(plan: Plan) -> Path:
    """The default path for a session of this plan that starts now."""
    now = datetime.datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    name = re.sub(r"[^a-z0-9]+", "-", plan.name.lower()).strip("-")[:40]
    return paths.data_dir() / "sessions" / f"{now}-{name}.pong.yaml"
