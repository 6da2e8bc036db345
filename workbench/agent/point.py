"""One point in one worker: from the first connection due to the last one ended."""

from __future__ import annotations

import importlib
import resource
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from time import monotonic_ns
from typing import Any

from .alarm import Alarm
from .driver import BURST, Driver
from .protocol import WINDOW_NS, Load
from .schedule import poisson, share_of, uniform
from .tally import Tally

_COALESCE_NS = 250_000
"""Connections scheduled within this time are started together, with a single wake-up, where there
is no CPU time to spare."""
_SPARE_PER_S = 5_000
"""Up to this rate a worker has the time to wake for each connection, which halves its lateness."""
_TICK_NS = 10_000_000
"""Timeouts are checked, and times counted, at this interval and not at every alarm: a check takes
time proportional to the open connections, half a millisecond for 15,000."""
_REST = 20
"""Finding timeouts takes at most this part of the time, however many connections are open; ending
them takes as long as it takes: with a pause after that, more of them would wait each time. A pause
is no longer than a window, because other programs may have had the core meanwhile."""
_NEVER = 1 << 62
_INTERRUPTED_NS = 2_000_000
"""A handler that takes longer had to wait for the CPU."""


class Point:
    """Runs a `Load` on the event loop; `finished` is called once, when everything has ended."""

    def __init__(
        self,
        loop: Any,
        load: Load,
        on_window: Callable[[dict[str, Any]], None],
        on_finished: Callable[[dict[str, Any]], None],
    ) -> None:
        self.load = load
        self.on_window = on_window
        self.on_finished = on_finished
        self.tally = Tally(1 if load.by_call else load.calls_per_connection)
        self.driver = driver_of(load)(loop, load, self.tally)
        self.pending: Pending | None = None
        on_alarm, on_events, refill = self.on_alarm, self.driver.on_events, self.driver.refill
        if self.driver.pending is not None:
            self.pending = Pending(self.driver.pending)
            around = self.pending.around
            on_alarm, on_events, refill = around(on_alarm), around(on_events), around(refill)
        if load.mode == "closed":
            on_alarm = self.refilled(on_alarm, refill)
            on_events = self.refilled(on_events, refill)
        self.driver.on_events = on_events
        self.alarm = Alarm(loop, on_alarm)
        self.pace: Pace = OpenPace(load) if load.mode == "open" else ClosedPace(load)
        self.coalesce_ns = _COALESCE_NS if load.rate_per_s > _SPARE_PER_S * load.shares else 0
        if load.mode == "closed":
            self.driver.replace = self.replacer()
        self.window_index = 0
        self.reporting: Iterator[None] = iter(())
        """The steps in which the last window is reported, one at each tick."""
        # As if it began now, in case it is stopped before it begins.
        self.started_ns = self.next_window = monotonic_ns()
        self.next_check = 0
        """For timeouts."""
        self.began_ns = 0
        self.cpu_before = _cpu_us()
        self.finished = False
        self.at_schedule_end: dict[str, int] = {}

    def start(self, at_ns: int) -> None:
        """Begin at `at_ns` of the monotonic clock."""
        self.started_ns = at_ns
        self.next_window = at_ns + WINDOW_NS
        if self.pending:
            self.pending.begin(at_ns)
        self.cpu_before = _cpu_us()
        self.pace.begin(at_ns)
        self.driver.start(at_ns)
        self.alarm.set(at_ns)

    def stop(self) -> None:
        """End now: nothing more is started, and what is open counts as in flight."""
        self.pace.exhausted = True
        self.tally.unsent += len(self.pace.waiting) * self.tally.calls
        self.pace.waiting.clear()
        self.finish()

    def on_alarm(self) -> None:
        """Do everything that depends on the clock."""
        now = monotonic_ns()
        if not self.began_ns:
            self.began_ns = now
        if not self.at_schedule_end and now >= self.started_ns + self.pace.length_ns:
            self.note_schedule_end()
        while now >= self.next_window:
            # What is scheduled before the window's end belongs to it, even if started late.
            self.tally.due += self.pace.collect(self.next_window - 1) * self.tally.calls
            self.close_window()
        next_due = self.start_due(now)
        next_thought = self.driver.think(now)
        if now >= self.next_check:
            self.tally.count()
            next(self.reporting, None)
            begun = monotonic_ns()
            rest_ns = _REST * (self.driver.expire(now) - begun)
            self.next_check = now + min(max(_TICK_NS, rest_ns), WINDOW_NS)
        if self.over():
            self.finish()
            return
        at = self.next_window
        if next_due:
            at = min(at, max(next_due, now + self.coalesce_ns))
        # What is checked takes 0.1 ms, for which no connection has to wait after one has begun.
        if not 0 < next_due < self.next_check + _TICK_NS:
            at = min(at, self.next_check)
        if next_thought:
            at = min(at, next_thought)
        self.alarm.set(at)

    def start_due(self, now: int) -> int:
        """Start what is due, at most one burst. Returns when to continue; 0: nothing is left to
        start."""
        calls = self.tally.calls
        pace = self.pace
        self.tally.due += pace.collect(now) * calls
        waiting = pace.waiting
        begin = self.driver.begin
        too_late = now - self.driver.timeout_ns
        for _ in range(min(BURST, len(waiting))):
            due = waiting.popleft()
            if due < too_late:
                self.tally.unsent += calls
            else:
                now = monotonic_ns()
                self.tally.lateness.append(now - due)
                if not begin(due, now):
                    pace.failed()
        return now if waiting else pace.next_due

    def replacer(self) -> Callable[[int], None]:
        """Closed loop: return the callback for ended connections. A closure, like all hot paths."""
        begin, pace, tally = self.driver.begin, self.pace, self.tally

        def replace(now: int) -> None:
            if pace.left > 0:
                pace.left -= 1
                tally.replaced += 1
                if not begin(now, now):
                    pace.failed()
            else:
                pace.exhausted = True

        return replace

    def refilled(
        self, handle: Callable[[], None], refill: Callable[[], None]
    ) -> Callable[[], None]:
        """Return a handler after which every connection that has ended is replaced."""
        driver = self.driver

        def handled() -> None:
            handle()
            while driver.to_replace:
                refill()

        return handled

    def over(self) -> bool:
        return self.pace.exhausted and not self.pace.waiting and not self.driver.open

    def close_window(self) -> None:
        self.report_windows()
        self.reporting = self.reported()
        next(self.reporting)
        self.window_index += 1
        self.next_window += WINDOW_NS

    def reported(self) -> Iterator[None]:
        """End the window at the first step, and report it at the last."""
        data: dict[str, Any] = {"i": self.window_index, "in_flight": len(self.driver.open)}
        if self.pending:
            data["pending"], data["pending_within"] = self.pending.means()
        in_flight = self.driver.calls_in_flight() if self.load.by_call else None
        for results in self.tally.window(in_flight):
            data.update(results)
            yield
        self.on_window(data)

    def report_windows(self) -> None:
        """Report the last window, if it is not reported yet."""
        for _ in self.reporting:
            pass

    def note_schedule_end(self) -> None:
        self.at_schedule_end = {
            "cpu_us": _cpu_us() - self.cpu_before,
            "wall_us": max(1, (monotonic_ns() - self.started_ns) // 1000),
            "replies": self.tally.replies(),
            "in_flight": self.driver.calls_in_flight(),
        }
        if self.load.by_call:
            self.driver.last_calls()

    def finish(self) -> None:
        if self.finished:
            return
        self.finished = True
        if not self.at_schedule_end:
            self.note_schedule_end()
        self.alarm.close()
        in_flight = self.driver.close()
        self.close_window()
        self.report_windows()
        self.on_finished(
            {
                **self.tally.report(self.started_ns),
                **self.driver.report(),
                "in_flight": in_flight,
                "at_schedule_end": self.at_schedule_end,
                "cpu_us": _cpu_us() - self.cpu_before,
                "wall_us": (monotonic_ns() - self.started_ns) // 1000,
                "began_late_us": max(0, self.began_ns - self.started_ns) // 1000,
            }
        )


class Pending:
    """Calls pending, integrated over time: counted apart from response times, so that each can be
    checked by the other (Little's law)."""

    def __init__(self, count: Callable[[], int]) -> None:
        self.begin, self.around, self.means = _integral(count)


def _integral(
    count: Callable[[], int],
) -> tuple[
    Callable[[int], None],
    Callable[[Callable[[], None]], Callable[[], None]],
    Callable[[], tuple[float, float]],
]:
    """Return what begins it at a time, what wraps handlers, and what returns the mean of a window
    with its uncertainty and begins the next. Closures, like all hot paths."""
    at_ns = last = twice_ns = unsure_ns = 0

    def begin(now: int) -> None:
        nonlocal at_ns
        at_ns = now

    def around(handle: Callable[[], None]) -> Callable[[], None]:
        def counted() -> None:
            # The number changes in handlers alone: before one it is what it was after the last.
            nonlocal at_ns, last, twice_ns, unsure_ns
            now, before = monotonic_ns(), last
            twice_ns += 2 * before * (now - at_ns)
            handle()
            at_ns, last = monotonic_ns(), count()
            lasted_ns = at_ns - now
            twice_ns += (before + last) * lasted_ns
            # When in this time the number changed is not known: calls begin and end one after
            # another, so it is that of one call, unless the process was interrupted meanwhile.
            if lasted_ns > _INTERRUPTED_NS:
                unsure_ns += (abs(last - before) or 1) * lasted_ns
            elif last != before:
                unsure_ns += lasted_ns >> 1

        return counted

    def means() -> tuple[float, float]:
        nonlocal twice_ns, unsure_ns
        found = max(0, twice_ns) / 2 / WINDOW_NS, unsure_ns / WINDOW_NS
        twice_ns = unsure_ns = 0
        return round(found[0], 4), round(found[1], 4)

    return begin, around, means


class Pace:
    """What to start, and when. `waiting` holds the scheduled times (ns) that have passed."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.waiting: deque[int] = deque()
        self.exhausted = False
        """Nothing further will become due."""
        self.next_due = 0
        self.length_ns = 0
        self.left = 0
        """Closed loop: connections to be begun."""

    def begin(self, at_ns: int) -> None:
        raise NotImplementedError

    def collect(self, now: int) -> int:
        """Move what has become due into `waiting`. Returns how many."""
        raise NotImplementedError

    def failed(self) -> None:
        """Handle a connection that could not be started."""


class OpenPace(Pace):
    """An absolute schedule, whatever the server does."""

    def __init__(self, load: Load) -> None:
        super().__init__(load)
        self.at_ns = 0
        ramp_ns = round(load.ramp_s * 1e9)
        self.length_ns = ramp_ns + round(load.connections / load.rate_per_s * 1e9)
        calls: Iterator[int] = (
            poisson(load.rate_per_s, load.connections, load.seed, load.share, load.shares)
            if load.arrivals == "poisson"
            else uniform(load.rate_per_s, load.connections, load.share, load.shares)
        )
        if load.held:
            held = uniform(load.held_per_s, load.held, load.share, load.shares)
            calls = chain(held, (ramp_ns + offset for offset in calls))
        self.offsets = calls
        # Not in `begin`: the first Poisson instant needs the sum of all gaps, which takes longer
        # than the lead time of the start.
        self._advance()

    def begin(self, at_ns: int) -> None:
        self.at_ns = at_ns
        self.next_due += at_ns

    def _advance(self) -> None:
        offset = next(self.offsets, None)
        if offset is None:
            self.exhausted = True
            self.next_due = 0
        else:
            self.next_due = self.at_ns + offset

    def collect(self, now: int) -> int:
        before = len(self.waiting)
        while not self.exhausted and self.next_due <= now:
            self.waiting.append(self.next_due)
            self._advance()
        return len(self.waiting) - before


class ClosedPace(Pace):
    """Fixed concurrency: each connection that ends is replaced by the next."""

    def begin(self, at_ns: int) -> None:
        load = self.load
        by_time = not load.connections
        self.left = _NEVER if by_time else share_of(load.connections, load.share, load.shares)
        self.length_ns = round(load.seconds * 1e9) if by_time else _NEVER
        self.until = at_ns + self.length_ns
        self.vacant = share_of(load.concurrency, load.share, load.shares)
        self.next_due = at_ns

    def collect(self, now: int) -> int:
        """Start the first connections, and replace those that failed at once."""
        if now >= self.until:
            self.left = 0
        count = min(self.vacant, self.left)
        self.vacant -= count
        self.left -= count
        self.waiting.extend([now] * count)
        self.exhausted = not self.left
        self.next_due = 0
        return count

    def failed(self) -> None:
        """Try again after a millisecond, because an immediate retry would be a busy loop."""
        self.vacant += 1
        self.next_due = monotonic_ns() + 1_000_000


def driver_of(load: Load) -> type[Driver]:
    """Return the driver of a load's workload. Raises ValueError for an unknown one."""
    workload = load.workload
    if not workload.isidentifier():
        raise ValueError(f"unknown workload {workload!r}")
    file = "driver_tls" if load.tls else "driver"
    try:
        module = importlib.import_module(f"workbench.workloads.{workload}.{file}")
    except ModuleNotFoundError as error:
        raise ValueError(f"unknown workload {workload!r}") from error
    found: type[Driver] = module.WorkloadDriver
    return found


def _cpu_us() -> int:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return round((usage.ru_utime + usage.ru_stime) * 1e6)
