"""One point in one worker: from the first connection due to the last one ended."""

from __future__ import annotations

import ctypes
import importlib
import os
import struct
from collections.abc import Callable, Iterator
from time import monotonic_ns, process_time_ns
from typing import Any

from .driver import BURST, Driver
from .protocol import WINDOW_NS, Load
from .schedule import ClosedPace, OpenPace
from .tally import Tally

_CLOCK_MONOTONIC = 1
_TFD_FLAGS = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
_TFD_TIMER_ABSTIME = 1
_SECOND_NS = 1_000_000_000


class Alarm:
    """A timerfd. The event loop's own timers have a resolution of 1 ms, which alone would make
    connections up to 1 ms late."""

    def __init__(self, loop: Any, callback: Callable[[], None]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_FLAGS)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._settime = libc.timerfd_settime
        self._value = ctypes.create_string_buffer(32)
        self._watcher = loop.io(self._fd, 1)
        self._watcher.start(callback)

    def set(self, at_ns: int) -> None:
        """Call back at `at_ns`, or at once when that has passed; replaces an earlier alarm."""
        # Setting also resets the descriptor's readiness, so it need not be read.
        seconds, nanoseconds = divmod(max(at_ns, 1), _SECOND_NS)
        struct.pack_into("qqqq", self._value, 0, 0, 0, seconds, nanoseconds)
        self._settime(self._fd, _TFD_TIMER_ABSTIME, self._value, None)

    def close(self) -> None:
        self._watcher.stop()
        self._watcher.close()
        os.close(self._fd)


_INTERRUPTED_NS = 2_000_000
"""A handler that takes longer had to wait for the CPU."""
_SLEPT_NS = 50_000
"""Between two handlers: the event loop itself needs less, so it waited for something to read."""
_LEAST_NS = 100_000
"""Shorter waits of replies are not recorded."""
_ASK_NS = 1_000_000
"""How long this process waited for a core is asked at most this often; it takes 1 µs."""
_PARTS = 4
"""Replies of one handler that are weighed apart, because the first is read long before the last."""


class Handling:
    """Wraps the handlers of a point.

    Calls pending are integrated over time: counted apart from response times, so that each can be
    checked by the other (Little's law). Waits of replies are upper bounds: each reply may have come
    just after the last time when nothing was to be read, or when this process, which slept, began
    to wait for a core.
    """

    def __init__(self, count: Callable[[], int], times: tuple[list[int], list[int]]) -> None:
        """`count`: of calls pending. `times`: what each reply is added to, in one or the other."""
        waits: list[tuple[int, int, int]] = []
        """Of those that may have waited: ns until the first was read, and from then to the last,
        replies."""
        self._waits = waits
        # Closures, like all hot paths.
        at_ns = last = twice_ns = unsure_ns = clear_ns = asked_ns = woke_ns = 0
        queued_ns = 0
        some, others = times

        def begin(now: int) -> None:
            nonlocal at_ns, clear_ns, queued_ns
            at_ns = clear_ns = now
            queued_ns = run_queue_ns()

        def around(handle: Callable[[], bool | None]) -> Callable[[], None]:
            def counted() -> None:
                # The number changes in handlers alone: before one it is what it was after the last.
                nonlocal at_ns, last, twice_ns, unsure_ns, clear_ns, asked_ns, woke_ns, queued_ns
                now, before = monotonic_ns(), last
                if now - at_ns > _SLEPT_NS:
                    clear_ns = now
                    if now - asked_ns > _ASK_NS:
                        asked_ns, already = now, queued_ns
                        queued_ns = run_queue_ns()
                        woke_ns = queued_ns - already
                twice_ns += 2 * before * (now - at_ns)
                answered = len(some) + len(others)
                more = handle()
                at_ns, last = monotonic_ns(), count()
                lasted_ns = at_ns - now
                twice_ns += (before + last) * lasted_ns
                # When in this time the number changed is not known: calls begin and end one after
                # another, so it is that of one call, unless the process was interrupted meanwhile.
                if lasted_ns > _INTERRUPTED_NS:
                    unsure_ns += (abs(last - before) or 1) * lasted_ns
                elif last != before:
                    unsure_ns += lasted_ns >> 1
                if more is not None:
                    until_ns = now - clear_ns + woke_ns
                    if until_ns + lasted_ns > _LEAST_NS:
                        waits.append((until_ns, lasted_ns, len(some) + len(others) - answered))
                    if not more:  # Otherwise the rest had come before, too.
                        clear_ns = now
                        woke_ns = 0

            return counted

        def means() -> tuple[float, float]:
            nonlocal twice_ns, unsure_ns
            found = max(0, twice_ns) / 2 / WINDOW_NS, unsure_ns / WINDOW_NS
            twice_ns = unsure_ns = 0
            return round(found[0], 4), round(found[1], 4)

        self.begin, self.around, self.means = begin, around, means

    def waits(self) -> Iterator[tuple[int, int]]:
        """Yield (upper bound in ns, replies) of those that may have waited since the last call."""
        for until_ns, lasted_ns, found in self._waits:
            parts = min(found, _PARTS)
            for part in range(parts):
                replies = found * (part + 1) // parts - found * part // parts
                yield until_ns + lasted_ns * (part + 1) // parts, replies
        self._waits.clear()


