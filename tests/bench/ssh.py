"""The cost and clock accuracy of machines over SSH, on the lab's hosts.

`python tests/bench/ssh.py [clock] [start] [lines] [deploy] [cut]`: all of them by default. Needs
root, as the lab does. All hosts share this computer's cores: nothing else should run, and figures
of separate machines are better.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from lab.base import TOOLS, NoLab, check
from lab.conftest import profile_of, trusted
from lab.hosts import Host, Lab

from workbench.documents import AnyDocument, PointStart, PointStop, RunStop, Window
from workbench.errors import PongbenchError
from workbench.load.base import Client
from workbench.load.fleet import AgentFleet
from workbench.machines.runner_client import Command
from workbench.machines.ssh import SshMachine, open_ssh
from workbench.plan.reading import load_plan
from workbench.run.factory import Fleet, engine_for
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy
from workbench.sessions.format import decode, encode

ROUNDS = 10
CLIENTS = ("h2", "h3", "h4")
PLAN = """\
name: start
servers: ['null']
rates: {from: 600, to: 2500, step: 100}
seconds: 2
workload: {protocol: pong, timeout_s: 2}
calibrate: false
warm_up: null
cool_down_s: 0
looks: 1
"""
LINES_PER_S = 20_000
LINES_S = 10.0
WRITE_LINES = """
import sys, time
line, rate, seconds = sys.argv[1] + "\\n", int(sys.argv[2]), float(sys.argv[3])
begin, step = time.monotonic() + 0.5, 0.01
for number in range(int(seconds / step)):
    time.sleep(max(0.0, begin + number * step - time.monotonic()))
    sys.stdout.write(line * int(rate * step))
    sys.stdout.flush()
