"""Cost of the bundle compared with the source: `python tests/bench/bundle.py [STARTS]`, 4 minutes.

Of `dist/pongbench`, which `make package` builds, and this checkout, in turns.

*Load agent.* Both agents are started and wait on one core; a null server has another. Points of
4,000 connections at 10,000/s are given to them in the order source, bundle, bundle, source, then
the other way round, so that drift cancels out. What counts is not the clock but the CPU time of
agent and worker, in nanoseconds, from /proc/PID/schedstat. Eight such rounds make one ratio, their
median; then both agents are restarted, because where a process happens to lie in memory is worth
a percent or two and stays with it. Reported is the median of the starts' ratios and its interval by
rank. Of the program's own share, without the kernel, the ticks of all points are printed (a tick is
10 ms), and, where they are counted (on few virtual machines), its instructions.

*First paint.* From the start of the process until the window is on the screen, offscreen, by the
clock and in CPU time of the process, in the same turns.

The agents run on one and the same program when the bundle was built on this machine: it brings the
distribution's `python3`. The window does not: PyInstaller loads the interpreter as libpython3.so,
which is compiled to lie anywhere. Needs two cores; nothing else should run.
"""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "process"))

from agents import ROOT, Agent, agent, target

from workbench.analysis.knee import ranks

BUNDLE = ROOT / "dist" / "pongbench" / "pongbench"
INSIDE = BUNDLE.with_name("_internal")
# -P: the agent is not to come from the folder it is started in, which is this checkout.
AGENTS = {
    name: ("env", f"PYTHONPATH={place}", str(python), "-P", "-m", "workbench.remote.agent")
    for name, place, python in (
        ("source", ROOT, sys.executable),
        ("bundle", INSIDE, INSIDE / "bin" / "python3"),
    )
}
PROGRAMS = {"source": [sys.executable], "bundle": [str(BUNDLE), "--python"]}
TURNS = (("source", "bundle", "bundle", "source"), ("bundle", "source", "source", "bundle"))
STARTS = 12
ROUNDS = 8
PAINTS = 8
RATE = 10_000
CONNECTIONS = 4_000
WITHIN_S = 60.0
TICK_S = 1 / os.sysconf("SC_CLK_TCK")

Costs = dict[str, list[float]]
"""By program, in the order they were measured."""

PAINT = """
import time
from PySide6.QtCore import QTimer
from app.application import run
from app.shell.main_window import MainWindow
paint = MainWindow.paintEvent
def first(window, event):
    paint(window, event)
    MainWindow.paintEvent = paint
    print(time.process_time(), flush=True)
    QTimer.singleShot(0, window.leave)
MainWindow.paintEvent = first
run()
"""


def main() -> int:
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else STARTS
    if not BUNDLE.exists() or len(os.sched_getaffinity(0)) < 2:
        print("needs two cores and dist/pongbench, which `make package` builds")
        return 1
    paints()
    server_core, core = sorted(os.sched_getaffinity(0))[:2]
    with target("null", wrap=("taskset", "-c", str(server_core))) as null:
        loads(starts, null.port, core)
    return 0


def loads(starts: int, port: int, core: int) -> None:
    """The agents' CPU for each connection to the null server."""
    ratios: list[float] = []
    us: Costs = {name: [] for name in AGENTS}
    own_s = dict.fromkeys(AGENTS, 0.0)
    for start in range(starts):
        with both(core) as running:
            for each in running.values():
                load(each, port)  # what happens once: files read, caches filled
            before = {name: user_s(each) for name, each in running.items()}
            found = [quad(running, port, turn) for turn in range(ROUNDS)]
            for name, each in running.items():
                own_s[name] += user_s(each) - before[name]
                us[name] += [cost for one in found for cost in one[name]]
            ratios.append(statistics.median(sum(f["bundle"]) / sum(f["source"]) for f in found))
            if start == starts - 1:
                tell_instructions(running, port)
    medians = ", ".join(f"{name} {statistics.median(costs):.2f}" for name, costs in us.items())
    print(f"agent's CPU, us a connection: {medians}; bundle / source {interval(ratios)}")
    points = starts * ROUNDS * 2
    shares = {name: 1e6 * s / points / CONNECTIONS for name, s in own_s.items()}
    reported = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
    print(f"  of it outside the kernel: {reported}; {shares['bundle'] / shares['source']:.3f}")


