"""Locust's own master, as a worker of the load agent in the place of its own one: a point is a test
of Locust, and what its workers report becomes windows and totals.

Workers are Locust's own, on any machine. Those with `plugin` report exact times; of others there
are Locust's, which are rounded, and nothing of the hosts that requests went to.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import socket
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import floor
from pathlib import Path
from time import monotonic_ns, process_time_ns, time
from typing import Any

import gevent
import locust  # before the agent's modules: it makes sockets cooperative
from gevent import get_hub
from locust.env import Environment
from locust.rpc import Message
from locust.runners import STATE_MISSING, WORKER_REPORT_INTERVAL, MasterRunner

from workbench.remote.agent import driver
from workbench.remote.agent.protocol import MOST_HOSTS, WINDOW_NS, Load
from workbench.remote.agent.tally import TIMES, bucket_of, sparse
from workbench.remote.agent.worker import Worker

from . import detach, locustfile

SETTINGS = "PONGBENCH_LOCUST"
"""Of the environment: the file, its options, its requests, where to listen, as JSON."""
KEY = "pongbench"
"""Of what `plugin` adds to a report, and of its own messages."""
LOOK_S = 0.2
LAST_BUCKET = bucket_of(10**9)
MOST_AT_ONCE = 10**9
MOST_SAID = 20
BACK_WITHIN_S = 2.0
"""After a test, for workers to be ready for the next."""
FINAL_WITHIN_S = WORKER_REPORT_INTERVAL + 5.0
"""After a test, for the last report of every worker."""
_FOLDER = Path(__file__).parent


def plugin(requests: list[str]) -> str:
    """Return the text that is sent to workers: `naming` and `plugin` in one."""
    parts = [
        f"import errno\n_CLASSES = {driver._CLASSES!r}\n",
        inspect.getsource(driver.error_name),
    ]
    parts += [(_FOLDER / name).read_text("utf-8") for name in ("naming.py", "plugin.py")]
    text = re.sub(r"^from (__future__|workbench\.|\.).*\n", "", "\n\n".join(parts), flags=re.M)
    text = text.replace("NAMES: list[str] = []", f"NAMES: list[str] = {requests!r}")
    return f"from __future__ import annotations\n\n{text}"


def short(worker: str) -> str:
    """Return the name of a worker for people: its host, and the beginning of its number."""
    host, _, number = worker.rpartition("_")
    return f"{host}_{number[:6]}"


class Master(MasterRunner):  # type: ignore[misc]  # no types
    """Sends away workers that are of no use, and hears why others failed."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.unwanted: set[str] = set()
        self.said: list[str] = []
        """Of workers that are of no use, not told yet; without a full stop."""

    def handle_message(self, client_id: str, msg: Any) -> None:
        if msg.type == KEY:
            host, _, _ = client_id.partition(f"_{KEY}_")
            said = msg.data.get("failed") if isinstance(msg.data, dict) else ""
            self.say(f"Locust's worker on {host} failed: {str(said)[:300]}")
            return
        super().handle_message(client_id, msg)
        if msg.type == "client_ready" and str(msg.data)[:4] != locust.__version__[:4]:
            if client_id not in self.unwanted:
                self.say(
                    f"{short(client_id)} runs Locust {str(msg.data)[:20]} and was sent away; the"
                    f" master is {locust.__version__}"
                )
            self.unwanted.add(client_id)
            # It ends only once it has all that it starts when it is welcomed.
            quit = Message("quit", None, client_id)
            gevent.spawn_later(1.0, self.server.send_to_client, quit)

    def say(self, text: str) -> None:
        if len(self.said) < MOST_SAID:
            self.said.append(text)


