"""A search for the peak compared with a full sweep of the same rates; the limits are planted.

`python tests/bench/search.py [SERVERS [FOLDER [KINDS]]]`: 20 servers by default, each swept and
then searched by the real engine, from 100/s to 955/s in steps of 15. Their limits are a clock's, a
core's, or vary randomly; some stall now and then. Where the limit is not a clock's, a second sweep
shows how far the first agrees with itself: a core whose speed varies has no limit to be found.
Needs root and two cores: what is measured comes before all other programs. Sessions stay in
FOLDER, if it is given; KINDS, separated by commas, leaves out all others.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from planted.ground import Ground

from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, PointStart, PointStop
from workbench.plan.model import Plan, Range, Search, WarmUp
from workbench.run.engine import Engine
from workbench.run.factory import Fleet
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.sessions.recorder import Recorder
from workbench.workloads.registry import workload

LOW, HIGH, STEP = 100.0, 955.0, 15.0
SECONDS = 1.2
KINDS = ("paced", "spins", "paced", "varies", "paced", "spins", "stalls")
SERVER = Path(__file__).parents[1] / "planted" / "server.py"


def main(count: int = 20, folder: str = "", kinds: str = ",".join(KINDS)) -> None:
    ground = Ground()
    within, shares, repeatable = [], [], []
    try:
        with tempfile.TemporaryDirectory() as home, ground.undisturbed():
            for number in range(count):
                rng = random.Random(number)
                kind, limit = KINDS[number % len(KINDS)], round(rng.uniform(130, 900))
                if kind not in kinds.split(","):
                    continue
                entry = server(Path(home, f"s{number}"), kind, limit)
                sweep_plan = plan(entry.id, rates=Range(from_=LOW, to=HIGH, step=STEP))
                search_plan = plan(entry.id, search=Search(from_=LOW, to=HIGH, step=STEP))
                plans = [sweep_plan, search_plan] + [sweep_plan] * (kind != "paced")
                swept, searched, *again = [asyncio.run(measured(p, entry, folder)) for p in plans]
                (knee, sweep_s, points), (peak, search_s, tests) = swept, searched
                near = within_a_step(knee, peak)
                within.append(near)
                shares.append(search_s / sweep_s)
                sweep = f"swept {knee or 0:5.0f} ({points} points, {sweep_s:.0f} s)"
                search = f"searched {peak or 0:5.0f} ({tests} points, {search_s:.0f} s"
                far = "" if near else ", more than a step apart"
                share = f"{100 * shares[-1]:.0f} %)"
                for second, *_ in again:
                    repeatable.append(within_a_step(knee, second))
                    far += f"; swept again {second or 0:.0f}"
                print(f"{kind:7}{limit:5}/s: {sweep}, {search}: {share}{far}", flush=True)
    finally:
        ground.close()
    print(
        f"{sum(within)} of {len(within)} within one step, at {100 * statistics.mean(shares):.0f} %"
        f" of the time ({100 * min(shares):.0f} to {100 * max(shares):.0f} %)"
    )
    print(f"{sum(repeatable)} of {len(repeatable)} swept twice within one step of themselves")


def within_a_step(one: float | None, other: float | None) -> bool:
    """Whether two limits are at most a step apart; None: below the lowest rate."""
    return abs((one or LOW - STEP) - (other or LOW - STEP)) <= STEP


def server(folder: Path, kind: str, limit: float) -> ServerEntry:
    folder.mkdir(parents=True)
    (folder / "server.py").write_bytes(SERVER.read_bytes())
    argument = 1 / limit if kind == "spins" else limit
    (folder / "server.yaml").write_text(
        f"name: {kind} {limit}\nfamily: socket\nprotocols: [pong, http/1.0]\n"
        f'command: ["{{python}}", server.py, "{kind}:{argument}", "{{host}}", "{{port}}",'
        ' "{backlog}"]\n'
    )
    return load_entry(folder)


def plan(server_id: str, **values: object) -> Plan:
    return Plan(
        name="Search and sweep",
        servers=[server_id],
        seconds=SECONDS,
        workload=workload(timeout_s=1.0),
        warm_up=WarmUp(rate_per_s=50, seconds=0.4),
        cool_down_s=0.1,
        calibrate=False,
        **values,  # type: ignore[arg-type]
    )


async def measured(plan: Plan, entry: ServerEntry, folder: str) -> tuple[float | None, float, int]:
    """(sustained rate, seconds from the first point to the last, points)."""
    documents: list[AnyDocument] = []
    kind = "search" if plan.search else "sweep"
    path = Path(folder, f"{entry.id}-{kind}-{time.time():.0f}.pong.yaml")
    recorder = Recorder(path) if folder else None

    def emit(document: AnyDocument) -> None:
        documents.append(document)
        if recorder:
            recorder(document)

    await Engine(plan, [entry], emit, fleet=Fleet()).run()
    if recorder:
        recorder.close()
    times = [d.t_us for d in documents if isinstance(d, PointStart | PointStop)]
    result = summarise(documents).servers[entry.id]
    return result.knee, (times[-1] - times[0]) / 1e6, len(result.stops)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]), *sys.argv[2:])
