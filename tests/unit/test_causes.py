"""The resource that ran out first is named as the cause."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workbench.analysis.causes import Given, cause
from workbench.analysis.summary import ServerSummary, Summary
from workbench.analysis.usage import ThreadUse, Upstream, Usage
from workbench.documents import Counts, PointStop
from workbench.messages.causes import lacking
from workbench.results import sustained
from workbench.results.render.data import of_session

HALF: dict[str, Any] = {"busy_pct": 75.0, "cpu_us": 750_000, "seconds": 1.0, "cores": 1}
WAITS = HALF | {"busy_pct": 8.0, "cpu_us": 80_000}
DATABASE = Upstream("10.0.0.9:5432", connections=4.0, share=0.95, present=1.0)
FULL = HALF | {"busy_pct": 98.0, "cpu_us": 980_000}


def threads(busiest_s: float, count: int = 1, waited_s: float = 0.0) -> list[ThreadUse]:
    return [ThreadUse(busiest_s, waited_s), *[ThreadUse(0.01, 0.0)] * (count - 1)]


@pytest.mark.parametrize(
    ("case", "seen", "code"),
    [
        ("its only core", FULL, "cores-full"),
        ("all of several", FULL | {"cores": 2, "busy_pct": 195.0}, "cores-full"),
        (
            "one thread of several cores",
            FULL | {"cores": 4, "threads": threads(0.97)},
            "thread-full",
        ),
        (
            "threads that together use one core",
            FULL | {"cores": 4, "threads": threads(0.2, 8)},
            "turns-taken",
        ),
        (
            "threads that use more than one core, not all",
            FULL | {"cores": 4, "busy_pct": 230.0, "threads": threads(0.5, 8)},
            None,
        ),
        ("a CPU that others had", HALF | {"threads": threads(0.5, 1, 0.4)}, "cpu-contended"),
        (
            "a CPU that its own threads had",
            HALF | {"threads": threads(0.1, 16, 0.4)},
            "cpu-contended",
        ),
        (
            "descriptors, though its core is full as well",
            FULL | {"descriptors": 999, "nofile": 1000},
            "descriptors-used-up",
        ),
        ("memory", HALF | {"pressure": {"memory": 0.4, "io": 0.6}}, "machine-waited"),
        (
            "memory, though its core is full with finding some",
            FULL | {"pressure": {"memory": 0.2}, "system_share": 0.98},
            "machine-waited",
        ),
        ("the disk", HALF | {"pressure": {"io": 0.6}}, "machine-waited"),
        (
            "a quota, though its busiest thread waited all the time",
            HALF | {"throttled_s": 0.8, "threads": threads(0.1, 1, 0.8)},
            "cpu-quota",
        ),
        ("a quota that hardly ever matters", HALF | {"throttled_s": 0.01}, None),
        (
            "garbage collection, though its core is full",
            FULL | {"collectors_s": 0.5},
            "garbage-collected",
        ),
        ("a little garbage collection", FULL | {"collectors_s": 0.05}, "cores-full"),
        (
            "its own database, though its core is full",
            FULL | {"programs": {"postgres": 0.8, "python": 0.18}},
            "database-busy",
        ),
        (
            "itself, for all that its database does",
            FULL | {"programs": {"python": 0.8, "postgres": 0.18}},
            "cores-full",
        ),
        (
            "a lock",
            WAITS | {"waits": {"lock": 6.0, "timer": 1.0}, "opened": 7.0},
            "waited-for-lock",
        ),
        (
            "sleeping, while spare threads wait for work",
            WAITS | {"waits": {"lock": 8.0, "timer": 1.0}, "opened": 1.0},
            "slept",
        ),
        ("the disk, seen by its threads", WAITS | {"waits": {"disk": 0.9}}, "waited-for-disk"),
        (
            "a database",
            WAITS
            | {"waits": {"socket": 4.0, "lock": 8.0}, "opened": 12.0, "upstreams": [DATABASE]},
            "waited-for-answer",
        ),
        (
            "a database, in an event loop",
            WAITS | {"waits": {"events": 1.0}, "upstreams": [DATABASE]},
            "waited-for-answer",
        ),
        (
            "a lock, though the database is in use",
            WAITS | {"waits": {"lock": 6.0, "timer": 1.0}, "opened": 7.0, "upstreams": [DATABASE]},
            "waited-for-lock",
        ),
        (
            "something else: the database hardly ever has to answer",
            WAITS | {"waits": {"events": 1.0}, "upstreams": [replace(DATABASE, share=0.2)]},
            "waited",
        ),
        (
            "its core, although it asks a service",
            FULL | {"waits": {"running": 1.0}, "upstreams": [DATABASE]},
            "cores-full",
        ),
        ("nothing that is known", HALF, None),
        ("time in something else", HALF | {"busy_pct": 8.0}, "waited"),
        (
            "accepting",
            HALF | {"busy_pct": 8.0, "counters": {"ListenOverflows": 40}, "backlog": 128},
            "not-accepted",
        ),
        (
            "accepting, and its queue is long enough",
            HALF | {"busy_pct": 8.0, "accept_queue": 567, "backlog": 1024},
            "not-accepted",
        ),
        (
            "something else, and a few wait to be accepted",
            HALF | {"busy_pct": 8.0, "accept_queue": 20, "backlog": 1024},
            "waited",
        ),
        ("nothing was seen", HALF | {"busy_pct": 0.0}, None),
    ],
)
def test_the_cause_of_a_servers_limit_is_found(
    case: str, seen: dict[str, Any], code: str | None
) -> None:
    given = {name: seen[name] for name in ("cores", "nofile", "backlog") if name in seen}
    used = {name: value for name, value in seen.items() if name not in given}
    found = cause(Usage(**used), Given(**given))
    assert (found.code if found else None) == code, case


def test_a_server_is_listed_with_why_it_stopped() -> None:
    server = ServerSummary("a", "A")
    for x, verdict, found in (
        (1000.0, "ok", None),
        (2000.0, "server-limited", lacking("cores-full", cores=1, busy_pct=98.0)),
        (3000.0, "server-limited", lacking("waited", busy_pct=3.0)),
    ):
        server.stops.append(
            PointStop(
                t_us=0, point=1, server="a", rate_per_s=x, complete=True, seconds=1.0,
                counts=Counts(
                    scheduled=1000, unsent=0, sent=1000, late=0, established=1000,
                    succeeded=1000 if verdict == "ok" else 10, errors={},
                ),
                verdict=verdict,  # type: ignore[arg-type]
                reasons=[found.text()] if found else [],
                findings=[found.record()] if found else [],
            )
        )  # fmt: skip
    assert sustained.stops(server) == "A stops at 2,000/s: Its core was full (98 % of a core)."
    data = of_session(Summary(servers={"a": server}))["servers"]["a"]["stops_because"]
    assert (data["x"], data["code"], data["busy_pct"]) == (2000.0, "cores-full", 98.0)