"""


def main(wanted: Sequence[str]) -> int:
    parts: dict[str, Callable[[Lab], Awaitable[None]]] = {
        "clock": clock,
        "start": start,
        "lines": lines,
        "deploy": deployments,
        "cut": cuts,
    }
    try:
        check()
    except NoLab as reason:
        print(f"{reason} Nothing was measured.")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        nobodys_home(Path(folder))
        lab = Lab()
        try:
            lab.add(1 + len(CLIENTS))
            for name in wanted or parts:
                asyncio.run(prepared(lab, parts[name]))
        finally:
            lab.close()
    return 0


async def prepared(lab: Lab, part: Callable[[Lab], Awaitable[None]]) -> None:
    for host in lab.hosts:
        await trusted(profile_of(host))
    await part(lab)


async def clock(lab: Lab) -> None:
    """Hosts of the lab began whole 100,000 s before this computer, which is what is to be found."""
    async with opened(lab.hosts) as machines:
        alone = [await error_us(*one) for _ in range(ROUNDS) for one in machines]
        together = [
            error for _ in range(ROUNDS) for error in await asyncio.gather(*together_of(machines))
        ]
        found = [(await machine.clock())[1] for _, machine in machines]
    print(f"\nclocks of {len(machines)} hosts, each {ROUNDS} times; error, without its sign")
    tell("one after another", "us", alone, 1)
    tell("all at once", "us", together, 1)
    tell("uncertainty told", "us", [float(value) for value in found])


def together_of(machines: Sequence[tuple[Host, SshMachine]]) -> list[Awaitable[float]]:
    return [error_us(*one) for one in machines]


async def error_us(host: Host, machine: SshMachine) -> float:
    offset_us, _ = await machine.clock()
    return abs(offset_us + host.number * 100_000e6)


async def start(lab: Lab) -> None:
    """Three clients against one target: when each started, what was offered, what it costs to watch
    on."""
    path = Path(os.environ["PONGBENCH_HOME"]) / "plan.yaml"
    path.write_text(PLAN)
    documents: list[AnyDocument] = []
    samplers: dict[str, Spent] = {}

    def take(document: AnyDocument) -> None:
        documents.append(document)
        if isinstance(document, PointStart) and not samplers:
            samplers.update((host.name, Spent(process(host, "/sampler"))) for host in lab.hosts)
        if isinstance(document, PointStop):
            for spent in samplers.values():
                spent.look()

    plan = load_plan(str(path))
    await engine_for(plan, take, fleet=Fleet("h1", CLIENTS)).run()
    stop = documents[-1]
    if not isinstance(stop, RunStop) or stop.status != "done":
        raise PongbenchError(f"The run was not done: {stop}")
    points = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]
    length = f"{points[0].seconds:.0f} s"
    print(f"\n{len(points)} points of {length}, {len(CLIENTS)} clients against one target")
    tell("start skew", "us", [float(point.start_skew_us) for point in points])
    for part in range(len(CLIENTS)):
        late = [float(point.clients[part].began_late_us) for point in points]
        tell(f"{points[0].clients[part].machine} began late", "us", late)
    known = [float(part.clock_uncertainty_us) for point in points for part in point.clients]
    tell("clocks known to", "us", known)
    tell("lateness p99", "us", [float(p.lateness_us.p99) for p in points if p.lateness_us])
    rates = [sent_per_s(documents, point) / point.rate_per_s for point in points]
    tell("sent / plan", "", rates, 4)
    for name, spent in samplers.items():
        tell(f"sampler on {name}", "% of a core", [spent.cpu_pct()], 2)


def sent_per_s(documents: Sequence[AnyDocument], point: PointStop) -> float:
    """Over the windows that lie wholly in the schedule, but the first: as it really was."""
    count = int(point.seconds / 0.2)
    windows = [
        document
        for document in documents
        if isinstance(document, Window)
        and document.point == point.point
        and 0 < document.index < count
    ]
    return sum(window.sent for window in windows) / (0.2 * len(windows))


async def lines(lab: Lab) -> None:
    """What it costs this side to receive documents faster than any run sends them."""
    window = Window(
        t_us=12_345_678, point=12, index=7, due=1234, sent=1230, late=4, established=1229,
        replies=1201, errors={"client-timo": 3, "connreset": 25}, in_flight=231,
    )  # fmt: skip
    text = encode(window).decode()
    host = lab.hosts[0]
    async with opened([host]) as machines:
        ((_, machine),) = machines
        program = [*machine.python, "-c", WRITE_LINES, text, str(LINES_PER_S), f"{LINES_S:g}"]
        running = await machine.start(Command(program))
        reading = running.lines()
        decode(await anext(reading))
        ours, theirs = Spent(os.getpid()), Spent(runner(host))
        count = counted = 0
        async for line in reading:
            assert isinstance(decode(line), Window)
            count += 1
            if not count % LINES_PER_S:
                counted = count
                ours.look()
                theirs.look()
        dropped = running.dropped
    print(f"\n{LINES_PER_S:,} documents of {len(text)} bytes a second for {LINES_S:.0f} s")
    tell("arrived", "lines/s", [counted / ours.seconds])
    tell("dropped", "lines", [float(dropped)])
    tell("this side", "% of a core", [ours.cpu_pct()], 1)
    tell("its runner", "% of a core", [theirs.cpu_pct()], 1)


async def deployments(lab: Lab) -> None:
    """A machine that already has everything, with a new connection each time."""
    host = lab.hosts[0]
    entry = Catalogue.load()["gevent-pywsgi"]
    log_in, agents, servers = [], [], []
    for _ in range(ROUNDS):
        began = time.monotonic()
        machine = await open_ssh(profile_of(host))
        log_in.append(time.monotonic() - began)
        began = time.monotonic()
        fleet = await AgentFleet.start([Client(machine)])
        agents.append(time.monotonic() - began)
        await fleet.close()
        began = time.monotonic()
        deployment = await deploy(machine, entry, host=machine.bind)
        servers.append(time.monotonic() - began)
        await deployment.stop()
        await machine.close()
    print(f"\ndeployments, {ROUNDS} times; the first one brought what was missing")
    for what, values in (("log in", log_in), ("agent", agents), (entry.name, servers)):
        tell(f"{what}, the first", "s", values[:1], 2)
        tell(f"{what}, again", "s", values[1:], 2)


async def cuts(lab: Lab) -> None:
    """From the cut until every waiter gets an error."""
    host = lab.hosts[0]
    faults = {
        "cable pulled": (host.cut, host.heal),
        "black hole": (host.black_hole, host.end_black_hole),
    }
    print("\nuntil a cut is noticed")
    for name, (begin, end) in faults.items():
        noticed = []
        for _ in range(3):
            async with opened([host]) as machines:
                ((_, machine),) = machines
                waiting = await machine.start(Command([*machine.python, "-c", "input()"]))
                begin()
                began = time.monotonic()
                try:
                    with contextlib.suppress(PongbenchError):
                        await waiting.wait()
                    noticed.append(time.monotonic() - began)
                finally:
                    end()
        tell(name, "s", noticed, 2)


class Spent:
    """CPU time of a process from now to the last reading; its main thread, in nanoseconds."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._begun = self._last = (time.monotonic(), self._cpu_s())

    def look(self) -> None:
        self._last = (time.monotonic(), self._cpu_s())

    @property
    def seconds(self) -> float:
        return self._last[0] - self._begun[0]

    def cpu_pct(self) -> float:
        return 100 * (self._last[1] - self._begun[1]) / self.seconds

    def _cpu_s(self) -> float:
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) / 1e9


def process(host: Host, part: str) -> int:
    (pid,) = [pid for pid, command in host.processes().items() if part in command]
    return pid


def runner(host: Host) -> int:
    """Of guardian and runner the one whose parent the other is."""
    pids = [pid for pid, command in host.processes().items() if "base64" in command]
    parents = {
        pid: int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        for pid in pids
    }
    (found,) = [pid for pid, parent in parents.items() if parent in pids]
    return found


@contextlib.asynccontextmanager
async def opened(hosts: Sequence[Host]) -> AsyncIterator[list[tuple[Host, SshMachine]]]:
    machines = [(host, await open_ssh(profile_of(host))) for host in hosts]
    try:
        yield machines
    finally:
        for _, machine in machines:
            await machine.close()


def tell(what: str, unit: str, values: Sequence[float], digits: int = 0) -> None:
    middle = statistics.median(values)
    text = f"  {what:26}{middle:9,.{digits}f} {unit}"
    if len(values) > 1:
        low, high = min(values), max(values)
        text = f"{text:52}({low:,.{digits}f} to {high:,.{digits}f})"
    print(text, flush=True)


def nobodys_home(folder: Path) -> None:
    """A user without keys, agent or keyring; downloads of the lab are kept."""
    (folder / ".ssh").mkdir()
    (folder / "pongbench").mkdir()
    (TOOLS / "cache").mkdir(parents=True, exist_ok=True)
    (folder / "pongbench" / "cache").symlink_to(TOOLS / "cache")
    os.environ["HOME"] = str(folder)
    os.environ["PONGBENCH_HOME"] = str(folder / "pongbench")
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    os.environ.pop("SSH_AUTH_SOCK", None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
