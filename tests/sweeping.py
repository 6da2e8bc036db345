"""A plan, and servers that sustain up to a rate, for tests of what is run when."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from workbench.documents import Counts, PointStop, Verdict
from workbench.plan.model import Plan
from workbench.plan.schedule import PointPlan


def plan(**changes: Any) -> Plan:
    settings: dict[str, Any] = {
        "servers": ["a", "b", "c"],
        "rates": [1000.0, 2000.0, 3000.0, 4000.0, 5000.0],
        "seconds": 2.0,
        "warm_up": None,
    }
    return Plan(**(settings | changes))


def answer(
    point: PointPlan, succeeded: float = 1.0, verdict: Verdict = "ok", client_lost: float = 0.0
) -> PointStop:
    """A point of which shares succeeded and were lost by the client."""
    scheduled = point.samples
    good, own = round(scheduled * succeeded), round(scheduled * client_lost)
    errors = {"client-timo": scheduled - good - own, "fd-unavail": own}
    counts = Counts(
        scheduled=scheduled,
        unsent=0,
        sent=scheduled,
        late=0,
        established=scheduled,
        succeeded=good,
        errors={name: n for name, n in errors.items() if n},
    )
    return PointStop(
        t_us=0,
        point=1,
        server=point.server,
        rate_per_s=point.x,
        purpose=point.purpose,
        look=point.attempt,
        complete=True,
        seconds=point.seconds,
        counts=counts,
        verdict=verdict,
    )


def drive(
    generator: Generator[PointPlan, PointStop, Any], holds_to: float, **below: Any
) -> tuple[list[PointPlan], Any]:
    """Run it against a server that sustains up to a rate; return the points and the result."""
    run: list[PointPlan] = []
    reply = None
    while True:
        try:
            point = next(generator) if reply is None else generator.send(reply)
        except StopIteration as end:
            return run, end.value
        run.append(point)
        sustained = point.x <= holds_to
        reply = (
            answer(point) if sustained else answer(point, **({"verdict": "server-limited"} | below))
        )
