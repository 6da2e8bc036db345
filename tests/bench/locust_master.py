"""Locust's own engine:  make bench BENCH=locust_master ARGS="many 500"

many N      N simulated workers report to the real master: CPU, memory, delay
            (RATE=200: requests per second of each worker; USERS=2000 of each; SECONDS=60, of which
            20 for the users to start)
one         a real worker: memory of each user, CPU time of each request (USERS=5000)
turns       the same locustfile, users and server by `locust` alone and by Pongbench, in turns
            (ROUNDS=5, USERS=500, SECONDS=30)
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

sys.path[:0] = [str(Path(__file__).parents[2])]

from workbench.analysis import histogram
from workbench.load.base import Client, PointSpec
from workbench.load.events import LoadWindow
from workbench.load.locust import MASTER
from workbench.machines.bundle import Brought, agent_place
from workbench.machines.local import open_local
from workbench.workloads.locust.declaration import DECLARATION, LocustWorkload

PORT = 15_557
FAKES = Path(__file__).with_name("locust_fakes.py")
LOCUSTFILE = """\
from locust import FastHttpUser, between, task


class Visitor(FastHttpUser):
    wait_time = between(0.5 * {wait}, 1.5 * {wait})  # the same for all would keep users in step

    @task(3)
    def page(self):
        self.client.get("/", name="page")

    @task
    def item(self):
        self.client.get("/?item", name="item")
"""
CLOCK_HZ = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def setting(name: str, value: int) -> int:
    return int(os.environ.get(name, value))


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_HZ


def rss_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@asynccontextmanager
async def fleet(
    folder: Path,
    *,
    wait: float,
    workers: int,
    joining: int = 0,
    spawn_s: float = 5.0,
    web_port: int = 0,
) -> AsyncIterator[tuple[asyncio.Task[Any], dict[str, Any], str]]:
    """A master with `workers` of ours; as a task, because others have to join. Yields it, the
    workload's options, and where Locust is."""
    (folder / "users.py").write_text(LOCUSTFILE.format(wait=wait))
    workload = LocustWorkload(
        locustfile=str(folder / "users.py"),
        mode="closed",
        engine="locust",
        spawn_s=spawn_s,
        expect_workers=joining,
        master=f"127.0.0.1:{PORT}",
        web_port=web_port,
    )
    machine = await open_local()
    brought = DECLARATION.brought(workload)
    client = Client(machine, brought=brought, workers=workers, nofile=20_000)
    place = await agent_place(machine, "locust", brought)
    starting = asyncio.create_task(MASTER.start([client]))
    try:
        yield starting, DECLARATION.driven(workload, {}), place
    finally:
        load = await starting
        await load.close()
        await machine.close()


def point(port: int, options: dict[str, Any], users: int, seconds: float) -> PointSpec:
    return PointSpec(
        host="127.0.0.1",
        port=port,
        workload="locust",
        options=options,
        mode="closed",
        concurrency=users,
        seconds=seconds,
    )


async def many(workers: int) -> None:
    seconds, rate = setting("SECONDS", 60), setting("RATE", 200)
    users = setting("USERS", 2_000) * workers
    with tempfile.TemporaryDirectory() as name:
        async with fleet(Path(name), wait=10, workers=1, joining=workers, spawn_s=20) as (
            at,
            options,
            place,
        ):
            fakes = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", str(FAKES), place, str(PORT), str(workers), str(rate))
            )
            load = await at
            (master,) = children(load._master.process.pid)
            for pid in (0, master, fakes.pid):
                with suppress(PermissionError):  # As root before most other programs.
                    os.setpriority(os.PRIO_PROCESS, pid, -15)
            delays: list[float] = []
            began = 0.0

            def started(at_us: int) -> None:
                nonlocal began
                began = at_us / 1e6

            def take(window: LoadWindow) -> None:
                delays.append(time.monotonic() - began - (window.index + 1) * 0.2)

            before, ours = cpu_s(master), time.process_time()
            spec = point(9, options, users, seconds)
            report = await load.run(spec, started=started, on_window=take)
            took = time.monotonic() - began
            print(
                f"{workers} workers, {users:,} users, {rate} requests/s each:"
                f" {report.counts.scheduled / took:,.0f}/s counted;"
                f" master {100 * (cpu_s(master) - before) / took:.0f} % of a core,"
                f" {rss_mb(master):.0f} MB;"
                f" Pongbench {100 * (time.process_time() - ours) / took:.0f} %;"
                f" windows come {statistics.median(delays):.2f} s late, at most"
                f" {max(delays):.2f} s; {len(report.complaints)} complaints"
            )
            for each in report.complaints[:3]:
                print(" ", each.text())
        await fakes.wait()


