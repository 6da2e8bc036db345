"""Checks the links between a run's clients and its target before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from workbench.errors import PongbenchError
from workbench.machines.linkcheck import ENOUGH, Unconnected, check_link, needed_bits_per_s
from workbench.messages.notes import Link, LinkUnchecked, Notice, SlowLink
from workbench.plan.model import Plan
from workbench.run.environment import Stage
from workbench.run.state import RunState
from workbench.servers.gate import GateResult


async def check_links(stage: Stage) -> Mapping[str, Link | LinkUnchecked]:
    """Check one link after another, so that they do not share the target's capacity. Loopback is
    not checked. Raises Unconnected if a client cannot reach the target: it would blame every
    server."""
    found: dict[str, Link | LinkUnchecked] = {}
    for name in stage.fleet.clients:
        if name == stage.target.name:
            continue
        client = stage.members[name].machine
        try:
            found[name] = await check_link(client, stage.target, bind=stage.bind, reach=stage.reach)
        except Unconnected:
            raise
        except PongbenchError as error:
            found[name] = LinkUnchecked(client=name, said=str(error))
    return found


def note_links(run: RunState) -> None:
    """Note the results, and what the plan needs."""
    gates = [rehearsal.gate for rehearsal in run.rehearsed.values()]
    clients = len(run.stage.fleet.clients)
    needed = needed_of_each(run.plan, clients, gates), needed_by_each(run.plan, clients)
    for link in run.links.values():
        for notice in [link] if isinstance(link, LinkUnchecked) else notes_of(link, *needed):
            run.note(notice)


def notes_of(link: Link, needed: float, to_target: float = 0.0) -> list[Notice]:
    """The measurements, and a warning for each direction that may be too slow for the plan.
    `needed`, `to_target`: bits per second from and to the target; 0: unknown."""
    slow = SlowLink(
        client=link.client,
        target=link.target,
        bits_per_s=link.bits_per_s,
        needed_bits_per_s=needed,
    )
    found: list[Notice] = [replace(link, needed_bits_per_s=needed)]
    if needed > ENOUGH * link.bits_per_s:
        found.append(slow)
    back = link.to_target_bits_per_s
    if back and to_target > ENOUGH * back:
        found.append(replace(slow, bits_per_s=back, needed_bits_per_s=to_target, to_target=True))
    return found


def needed_of_each(plan: Plan, clients: int, gates: Sequence[GateResult]) -> float:
    """Bits per second from the target to each client, at the highest rate and with the largest
    reply; 0: unknown, because a closed loop has no rate."""
    if plan.closed or not gates:
        return 0.0
    calls, requests_per_s = _busiest(plan, clients)
    reply = max(gate.kept_bytes if calls > 1 else gate.bytes_on_wire for gate in gates)
    return needed_bits_per_s(requests_per_s, calls, reply)


def needed_by_each(plan: Plan, clients: int) -> float:
    """Bits per second from each client to the target, at the highest rate and with the largest
    request; 0: unknown, because a closed loop has no rate."""
    if plan.closed:
        return 0.0
    calls, requests_per_s = _busiest(plan, clients)
    most = max(plan.declared.request_bytes(plan.at(x).workload) for x in plan.values)
    return needed_bits_per_s(requests_per_s, calls, most)


def _busiest(plan: Plan, clients: int) -> tuple[int, float]:
    """Calls per connection, and the requests per second of each client at the highest rate."""
    calls = plan.workload.calls_per_connection
    return calls, max(plan.rates_per_s) / clients * (1 if plan.unit == "requests" else calls)