@dataclass
class Reporter:
    """What one worker has reported in a point."""

    offset_ns: int | None = None
    """From its clock to ours: as its report that came soonest has it."""
    client: str = ""
    """That it was started on; empty: it joined by itself."""
    exact: bool = False
    until: int = 0
    """The number of the window that it has not reported yet."""
    before: tuple[int, int] = (0, 0)
    """(its time in ns, CPU time in ns) of its last report before the point, and of that within its
    schedule, and at all."""
    at_end: tuple[int, int] = (0, 0)
    last: tuple[int, int] = (0, 0)
    final: bool = False
    """Its last report of the point has come."""

    def next(self) -> Reporter:
        """Return the same of the next point."""
        return replace(self, until=0, before=self.last, at_end=self.last, final=False)


@dataclass
class Span:
    """Requests of a window, of a client, or of a point."""

    replies: int = 0
    times: Counter[int] = field(default_factory=Counter)
    """Of the replies, by bucket, as far as they are known."""
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: Span) -> None:
        self.replies += other.replies
        self.times.update(other.times)
        self.errors.update(other.errors)

    def record(self, *, times: bool) -> dict[str, Any]:
        """Return plain data. `times`: whether they are those of replies only."""
        sent = self.replies + self.errors.total()
        return {
            "due": sent,
            "sent": sent,
            "late": 0,
            "established": 0,
            "replies": self.replies,
            "errors": dict(self.errors),
            "service": sparse(self.times) if times else [],
        }


class Test:
    """One point: a test of Locust."""

    def __init__(self, load: Load, requests: int) -> None:
        self.load = load
        self.start_ns = self.end_ns = self.stopped_ns = 0
        self.windows: defaultdict[int, Span] = defaultdict(Span)
        """Not reported yet."""
        self.reported = 0
        """The number of the window to report next."""
        self.whole = Span()
        self.clients: defaultdict[str, Span] = defaultdict(Span)
        self.requests = [Span() for _ in range(requests)]
        self.in_schedule = 0
        """Replies."""
        self.places: Counter[str] = Counter()
        self.mixed = False
        """Rounded times of Locust have those of failed requests among them."""
        self.most_users = 0
        self.team: set[str] = set()
        """The workers with which it began."""
        self.lost: set[str] = set()
        self.joined: set[str] = set()
        self.cpu_before_ns = process_time_ns()

    def count(self, client: str, window: int, request: int, span: Span) -> None:
        """Add requests that ended in a window; negative: of an earlier point."""
        if window >= 0:
            self.windows[max(window, self.reported)].add(span)
            self.clients[client].add(span)
            if request < len(self.requests):
                self.requests[request].add(span)