@asynccontextmanager
async def answering() -> AsyncIterator[int]:
    """A server that answers after 20 ms, in a process of its own."""
    program = (
        "import asyncio\n"
        "async def answer(r, w):\n"
        "  try:\n"
        "    while await r.readuntil(b'\\r\\n\\r\\n'):\n"
        "      await asyncio.sleep(0.02)\n"
        "      w.write(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')\n"
        "  except Exception: w.close()\n"
        "async def main():\n"
        "  s = await asyncio.start_server(answer, '127.0.0.1', 0, backlog=1000)\n"
        "  print(s.sockets[0].getsockname()[1], flush=True)\n"
        "  await s.serve_forever()\n"
        "asyncio.run(main())\n"
    )
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout
    try:
        yield int(await server.stdout.readline())
    finally:
        server.kill()
        await server.wait()


async def one() -> None:
    users, seconds = setting("USERS", 5_000), setting("SECONDS", 40)
    with tempfile.TemporaryDirectory() as name:
        async with (
            answering() as port,
            fleet(Path(name), wait=users / 200, workers=1, spawn_s=20) as (at, options, _),
        ):
            load = await at
            (parent,) = [each._process.pid for each in load._started]
            (worker,) = children(parent)
            before, empty = cpu_s(worker), rss_mb(worker)
            spec = point(port, options, users, seconds)
            run = asyncio.create_task(
                load.run(spec, started=lambda at: None, on_window=lambda window: None)
            )
            await asyncio.sleep(seconds - 2)
            full = rss_mb(worker)
            report = await run
            assert not report.complaints, report.complaints
            print(
                f"{users:,} users: {empty:.0f} MB without, {full:.0f} MB with them:"
                f" {(full - empty) * 1000 / users:.1f} KB each;"
                f" {1e6 * (cpu_s(worker) - before) / report.counts.scheduled:.0f} µs of CPU time"
                f" for each of {report.counts.scheduled:,} requests"
            )


async def turns() -> None:
    rounds, users, seconds = setting("ROUNDS", 5), setting("USERS", 500), setting("SECONDS", 30)
    differences = []
    with tempfile.TemporaryDirectory() as name:
        for number in range(rounds):
            async with answering() as port:
                order = (alone, ours) if number % 2 else (ours, alone)
                found = {}
                for each in order:
                    found[each.__name__] = await each(Path(name), port, users, seconds)
            (rate, median), (its_rate, its_median) = found["ours"], found["alone"]
            differences.append(100 * (rate / its_rate - 1))
            print(
                f"Locust alone {its_rate:.1f}/s, median {its_median:g} ms;"
                f" Pongbench {rate:.1f}/s, median {median:.2f} ms; {differences[-1]:+.2f} %"
            )
    print(f"median of the differences {statistics.median(differences):+.2f} %")


async def ours(folder: Path, port: int, users: int, seconds: int) -> tuple[float, float]:
    """Requests per second and the median in ms, of the time when all users were there."""
    windows: list[LoadWindow] = []
    async with fleet(folder, wait=1, workers=2, web_port=PORT + 1) as (at, options, _):
        load = await at
        spec = point(port, options, users, seconds + 6)
        report = await load.run(spec, started=lambda at: None, on_window=windows.append)
        page = f"http://127.0.0.1:{PORT + 1}/stats/requests"
        said = json.loads(await asyncio.to_thread(lambda: urlopen(page).read()))
        (total,) = [each for each in said["stats"] if each["name"] == "Aggregated"]
        exact = histogram.percentile(report.histograms.service, 0.5) or 0
        print(
            f"the same test on Locust's page: {total['num_requests']:,} requests, median"
            f" {total['median_response_time']:g} ms; recorded {report.counts.scheduled:,},"
            f" {exact / 1000:.2f} ms"
        )
    steady = [each for each in windows if 30 <= each.index < 30 + 5 * seconds]
    times = histogram.merge(each.service for each in steady)
    return sum(each.replies for each in steady) / seconds, (
        histogram.percentile(times, 0.5) or 0
    ) / 1000


async def alone(folder: Path, port: int, users: int, seconds: int) -> tuple[float, float]:
    machine = await open_local()
    place = await agent_place(machine, "locust", Brought())
    await machine.close()
    (folder / "users.py").write_text(LOCUSTFILE.format(wait=1))
    run = "import sys; sys.path[:0] = [sys.argv.pop(1)]; from locust.main import main; main()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-c", run, place, "-f", "users.py", "--headless", "--json"),
        *("--processes", "2", "-u", str(users), "-r", str(users / 5), "-t", f"{seconds + 6}s"),
        *("--host", f"http://127.0.0.1:{port}", "--reset-stats", "--loglevel", "ERROR"),
        "--only-summary",
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    text = output.decode()
    entries = json.loads(text[text.index("[\n") : text.rindex("]") + 1])
    times: Counter[float] = Counter()
    for entry in entries:
        times.update({float(ms): n for ms, n in entry["response_times"].items()})
    began = min(entry["start_time"] for entry in entries)
    ended = max(entry["last_request_timestamp"] for entry in entries)
    half, passed = times.total() / 2, 0
    for ms in sorted(times):
        passed += times[ms]
        if passed >= half:
            return times.total() / (ended - began), ms
    raise RuntimeError("no requests")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["many", *count]:
            asyncio.run(many(int(count[0]) if count else 500))
        case ["one"]:
            asyncio.run(one())
        case ["turns"]:
            asyncio.run(turns())
        case _:
            print(__doc__)
