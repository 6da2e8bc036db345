"""The phases of a point: ramp, measure, drain.

Load ramps up until the first connections end, and calls in flight at the end of the schedule drain.
In neither phase does the reply rate show what the server does, so rates are taken from the part
between. Otherwise a point of 1 s with ten calls of 44 ms per connection would show 10 % too few
replies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.documents import WINDOW_US, Phase, Window

_WINDOW_S = WINDOW_US / 1e6
_NEGLIGIBLE_S = 0.002
"""A shorter ramp is less than 0.2 % of the shortest point, but would cost a whole window."""


@dataclass(frozen=True)
class Steady:
    """The measured part of a point; counts are calls."""

    from_s: float
    """From the point's start."""
    to_s: float
    due: int
    replies: int

    @property
    def seconds(self) -> float:
        return self.to_s - self.from_s


def ramp_s(windows: Sequence[Window], calls_per_connection: int, thinking_s: float) -> float:
    """Time for which the first connections stay open, from the response time of the first calls,
    before a queue can build up, and `thinking_s`, which the workload adds. 0: no call was
    answered. `calls_per_connection`: 1 in a closed loop, where all connections are open from the
    first calls on."""
    first = next((window for window in windows if window.service_us is not None), None)
    if first is None or first.service_us is None:
        return 0.0
    answering_s = calls_per_connection * first.service_us.p50 / 1e6
    return answering_s + thinking_s


def longest_stay_s(calls_per_connection: int, think_time_s: float, think_times: str) -> float:
    """How long think times keep nearly all connections open: random ones two standard deviations
    longer than on average. By then connections end as often as they begin."""
    thinks = calls_per_connection - 1
    spread = 2 * math.sqrt(thinks) if think_times == "exponential" else 0.0
    return (thinks + spread) * think_time_s


def steady(windows: Sequence[Window], schedule_s: float, ramp_s: float) -> Steady | None:
    """The whole windows from the ramp's end to the schedule's; None: some are missing, or all."""
    first = math.ceil(ramp_s / _WINDOW_S - 1e-6) if ramp_s > _NEGLIGIBLE_S else 0
    end = math.floor(schedule_s / _WINDOW_S + 1e-6)
    inside = [window for window in windows if first <= window.index < end]
    if not inside or len(inside) < end - first:
        return None
    return Steady(
        from_s=first * _WINDOW_S,
        to_s=end * _WINDOW_S,
        due=sum(window.due for window in inside),
        replies=sum(window.replies for window in inside),
    )


def phase(index: int, schedule_s: float, thinking_s: float) -> Phase:
    """The phase of a window while the point runs, when only the time for thinking is known."""
    if (index + 1) * _WINDOW_S > schedule_s + _WINDOW_S * 0.999:
        return "drain"
    return "ramp" if (index + 1) * _WINDOW_S <= thinking_s else "measure"