try:
    _SCHEDSTAT = os.open("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
except OSError:  # A kernel without it.
    _SCHEDSTAT = -1


def run_queue_ns() -> int:
    """Return how long this process could have run and waited for a core, since it began."""
    return int(os.pread(_SCHEDSTAT, 64, 0).split()[1]) if _SCHEDSTAT >= 0 else 0


_COALESCE_NS = 250_000
"""Connections scheduled within this time are started together, with a single wake-up, where there
is no CPU time to spare."""
_SPARE_PER_S = 5_000
"""Up to this rate a worker has the time to wake for each connection, which halves its lateness."""
_TICK_NS = 10_000_000
"""Timeouts are checked, and times counted, at this interval and not at every alarm: a check takes
time proportional to the open connections, half a millisecond for 15,000."""
_CHECK_NS = 200_000
"""More than a check takes."""
_REST = 20
"""Finding timeouts takes at most this part of the time, however many connections are open; ending
them takes as long as it takes: with a pause after that, more of them would wait each time. A pause
is no longer than a window, because other programs may have had the core meanwhile."""


class Point:
    """Runs a `Load` on the event loop; `finished` is called once, when everything has ended."""

    def __init__(
        self,
        loop: Any,
        load: Load,
        on_window: Callable[[dict[str, Any]], None],
        on_finished: Callable[[dict[str, Any]], None],
        driver: type[Driver] | None = None,
    ) -> None:
        """`driver`: in place of the workload's own."""
        self.load = load
        self.on_window = on_window
        self.on_finished = on_finished
        self.tally = Tally(1 if load.by_call else load.calls_per_connection)
        self.driver = (driver or driver_of(load))(loop, load, self.tally)
        self.handling = Handling(
            self.driver.pending or (lambda: 0), (self.tally.latency, self.tally.alike)
        )
        around = self.handling.around
        on_alarm, refill = around(self.on_alarm), around(self.driver.refill)
        on_events = around(self.driver.on_events)
        if load.mode == "closed":
            on_alarm = self.refilled(on_alarm, refill)
            on_events = self.refilled(on_events, refill)
        self.on_events = on_events
        self.alarm = Alarm(loop, on_alarm)
        self.pace = OpenPace(load) if load.mode == "open" else ClosedPace(load)
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
        self.put_off = False
        """The next check, once."""
        self.began_ns = 0
        self.cpu_before = process_time_ns()
        self.finished = False
        self.dropped = 0
        """Calls that were in flight when it was stopped."""
        self.at_schedule_end: dict[str, int] = {}

    def start(self, at_ns: int) -> None:
        self.started_ns = at_ns
        self.next_window = at_ns + WINDOW_NS
        self.handling.begin(at_ns)
        self.cpu_before = process_time_ns()
        self.pace.begin(at_ns)
        self.driver.start(at_ns, self.on_events)
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
        before = len(self.tally.lateness)
        next_due = self.start_due(now)
        next_thought = self.driver.think(now)
        if now >= self.next_check:
            started = len(self.tally.lateness) > before
            if started and next_due > now and not self.put_off:
                # The reply would wait for the check.
                self.next_check = (now + next_due) // 2
                self.put_off = True
            else:
                self.check(now)
        if self.pace.exhausted and not self.pace.waiting and not self.driver.open:
            self.finish()
            return
        at = self.next_window
        if next_due:
            at = min(at, max(next_due, now + self.coalesce_ns))
        if not 0 < next_due < self.next_check + _CHECK_NS:  # Otherwise it would start late.
            at = min(at, self.next_check)
        if next_thought:
            at = min(at, next_thought)
        self.alarm.set(at)

    def check(self, now: int) -> None:
        """End calls that exceeded the timeout, count times, and report a step of a window."""
        self.count()
        next(self.reporting, None)
        begun = monotonic_ns()
        rest_ns = _REST * (self.driver.expire(now) - begun)
        self.next_check = now + min(max(_TICK_NS, rest_ns), WINDOW_NS)
        self.put_off = False

    def start_due(self, now: int) -> int:
        """Start what is due, at most one burst. Returns when to continue; 0: nothing is left."""
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

    def count(self) -> None:
        """Count the times so far, and how long replies may have waited for this process."""
        self.tally.count()
        self.tally.wait(self.handling.waits())

    def close_window(self) -> None:
        self.report_windows()
        self.reporting = self.reported()
        next(self.reporting)
        self.window_index += 1
        self.next_window += WINDOW_NS

    def reported(self) -> Iterator[None]:
        """End the window at the first step, and report it at the last."""
        data: dict[str, Any] = {"i": self.window_index, "in_flight": len(self.driver.open)}
        if self.driver.pending is not None:
            data["pending"], data["pending_within"] = self.handling.means()
        by_call = self.load.by_call
        in_flight = self.dropped + self.driver.calls_in_flight() if by_call else None
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
            "cpu_us": (process_time_ns() - self.cpu_before) // 1000,
            "wall_us": max(1, (monotonic_ns() - self.started_ns) // 1000),
            "replies": self.tally.replies(),
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
        self.count()
        self.dropped = self.driver.close()
        self.close_window()
        self.report_windows()
        self.on_finished(
            {
                **self.tally.report(self.started_ns),
                **self.driver.report(),
                "in_flight": self.dropped,
                "at_schedule_end": self.at_schedule_end,
                "cpu_us": (process_time_ns() - self.cpu_before) // 1000,
                "wall_us": (monotonic_ns() - self.started_ns) // 1000,
                "began_late_us": max(0, self.began_ns - self.started_ns) // 1000,
            }
        )


def driver_of(load: Load) -> type[Driver]:
    """Return the driver of a load's workload. Raises ImportError or KeyError for an unknown one."""
    module = importlib.import_module(
        f"workbench.remote.drivers.{'tls' if load.tls else load.workload}"
    )
    found: type[Driver] = module.DRIVERS[load.workload] if load.tls else module.WorkloadDriver
    return found