def quad(running: dict[str, Agent], port: int, turn: int) -> Costs:
    """Microseconds per connection, two of each, in alternating order."""
    costs: Costs = {name: [] for name in running}
    for name in TURNS[turn % 2]:
        before = cpu_ns(running[name])
        replies = load(running[name], port)
        costs[name].append((cpu_ns(running[name]) - before) / replies / 1e3)
    return costs


@contextmanager
def both(core: int) -> Iterator[dict[str, Agent]]:
    wrap = ("taskset", "-c", str(core))
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(agent(command=command, wrap=wrap))
            for name, command in AGENTS.items()
        }


def load(running: Agent, port: int) -> int:
    """Run one point; return its replies."""
    outcome = running.run(
        port, protocol="pong", rate_per_s=RATE, connections=CONNECTIONS, timeout_s=10.0
    )
    replies = outcome.total("replies")
    if replies < 0.99 * CONNECTIONS:
        raise SystemExit(f"only {replies} of {CONNECTIONS} were answered: {outcome.errors}")
    return replies


def family(running: Agent) -> list[int]:
    """Process ids of the agent and its worker."""
    pid = running.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def cpu_ns(running: Agent) -> int:
    """CPU time since start, kernel included."""
    return sum(
        int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in family(running)
    )


def user_s(running: Agent) -> float:
    """User CPU time since start, by ticks."""
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2] for pid in family(running)]
    return sum(int(stat.split()[11]) for stat in stats) * TICK_S


def tell_instructions(running: dict[str, Agent], port: int) -> None:
    counts = {name: instructions(each, port) for name, each in running.items()}
    if source := counts["source"]:
        reported = ", ".join(f"{name} {count:,.0f}" for name, count in counts.items())
        ratio = counts["bundle"] / source
        print(f"agent's instructions outside the kernel, a connection: {reported}; {ratio:.3f}")
    else:
        print("agent's instructions: this kernel, or this machine, does not count them")


def instructions(running: Agent, port: int, event: str = "instructions:u") -> float:
    """Instructions per connection in one point; 0 where they are not counted."""
    pids = ",".join(map(str, family(running)))
    try:
        watch = subprocess.Popen(
            ["perf", "stat", "-x", ";", "-e", event, "-p", pids], stderr=subprocess.PIPE, text=True
        )
    except FileNotFoundError:
        return 0.0
    time.sleep(0.5)  # perf does not report when it has started; before and after, nothing runs
    replies = load(running, port)
    watch.send_signal(signal.SIGINT)
    message = watch.communicate(timeout=WITHIN_S)[1]
    counted = re.search(r"^([\d.]+);", message, re.MULTILINE)
    return float(counted[1]) / replies if counted else 0.0


def paints() -> None:
    ratios: dict[str, list[float]] = {"ms": [], "ms of CPU": []}
    found: dict[str, Costs] = {what: {name: [] for name in PROGRAMS} for what in ratios}
    for name in PROGRAMS:
        paint(name)  # fills the disk's cache
    for turn in range(PAINTS):
        four = [(name, paint(name)) for name in TURNS[turn % 2]]
        for number, what in enumerate(ratios):
            sums = dict.fromkeys(PROGRAMS, 0.0)
            for name, reported in four:
                found[what][name].append(reported[number])
                sums[name] += reported[number]
            ratios[what].append(sums["bundle"] / sums["source"])
    for what, costs in found.items():
        medians = ", ".join(f"{name} {statistics.median(all_):.0f}" for name, all_ in costs.items())
        print(f"first paint, {what}: {medians}; bundle / source {interval(ratios[what])}")


def paint(name: str) -> tuple[float, float]:
    """Milliseconds from program start to first paint: elapsed time, CPU time."""
    with tempfile.TemporaryDirectory() as home:
        script = Path(home, "paint.py")
        script.write_text(PAINT)
        env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PONGBENCH_HOME": home}
        begun = time.perf_counter()
        with subprocess.Popen(
            [*PROGRAMS[name], str(script)], cwd=ROOT, env=env, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            line = process.stdout.readline()
            took = time.perf_counter() - begun
            process.wait(WITHIN_S)
        if process.returncode or not line:
            raise SystemExit(f"{name} ended with {process.returncode} and said {line!r}")
        return took * 1e3, float(line) * 1e3


def interval(ratios: list[float]) -> str:
    """Their median and its confidence interval by rank."""
    out, coverage = ranks(len(ratios))
    low, high = sorted(ratios)[out], sorted(ratios)[-1 - out]
    sure = f", {coverage:.0%}" if coverage else ""
    return f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f}{sure}, of {len(ratios)})"


if __name__ == "__main__":
    sys.exit(main())
