"""The links between a run's clients and its target, checked before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.linkcheck import check_link, needed_bits_per_s
from workbench.plans import Plan
from workbench.servers.gate import GateResult
from workbench.stage import Stage


async def check_links(
    stage: Stage, plan: Plan, gates: Sequence[GateResult], note: Callable[..., None]
) -> None:
    """`note` takes a topic, a sentence and its data.

    One after another, so that they do not share what the target has; loopback is no link."""
    needed = needed_of_each(plan, len(stage.fleet.clients), gates)
    for name in stage.fleet.clients:
        if name == stage.target.name:
            continue
        client = stage.members[name].machine
        try:
            link = await check_link(client, stage.target, bind=stage.bind, reach=stage.reach)
        except PongbenchError as error:
            note("link", str(error))
            continue
        note("link", link.sentence(needed), **msgspec.to_builtins(link))
        if warning := link.warning(needed):
            note("warning", warning)


def needed_of_each(plan: Plan, clients: int, gates: Sequence[GateResult]) -> float:
    """Bits per second from the target to each client, at the highest rate and with the largest
    reply; 0: not known, for a closed loop has no rate."""
    if plan.workload.mode != "open" or not gates:
        return 0.0
    calls = plan.workload.calls_per_connection
    requests_per_s = max(plan.rates_per_s) / clients * (1 if plan.unit == "requests" else calls)
    reply = max(gate.kept_bytes if calls > 1 else gate.bytes_on_wire for gate in gates)
    return needed_bits_per_s(requests_per_s, calls, reply)
