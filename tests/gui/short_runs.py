"""Real runs, as short as they can be."""

from __future__ import annotations

import msgspec

from workbench.plan.model import Plan, WarmUp

SHORT = Plan(
    name="Short",
    servers=["asyncio-streams"],
    rates=[200.0, 400.0],
    seconds=1.0,
    calibrate=False,
    warm_up=WarmUp(rate_per_s=100.0, seconds=0.2),
)
LONG = msgspec.structs.replace(SHORT, rates=[200.0 + n for n in range(60)])
"""Nobody waits for its end: it is under way for longer than a window may stall before a button."""
