"""Makes a plan from ticked servers. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from app.servers.known import Known
from workbench.workloads.registry import PROTOCOLS, speaking

if TYPE_CHECKING:
    from workbench.plan.model import Plan


def plan_for(servers: Sequence[Known]) -> Plan:
    """The demo's rates with the first protocol all of them speak. Raises BadInput when the demo
    is not there."""
    from workbench.plan.reading import load_plan  # noqa: PLC0415 - in the engine's thread

    plan = load_plan("demo")
    entries = [known.entry for known in servers if known.entry is not None]
    spoken = [p for p in PROTOCOLS if all(p in entry.protocols for entry in entries)]
    name = plan.name
    workload = plan.workload
    if spoken and spoken[0] != workload.protocol:
        workload = speaking(workload, spoken[0])
        name = "Replies over HTTP"
    paths = {entry.path for entry in entries}
    if len(paths) == 1 and "path" in workload.own:
        workload = msgspec.structs.replace(workload, path=paths.pop())
    return msgspec.structs.replace(
        plan,
        name=name,
        description="",
        servers=[known.id for known in servers],
        workload=workload,
    )
