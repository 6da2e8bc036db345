"""What a run is made of, whoever starts it: the terminal or the window."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench import paths
from workbench.documents import AnyDocument
from workbench.engine import Engine
from workbench.errors import BadInput
from workbench.machines.secrets import Ask, ask_nobody
from workbench.plans import Plan
from workbench.servers import measured
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.stage import HERE, Fleet

__all__ = ["HERE", "Fleet", "engine_for", "of_families", "session_path"]

FAMILIES = ("socket", "wsgi", "hello", "macro")
"""That can be swept."""


def engine_for(
    plan: Plan,
    emit: Callable[[AnyDocument], None],
    *,
    fleet: Fleet | None = None,
    ask: Ask = ask_nobody,
) -> Engine:
    """`fleet` None: for this computer. Raises BadInput when a server of the plan is not to be had,
    or a machine has no profile."""
    fleet = fleet or Fleet()
    fleet.profiles()
    catalogue = Catalogue.load()
    entries = [catalogue[server] for server in plan.servers]
    for entry in entries:
        if entry.unavailable:
            raise BadInput(
                f"{entry.name} cannot be run: {entry.unavailable.reason} Leave it out of the plan."
            )
        _check_path(plan, entry)
    null = catalogue.null_for(plan.workload.protocol) if plan.calibrate else None
    return Engine(plan, entries, emit, null=null, fleet=fleet, ask=ask)


def of_families(plan: Plan, families: Sequence[str]) -> list[str]:
    """Ids of all servers of these families that a plan's workload can be offered to.

    Raises BadInput when there is none.
    """
    workload = plan.workload
    found = [
        entry.id
        for entry in Catalogue.load().contestants()
        if entry.family in families
        and entry.unavailable is None
        and workload.protocol in measured.protocols(entry)
        and workload.path in entry.replies
    ]
    if families and not found:
        named = " or ".join(dict.fromkeys(families))
        raise BadInput(
            f"No server of the family {named} speaks {workload.protocol} at {workload.path};"
            " take another plan."
        )
    return found


def _check_path(plan: Plan, entry: ServerEntry) -> None:
    """A plan that leaves the path open means one that not every server answers."""
    path = plan.workload.path
    if path == "/" and path not in entry.replies:
        answered = " and ".join(entry.replies)
        raise BadInput(
            f"{entry.name} answers {answered}, not /. Give one of them as the workload's path."
        )


def session_path(plan: Plan) -> Path:
    """Where a session of this plan, begun now, belongs."""
    now = datetime.datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    name = re.sub(r"[^a-z0-9]+", "-", plan.name.lower()).strip("-")[:40]
    return paths.data_dir() / "sessions" / f"{now}-{name}.pong.yaml"