class MasterWorker(Worker):
    """Carries out the commands of the agent's protocol, by Locust's master."""

    def __init__(self, number: int, commands: int, output: int) -> None:
        super().__init__(number, commands, output)
        self.settings: dict[str, Any] = json.loads(os.environ.pop(SETTINGS))
        self.reporters: dict[str, Reporter] = {}
        self.test: Test | None = None
        self.team: set[str] = set()
        """The workers of the last point."""
        self.starting: Any = None
        """The greenlet that starts users."""
        self.invalid: set[str] = set()
        try:
            environment = self._environment()
        except locustfile.Refused as error:
            self.emit("error", text=str(error).rstrip("."))
            os._exit(1)
        self.runner = environment.runner
        environment.events.worker_report.add_listener(self.on_report)
        gevent.spawn(self._look)

    def _environment(self) -> Any:
        """Load the locustfile, listen for workers, and show Locust's page. Raises Refused."""
        file, port = self.settings["file"], self.settings["web_port"]
        sent = Path(tempfile.mkdtemp(), "pongbench_plugin.py")
        sent.write_text(plugin(self.settings["requests"]), "utf-8")

        def listening(environment: Environment) -> Any:
            environment.parsed_locustfiles = [str(sent), str(Path(file).resolve())]
            host, bind_port = self.settings["host"], self.settings["port"]
            for place in ((host, bind_port), ("127.0.0.1", port)):
                _see_free(*place)
            runner = environment._create_runner(
                Master, master_bind_host=host, master_bind_port=bind_port
            )
            runner.master_bind_port = runner.server.port  # Should it have to listen again.
            if port:
                environment.create_web_ui("127.0.0.1", port, userclass_picker_is_active=True)
            return runner

        options = ["--master", "--enable-rebalancing", "--class-picker", *self.settings["options"]]
        sys.argv = ["locust", *options]  # Its page reads them there.
        return locustfile.load(file, options, listening, shapes=True)

    def _look(self) -> None:
        """Tell which workers there are, and how the test goes."""
        told: list[str] | None = None
        while True:
            there = self._there()
            said, self.runner.said = self.runner.said, []
            if (names := sorted(map(short, there))) != told or said:
                told = names
                self.emit("workers", port=self.runner.server.port, workers=names, said=said)
            test = self.test
            if test is not None and test.start_ns and not test.stopped_ns:
                for worker in sorted(test.team - there - test.lost):
                    test.lost.add(worker)
                    lost = f"{short(worker)} was lost, and Locust gave its users to the others"
                    self.emit("error", text=lost)
                test.joined |= there - test.team - test.lost
                test.most_users = max(test.most_users, self.runner.user_count)
                self._report(test)
            gevent.sleep(LOOK_S)

    def arm(self, load: Load) -> None:
        gevent.spawn(self._arm, load)

    def _arm(self, load: Load) -> None:
        test = Test(load, len(load.options["requests"]))
        host = f"[{load.host}]" if ":" in load.host else load.host
        self.runner.environment.host = f"http://{host}:{load.port}"
        with gevent.Timeout(BACK_WITHIN_S, False):
            while not self.team <= self._there():  # They leave for a moment after each test.
                gevent.sleep(LOOK_S / 4)
        self.team = test.team = self._there()
        self.reporters = {id: each.next() for id, each in self.reporters.items()}
        if test.team:
            self.test = test
            self.emit("armed")
        else:
            self.emit("error", text="no worker of Locust is left")
            self._report_totals(test)

    def _there(self) -> set[str]:
        nodes = self.runner.clients.values()
        there: set[str] = {node.id for node in nodes if node.state != STATE_MISSING}
        return there.difference(self.runner.unwanted)

    def handle(self, command: dict[str, Any]) -> None:
        test, mine = self.test, command.get("id") == self.point_id
        match command["op"]:
            case "point":
                super().handle(command)
            case "start" if test is not None and mine:
                gevent.spawn(self._run, test, command["at_us"] * 1000)
            case "stop" if test is not None and mine:
                gevent.spawn(self._finish, test)
            case "quit":
                gevent.spawn(self._quit)

    def _quit(self) -> None:
        """End all workers, also those that joined by themselves."""
        with suppress(Exception):
            self.runner.quit()
        os._exit(0)

    def _run(self, test: Test, at_ns: int) -> None:
        load, runner = test.load, self.runner
        gevent.sleep(max(0, at_ns - monotonic_ns()) / 1e9)
        test.start_ns = at_ns
        test.end_ns = at_ns + round(load.seconds * 1e9)
        rate = load.concurrency / max(load.options["spawn_s"], 1.0)
        options, shape = runner.environment.parsed_options, runner.environment.shape_class
        options.num_users, options.spawn_rate = load.concurrency, rate
        if shape is not None:
            shape.reset_time()
            runner.start_shape()
        else:
            self.starting = gevent.spawn(runner.start, load.concurrency, rate)
        while monotonic_ns() < test.end_ns and not test.stopped_ns:
            if shape is not None and runner.shape_greenlet is None:
                break  # It has come to its end.
            gevent.sleep(min(LOOK_S, max(0, test.end_ns - monotonic_ns()) / 1e9))
        self._finish(test)

    def _finish(self, test: Test) -> None:
        """Stop the users, wait for the last reports, and report the point."""
        if test.stopped_ns:
            return
        test.stopped_ns = monotonic_ns()
        test.start_ns = test.start_ns or test.stopped_ns
        test.end_ns = min(test.end_ns or test.stopped_ns, test.stopped_ns)
        for reporter in self.reporters.values():
            reporter.final = False
        if self.starting is not None:
            self.starting.kill()  # It would start further users.
        self.runner.stop()
        asked = test.team | test.joined
        with gevent.Timeout(FINAL_WITHIN_S, False):
            while any(not self._of(each).final for each in asked - test.lost):
                gevent.sleep(LOOK_S / 4)
        for worker in sorted(asked - test.lost):
            if not self._of(worker).final:
                self.emit("error", text=f"{short(worker)} did not report in time")
        self._report(test, whole=True)
        self.test = None
        self._report_totals(test)

    def _of(self, worker: str) -> Reporter:
        return self.reporters.setdefault(worker, Reporter())

    def on_report(self, client_id: str, data: dict[str, Any], **_: Any) -> None:
        """Take what a worker reports; anything may be in it."""
        test, now = self.test, monotonic_ns()
        if client_id not in self.runner.clients and client_id not in self.team:
            return  # Of a worker that has not joined this master.
        reporter = self._of(client_id)
        try:
            exact = data.get(KEY)
            if exact is not None:
                self._take_exact(client_id, reporter, exact, test, now)
            elif test is not None and test.start_ns:
                self._take_rounded(client_id, reporter, data, test, now)
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            if client_id not in self.invalid:
                self.invalid.add(client_id)
                said = f"{short(client_id)} reports what is invalid ({error})"
                self.emit("error", text=said)
        if test is not None and test.stopped_ns and not data.get("user_count"):
            reporter.final = True
        gevent.sleep(0)  # Others would not run as long as there are messages.

    def _take_exact(
        self, worker: str, reporter: Reporter, exact: Any, test: Test | None, now: int
    ) -> None:
        reporter.exact = True
        their, cpu = int(exact["now"]), int(exact["cpu"])
        offset = now - their
        known = reporter.offset_ns
        reporter.offset_ns = offset if known is None else min(known, offset)
        reporter.client = str(exact["client"])[:100]
        reporter.last = (their, cpu)
        at_ns = their + reporter.offset_ns
        if test is None or not test.start_ns:
            reporter.before = reporter.at_end = reporter.last
            return
        if at_ns <= test.end_ns:
            reporter.at_end = reporter.last
        first = (test.start_ns - reporter.offset_ns) / WINDOW_NS
        latest = int((now - test.start_ns) / WINDOW_NS)
        client = reporter.client or _host(worker)
        for window, request, replies, errors in exact["counted"]:
            span = Span(_counted(replies, LAST_BUCKET), Counter(dict(replies)))
            _counted([(0, n) for _, n in errors], 0)
            for name, n in errors:
                span.errors[_error(name)] += n
            # What began before the point in the same window is nothing of it.
            at = min(floor(window - first), latest)
            test.count(client, at, int(request), span)
        for place, n in exact["places"]:
            name = str(place)[:80]
            full = len(test.places) >= MOST_HOSTS
            test.places[name if name in test.places or not full else "others"] += int(n)
        reporter.until = max(reporter.until, int((at_ns - test.start_ns) / WINDOW_NS))

    def _take_rounded(
        self, worker: str, reporter: Reporter, data: Any, test: Test, now: int
    ) -> None:
        """Take Locust's own counts, as of the time of the last request."""
        errors: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for each in data["errors"].values():
            said = str(each["error"])
            status = re.search(r"HTTPError\('(\d{3}) |\bcode=(\d{3})\b", said)
            kind = re.findall(r"^\w+", said)
            name = f"protocol-{status[1] or status[2]}" if status else f"other-{''.join(kind)}"
            errors[f"{each['method']} {each['name']}"][_error(name)] += int(each["occurrences"])
        age_s = time() - (data["stats_total"]["last_request_timestamp"] or time())
        age_ns = 1e9 * max(0.0, min(WORKER_REPORT_INTERVAL, age_s))
        window = max(0, int((now - test.start_ns - age_ns) / WINDOW_NS))
        for entry in data["stats"]:
            called = f"{entry['method']} {entry['name']}"
            requests = self.settings["requests"]
            request = requests.index(called) if called in requests else len(requests)
            number, failed = int(entry["num_requests"]), int(entry["num_failures"])
            test.mixed |= bool(failed)
            span = Span(number - failed, errors=errors[called])
            for ms, n in entry["response_times"].items():
                span.times[bucket_of(round(float(ms) * 1000))] += n
            _counted([*span.times.items()], LAST_BUCKET)
            test.count(_host(worker), window, request, span)
        reporter.until = max(reporter.until, window)

    def _report(self, test: Test, *, whole: bool = False) -> None:
        """Report the windows that all workers are past."""
        there = test.team - test.lost
        until = min((self._of(each).until for each in there), default=0)
        if whole:
            until = max([*test.windows, until - 1]) + 1
        users = self.runner.user_count
        for number in range(test.reported, until):
            span = test.windows.pop(number, None) or Span()
            test.whole.add(span)
            if (number + 1) * WINDOW_NS <= test.end_ns - test.start_ns:
                test.in_schedule += span.replies
            data = span.record(times=not test.mixed)
            self.emit("window", i=number, in_flight=users, latency=[], **data)
        test.reported = max(test.reported, until)

    def _report_totals(self, test: Test) -> None:
        team = {worker: self._of(worker) for worker in sorted(test.team | test.joined)}
        by_client: defaultdict[str, list[Reporter]] = defaultdict(list)
        for worker, each in team.items():
            by_client[each.client or _host(worker)].append(each)
        for client, reporters in by_client.items():
            part = test.clients[client].record(times=not test.mixed)
            self.emit(
                "part",
                client=client,
                sent=part["sent"],
                service=part["service"],
                cpu_us=sum(each.last[1] - each.before[1] for each in reporters) // 1000,
                cpu_pct=max(map(_busy_pct, reporters)),
            )
        whole = test.whole.record(times=not test.mixed)
        times = whole.pop("service")
        self.emit(
            "done",
            **whole,
            unsent=0,
            in_flight=0,
            figures={
                "requests": test.places.total(),
                "uncounted": sum(not each.exact for each in team.values()),
                "workers": len(test.team),
                "joined": len(test.joined),
                "users": test.most_users,
            },
            histograms={name: times if name == "service" else [] for name in TIMES},
            requests=[
                {
                    "replies": each.replies,
                    "failed": each.errors.total(),
                    "latency": [] if test.mixed else sparse(each.times),
                }
                for each in test.requests
            ],
            elsewhere={place: n for place, n in test.places.items() if place},
            at_schedule_end={
                "cpu_us": 0,
                "wall_us": max(1, (test.end_ns - test.start_ns) // 1000),
                "replies": test.in_schedule,
            },
            cpu_us=(process_time_ns() - test.cpu_before_ns) // 1000,
        )


def _busy_pct(reporter: Reporter) -> float:
    """Return percent of a core, while the schedule ran."""
    (from_ns, before), (to_ns, after) = reporter.before, reporter.at_end
    return round(100 * (after - before) / (to_ns - from_ns), 2) if to_ns > from_ns else 0.0


def _host(worker: str) -> str:
    return worker.rpartition("_")[0]


def _counted(pairs: Sequence[tuple[int, int]], last: int) -> int:
    """Return how many requests a worker reports. Raises ValueError or TypeError for nonsense."""
    if not pairs:
        return 0
    buckets, numbers = zip(*pairs, strict=True)
    total: int = sum(numbers)
    if {type(each) for each in (*buckets, *numbers)} != {int}:
        raise TypeError("a number is none")
    if min(buckets) < 0 or max(buckets) > last or min(numbers) < 0 or total > MOST_AT_ONCE:
        raise ValueError("a number is out of bounds")
    return total


def _error(name: Any) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "", str(name))[:40] or "other"


def _see_free(host: str, port: int) -> None:
    """Raises Refused where nothing can listen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        why = why.partition(" (while")[0].lower()  # Python adds the address once more.
        raise locustfile.Refused(f"Locust cannot listen at {host}, port {port}: {why}.") from None


def run(number: int, commands: int, output: int) -> None:
    detach()
    MasterWorker(number, commands, output)
    get_hub().join()
