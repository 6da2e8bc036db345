"""Evidence of a point whose load was sustained, to be changed by tests of verdicts."""

from dataclasses import replace

from workbench.analysis.evidence import Evidence, Fault, Queue
from workbench.documents import ERROR_CLASSES, Counts, Percentiles, error_class

CLASSES = {"timo": "client-timo", "reset": "connreset", "refused": "connrefused"}


def counts(
    scheduled: int = 9_000, *, unsent: int = 0, late: int = 0, in_flight: int = 0, **lost: int
) -> Counts:
    """All that is not lost succeeded."""
    errors = {CLASSES.get(name, name.replace("_", "-")): n for name, n in lost.items()}
    assert all(error_class(name) in ERROR_CLASSES for name in errors)
    return Counts(
        scheduled=scheduled,
        unsent=unsent,
        sent=scheduled - unsent,
        late=late,
        established=scheduled - unsent,
        succeeded=scheduled - unsent - in_flight - sum(errors.values()),
        errors=errors,
        in_flight=in_flight,
    )


def lateness(p99: int, count: int = 9_000) -> Percentiles:
    return Percentiles(count=count, p50=20, p90=60, p99=p99, p999=p99, max=p99)


HELD = Evidence(
    counts=counts(),
    seconds=1.5,
    offered_per_s=6_000,
    lateness_us=lateness(400),
    client_cpu_pct=40,
    workers=1,
    client_cores=1,
    queue=Queue(due=9_000, replied=8_990, connections=9_000, open_halfway=12, open_at_end=10),
    ceiling_per_s=12_000,
)
LONG_QUEUE = replace(HELD.queue, replied=6_000, open_halfway=1_500, open_at_end=3_000)
CALM = replace(HELD, server_cpu_pct=6.0)
"""The server was watched, and was idle."""


def fault(connections: int) -> dict[str, Fault]:
    """Resets on as many connections."""
    first = Fault(connections=connections, first_us=1, answered=0, received=0, example="")
    return {"connreset": first}


def case_id(value: object) -> str:
    """ "no-route" for a case named so; pytest shows nothing of its other parameters."""
    return value.replace(" ", "-") if isinstance(value, str) else ""
