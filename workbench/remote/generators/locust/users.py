"""Users of a locustfile, started and paced by a point of the agent.

Locust's own runner starts users once a second, in bursts. Here the schedule of the point does: at a
rate every arrival is a task, made by a user that waits for one, or else by a new user; in a closed
loop every user is one of the concurrent connections, and waits as its `wait_time` says.
"""

from __future__ import annotations

import itertools
import os
import random
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any

import gevent
import locust  # noqa: F401  before the agent's modules: it makes sockets cooperative
from gevent import GreenletExit, get_hub, getcurrent
from gevent.hub import Waiter
from locust.exception import (
    InterruptTaskSet,
    RescheduleTask,
    RescheduleTaskImmediately,
    StopTest,
    StopUser,
)
from locust.runners import STATE_RUNNING
from locust.user.task import (
    LOCUST_STATE_RUNNING,
    LOCUST_STATE_STOPPING,
    LOCUST_STATE_WAITING,
    TaskSet,
)

from workbench.remote.agent.driver import Driver
from workbench.remote.agent.point import Point
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.tally import RequestTally, Tally
from workbench.remote.agent.worker import Worker

from . import LEAST_S, Watchdog, locustfile
from .naming import name_of, place_of


@dataclass(slots=True, eq=False)
class Visit:
    """A task of a user, from its arrival to its end."""

    due: int
    began: int
    started: int = 0
    user: Any = None
    calls: int = 0
    """Requests that were made."""
    waited: int = 0
    """Their response times together, in ns."""
    error: str = ""


def in_turn(classes: list[Any], load: Load) -> Iterator[Any]:
    """Yield the classes of this worker's users: first the fixed ones, then by weight, evenly."""
    fixed = [each for each in classes for _ in range(each.fixed_count)]
    weighted = [each for each in classes if not each.fixed_count]
    every = itertools.chain(fixed, _by_weight(weighted or fixed))
    return itertools.islice(every, load.share, None, load.shares)


def _by_weight(classes: list[Any]) -> Iterator[Any]:
    total, credit = sum(each.weight for each in classes), dict.fromkeys(classes, 0.0)
    while True:
        for each in classes:
            credit[each] += each.weight
        chosen = max(classes, key=lambda each: credit[each])
        credit[chosen] -= total
        yield chosen


def drawn(classes: list[Any], load: Load) -> Iterator[Any]:
    """Yield the classes of arrivals, drawn by weight."""
    weights = list(itertools.accumulate(each.weight or 1 for each in classes))
    draw = random.Random(f"{load.seed}/{load.share}/{load.shares}/users").choices
    while True:
        yield from draw(classes, cum_weights=weights, k=100)


MOST_USERS = 10_000
"""Of one worker."""
STOPS_WITHIN_S = 3.0
"""For hooks of users that are stopped after a point."""
_ENDS = (InterruptTaskSet, RescheduleTask, RescheduleTaskImmediately, StopUser, StopTest)
"""Raised by tasks that end as intended."""

_environment: Any = None
_driver: UserDriver | None = None
"""Of the current point."""
_stopping: Any = None
"""The greenlet that stops the users of the last point."""
_complain: Callable[[str], None] = print


def prepare(load: Load, complain: Callable[[str], None]) -> None:
    """Load the locustfile for a point, and end the users of the last one. Raises Refused."""
    global _environment, _complain  # noqa: PLW0603
    _complain = complain
    if _stopping is not None:
        _stopping.join(STOPS_WITHIN_S)
        _environment.runner.user_greenlets.kill(block=False)
    options = load.options
    if _environment is None:
        _environment = locustfile.load(options["locustfile"], options["options"])
        _environment.events.request.add_listener(_on_request)
        _environment.events.test_stopping.add_listener(_on_stopping)
        with suppress(OSError):  # gevent loads its resolver when it is first used, for 15 to 70 ms.
            socket.getaddrinfo(load.host, load.port)
    host = f"[{load.host}]" if ":" in load.host else load.host
    _environment.host = f"http://{host}:{load.port}"
    for each in _environment.user_classes:
        each.host = _environment.host
    _environment.runner.stats.clear_all()
    try:
        _environment.events.test_start.fire(environment=_environment)
    except (Exception, SystemExit) as error:
        raise locustfile.refused(options["locustfile"], error) from None
    _environment.runner.update_state(STATE_RUNNING)


