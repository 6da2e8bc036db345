"""How often the load agent looks for calls that exceeded their timeout."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.remote.agent import point
from workbench.remote.agent.driver import Driver
from workbench.remote.agent.protocol import Load

SECOND_NS = 1_000_000_000


class Clock:
    """Moves only when something is done."""

    ns = SECOND_NS

    def __call__(self) -> int:
        return self.ns


@pytest.mark.parametrize(
    ("thinking_ns", "finding_ns", "ending_ns", "pause_ns"),
    [
        (0, 0, 0, 10_000_000),
        (0, 2_000_000, 0, 40_000_000),
        (0, 0, 500_000_000, 10_000_000),
        (500_000_000, 0, 0, 10_000_000),
        (0, 1_000_000_000, 0, 200_000_000),
    ],
    ids=["few", "many open", "many overdue", "much to begin", "without a core for a second"],
)
def test_the_pause_between_checks_grows_with_the_search_and_not_with_what_is_found(
    monkeypatch: pytest.MonkeyPatch,
    thinking_ns: int,
    finding_ns: int,
    ending_ns: int,
    pause_ns: int,
) -> None:
    """Where it grew with both, each check found more than the last, and timeouts of 2 s took 10 s
    and more as soon as thousands of calls were overdue. Where other programs had the core for a
    second, none was noticed for 20 s."""
    clock = Clock()

    class Slow(Driver):
        def begin(self, due: int, now: int) -> bool:
            raise AssertionError("nothing is due yet")

        def start(self, at_ns: int, on_events: Callable[[], None]) -> None:
            pass

        def think(self, now: int) -> int:
            clock.ns += thinking_ns
            return 0

        def expire(self, now: int) -> int:
            clock.ns += finding_ns
            found = clock()
            clock.ns += ending_ns
            return found

    alarm: Any = SimpleNamespace(set=lambda at_ns: None)
    loop: Any = SimpleNamespace(io=lambda fd, events: None)
    monkeypatch.setattr(point, "monotonic_ns", clock)
    monkeypatch.setattr(point, "driver_of", lambda load: Slow)
    monkeypatch.setattr(point, "Alarm", lambda loop, callback: alarm)
    load = Load("127.0.0.1", 9, "pong", rate_per_s=10, connections=100)
    measured = point.Point(loop, load, lambda window: None, lambda report: None)
    measured.start(clock() + SECOND_NS)
    begun = clock()
    measured.on_alarm()
    assert measured.next_check - begun == pause_ns
