"""The plan of gathered requests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from workbench.bringing.gathering import Gathering
from workbench.plan.model import Plan
from workbench.plan.reading import of_address, plan_from_data
from workbench.servers.address import is_address, parse
from workbench.workloads.http.requests import MOST_REQUESTS, MOST_WEIGHT, OF_ONE, Request


def plan(gathered: Gathering, origin: str, servers: Sequence[str] = (), *, name: str) -> Plan:
    """Return the plan of the requests to one server, which `servers` replace. Raises BadInput."""
    return plan_from_data(plan_data(gathered, origin, servers, name=name), name=name)


def plan_data(
    gathered: Gathering, origin: str, servers: Sequence[str] = (), *, name: str
) -> dict[str, Any]:
    """Return the plan as data; without any server where neither is given. What it has no room for
    is added to what was left out."""
    servers = servers or [origin]
    first = servers[0] if is_address(servers[0]) else "http://127.0.0.1/"
    data = of_address(first)
    requests = _requests(gathered, origin)
    plain: list[dict[str, Any]] = msgspec.to_builtins(requests)
    if len(plain) == 1:
        own = {key: value for key, value in plain[0].items() if key in OF_ONE}
    else:
        own = {"headers": _shared(plain), "requests": plain}
        del data["workload"]["on_close"]
    data["workload"] |= {key: value for key, value in own.items() if value}
    secure = [each for each in servers if is_address(each) and parse(each).tls]
    running = {each: {"insecure": True} for each in secure if gathered.insecure}
    return data | {"name": name, "servers": [*filter(None, servers)], "running": running}


def _requests(gathered: Gathering, origin: str) -> list[Request]:
    """Return the most frequent ones that a plan has room for, with their weights."""
    found = [each.request for each in gathered.taken if each.origin == origin]
    by_weight = sorted(found, key=lambda each: -each.weight)
    kept, others = by_weight[:MOST_REQUESTS], by_weight[MOST_REQUESTS:]
    for each in others:
        gathered.leave(each.label, f"More than the {MOST_REQUESTS} requests of a plan")
    whole = math.gcd(*(each.weight for each in kept))
    scale = max(whole, max((each.weight for each in kept), default=1) / MOST_WEIGHT)
    labels = Counter(each.label for each in kept)
    seen: Counter[str] = Counter()
    made = []
    for each in kept:
        seen[each.label] += 1
        name = each.name
        if labels[each.label] > 1:  # results are by it
            name = f"{each.label[:34]} ({seen[each.label]})"
        weight = max(1, round(each.weight / scale))
        made.append(msgspec.structs.replace(each, weight=weight, name=name))
    return made


def _shared(requests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Take the headers out that all have, and return them."""
    first: dict[str, Any] = requests[0].get("headers", {}) if requests else {}
    shared = {
        name: value
        for name, value in first.items()
        if all(each.get("headers", {}).get(name) == value for each in requests)
    }
    for each in requests if shared else ():
        each["headers"] = {k: v for k, v in each["headers"].items() if k not in shared}
    return shared