class UserDriver(Driver):
    """Starts tasks in place of connections."""

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        global _driver  # noqa: PLW0603
        self.load, self.tally, self.loop = load, tally, loop
        self.replace = None
        self.open: dict[int, Visit] = {}
        self.calls = 1
        self.timeout_ns = round(load.timeout_s * 1e9)
        self.closed = load.mode == "closed"
        choose = in_turn if self.closed else drawn
        self.classes = choose(_environment.user_classes, load)
        self.vacant = -(-load.concurrency // load.shares) if self.closed else 0
        """Users that are started evenly within the ramp."""
        self.spawned = self.users = 0
        self.idle: dict[type, deque[tuple[Any, Any]]] = {
            each: deque() for each in _environment.user_classes
        }
        """Users that wait for an arrival, by class, with what wakes them."""
        self.returning: Any = None
        self.returned: Visit | None = None
        self.at_work: dict[Any, Visit] = {}
        """By greenlet."""
        names = load.options["requests"]
        self.named = {name: RequestTally() for name in names}
        tally.requests = list(self.named.values())
        self.other = self.named.get(load.options["other"], RequestTally())
        self.over = False
        _driver = self

    def start(self, at_ns: int, on_events: Callable[[], None]) -> None:
        """The point starts everything."""

    def begin(self, due: int, now: int) -> bool:
        visit = Visit(due, now, now)
        if self.returning is not None:
            visit.user, self.returned = self.returning, visit
        elif self.closed:
            delay_s = 0.0
            if first := self.spawned < self.vacant:
                delay_s = self.load.options["spawn_s"] * self.spawned / self.vacant
                self.tally.lateness.pop()  # It begins with its user.
            visit.began += round(delay_s * 1e9)
            gevent.spawn_later(delay_s, self._spawn, next(self.classes), visit, first)
        else:
            wanted = next(self.classes)
            if waiting := self.idle[wanted]:
                waiter, visit.user = waiting.popleft()
                self.loop.run_callback(waiter.switch, visit)
            elif self.users >= MOST_USERS:
                self.tally.lose("other-users", 1)
                return False
            else:
                gevent.spawn(self._spawn, wanted, visit)
        self.open[id(visit)] = visit
        self.spawned += visit.user is None
        return True

    def _spawn(self, wanted: Any, visit: Visit, first: bool = False) -> None:
        if self.over:
            return
        if first:
            self.tally.lateness.append(max(0, monotonic_ns() - visit.began))
        try:
            user = wanted(_environment)
        except (Exception, StopTest, SystemExit) as error:
            self.end(visit, name_of(error))
            return
        if id(visit) not in self.open:  # It exceeded its timeout meanwhile, or the point is over.
            return
        visit.user, user.pongbench_visit = user, visit
        self.users += 1
        user.start(_environment.runner.user_greenlets).link(lambda ended: self._gone(user, ended))

    def _gone(self, user: Any, ended: Any) -> None:
        """A user has ended, perhaps before the task that it was started for."""
        self.users -= 1
        if visit := user.__dict__.pop("pongbench_visit", None):
            self.end(visit, name_of(ended.exception or StopUser()))

    def next_visit(self, user: Any) -> Visit:
        """Return the user's next task, once it arrives. Raises StopUser when there is none."""
        visit: Visit | None = user.__dict__.pop("pongbench_visit", None)
        if visit is None and self.closed:
            self.returning, self.returned = user, None
            if self.replace is not None and not self.over:
                self.replace(monotonic_ns())
            self.returning, visit = None, self.returned
        elif visit is None:
            waiter = Waiter()
            place = (waiter, user)
            self.idle[type(user)].append(place)
            user._state = LOCUST_STATE_WAITING
            visit = waiter.get()
            if user._state == LOCUST_STATE_STOPPING:
                raise StopUser
            user._state = LOCUST_STATE_RUNNING
        if visit is None:
            raise StopUser
        visit.started = monotonic_ns()
        return visit

    def end(self, visit: Visit, error: str) -> None:
        """Count a task, unless it was ended by its timeout, or with the point."""
        if self.open.pop(id(visit), None) is None:
            return
        if not error and monotonic_ns() - visit.began > self.timeout_ns:
            error = "client-timo"
        if error:
            self.tally.lose(error, 1)
        elif not visit.calls:
            self.tally.untimed += 1
        else:
            late = 0 if self.closed else max(0, visit.started - visit.due)
            self.tally.latency.append(late + visit.waited)
            self.tally.service.append(visit.waited)

    def expire(self, now: int) -> int:
        too_long = [v for v in self.open.values() if now - v.began > self.timeout_ns]
        found = monotonic_ns()
        for visit in too_long:
            self.end(visit, "client-timo")
            if visit.user is not None:
                visit.user.greenlet.kill(block=False)
            if self.replace is not None:
                self.replace(now)
        return found

    def close(self) -> int:
        global _stopping  # noqa: PLW0603
        in_flight = len(self.open)
        self.open.clear()
        self.over = True
        _stopping = gevent.spawn(_environment.runner.stop)
        return in_flight


_execute, _wait = TaskSet.execute_next_task, TaskSet.wait


def execute_next_task(task_set: Any) -> None:
    """Count a task, but not the choice of a nested task set, which has tasks of its own."""
    driver, chosen = _driver, task_set._task_queue[0]
    if driver is None or (isinstance(chosen, type) and issubclass(chosen, TaskSet)):
        _execute(task_set)
        return
    visit = driver.next_visit(task_set.user)
    greenlet = getcurrent()
    driver.at_work[greenlet] = visit
    error: BaseException | None = None
    try:
        _execute(task_set)
    except SystemExit as raised:
        error = raised  # The user continues.
    except BaseException as raised:
        error = raised
        raise
    finally:
        driver.at_work.pop(greenlet, None)
        if not isinstance(error, GreenletExit):  # Ended by its timeout, or with the point.
            name = "" if error is None or isinstance(error, _ENDS) else name_of(error)
            driver.end(visit, visit.error or name)


def wait(task_set: Any) -> None:
    """Wait between tasks, unless arrivals decide when the next one begins."""
    if _driver is None or _driver.closed:
        _wait(task_set)
    elif task_set.user._state == LOCUST_STATE_STOPPING:
        raise StopUser


TaskSet.execute_next_task, TaskSet.wait = execute_next_task, wait


def _on_request(
    request_type: str = "",
    name: str = "",
    response_time: float = 0.0,
    exception: BaseException | None = None,
    url: str = "",
    **_: Any,
) -> None:
    driver = _driver
    if driver is None or driver.over:
        return
    if url:  # Clients of other protocols have none.
        driver.tally.count_request(place_of(url, driver.load.host, driver.load.port))
    try:
        ns = max(0, round(response_time * 1e6))
    except (TypeError, ValueError, OverflowError):
        ns = 0
    request = driver.named.get(f"{request_type} {name}") or driver.other
    if exception:
        request.failed += 1
    else:
        request.latency.append(ns)
    if visit := driver.at_work.get(getcurrent()):
        visit.calls += 1
        visit.waited += ns
        if exception and not visit.error:
            visit.error = name_of(exception)


def _on_stopping(environment: Any, **_: Any) -> None:
    if _driver is not None and not _driver.over:
        _complain(f"{environment.locustfile} ended the test")


class LocustWorker(Worker):
    """Prepares a point in a greenlet, for hooks of a locustfile may wait."""

    def __init__(self, number: int, commands: int, output: int, watchdog: Watchdog) -> None:
        super().__init__(number, commands, output)
        self.watchdog = watchdog

    def arm(self, load: Load) -> None:
        gevent.spawn(self._arm, load)

    def _arm(self, load: Load) -> None:
        try:
            prepare(load, lambda text: self.emit("error", text=text))
            self.point = Point(self.loop, load, self.on_window, self.on_finished, UserDriver)
        except (locustfile.Refused, OSError) as error:
            self.emit("error", text=str(error).rstrip("."))
            os._exit(1)
        self.emit("armed")

    def handle(self, command: dict[str, Any]) -> None:
        super().handle(command)
        if command["op"] == "start":
            self._watch()

    def on_window(self, window: dict[str, Any]) -> None:
        super().on_window(window)
        self._watch()

    def on_finished(self, report: dict[str, Any]) -> None:
        super().on_finished(report)
        self.watchdog.rest()

    def _watch(self) -> None:
        if self.point is not None:
            self.watchdog.expect(max(LEAST_S, self.point.load.timeout_s))


def run(number: int, commands: int, output: int, watchdog: Watchdog) -> None:
    hub = get_hub()
    hub.SYSTEM_ERROR = ()  # A user that calls sys.exit() ends itself, not the worker.
    LocustWorker(number, commands, output, watchdog)
    hub.join()
