"""Running servers of a plan, before the run: their addresses, and what needs consent."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Sequence

from workbench.consent import Consent, Load, OfRunning, Repeated, agreed
from workbench.errors import BadInput
from workbench.machines.profiles import load_profile, profile_names
from workbench.plan import schedule
from workbench.plan.model import Plan
from workbench.servers.entry import ServerEntry
from workbench.servers.running import is_own, resolved
from workbench.workloads.http.requests import SAFE


async def contacts(
    plan: Plan, entries: Sequence[ServerEntry], consent: Consent[OfRunning]
) -> list[ServerEntry]:
    """Return the entries, running servers with addresses. Raises BadInput, PongbenchError."""
    found: list[ServerEntry] = []
    asked: list[OfRunning] = []
    for entry in entries:
        if entry.running is None:
            found.append(entry)
            continue
        found.append(await resolved(entry))
        asked += await asyncio.to_thread(list, _asked(plan, found[-1]))
    for each in asked:
        await agreed(each, consent)
    return found


def _asked(plan: Plan, entry: ServerEntry) -> Iterator[OfRunning]:
    contact = entry.running
    assert contact
    requests = plan.declared.asks(plan.declared.at(plan.workload, entry))
    others = {each for each in contact.addresses if contact.address.port and not is_own(each)}
    if others and not others <= _machines():
        methods = [method for method, _ in requests] or [plan.declared.label]
        what = _most(plan, " and ".join(dict.fromkeys(methods)))
        yield Load(contact.address.host, contact.addresses, what)
    if changing := [f"{method} {path}" for method, path in requests if method not in SAFE]:
        yield Repeated(entry.name, tuple(changing), _often(plan))


def _most(plan: Plan, what: str) -> str:
    """Return the highest load: "up to 20,000 GET/s"."""
    if plan.closed:
        return f"{max(plan.concurrency):,} concurrent {what}, each as fast as it is answered,"
    if plan.to_ceiling:
        return f"as many {what}/s as the clients can offer"
    return f"up to {_most_per_s(plan):,.0f} {what}/s"


def _most_per_s(plan: Plan) -> float:
    calls = 1 if plan.unit == "requests" else plan.declared.calls(plan.workload)
    return max(plan.rates_per_s) * calls


def _often(plan: Plan) -> str:
    """Return how often requests are made in all: "24,000 times, up to 2,000/s"."""
    turns = plan.repeats * len(plan.load_tools)
    samples = [point.samples for point in schedule.points(plan, "")]
    if plan.closed and not all(samples):
        return "as often as it is answered, for as long as the points last"
    if plan.to_ceiling:
        return "as often as the clients can"
    count = max(samples) * plan.search.points if plan.search else sum(samples)
    per_s = "" if plan.closed else f", up to {_most_per_s(plan):,.0f}/s"
    return f"about {count * turns:,} times{per_s}"


def _machines() -> set[str]:
    found: set[str] = set()
    for name in profile_names():
        try:
            profile = load_profile(name)
        except BadInput:
            continue
        for host in filter(None, (profile.address, profile.reach)):
            try:
                found |= {str(each[4][0]) for each in socket.getaddrinfo(host, None)}
            except OSError:
                continue
    return found
