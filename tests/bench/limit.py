"""The verdicts of every load tool on a server that answers 200 calls a second at most: below its
limit, and beyond.

The server sleeps for 5 ms over each call, one after another (tests/planted/server.py). The open
loops (the agent, httperf, Tsung, Locust) offer rates, the closed loops (the agent, ab, wrk)
concurrent connections, with a timeout of 1 s. All runs are recorded as usual, and what is printed
is read of the sessions. A tool that is missing is fetched into a folder that is then removed. As
root, what is measured comes before all other programs.

    python tests/bench/limit.py [rates] [locust] [connections] [kept] [kept10]    all by default
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from planted.ground import Ground, NoGround
from planted.trials import written

from workbench.analysis.summary import summarise
from workbench.consent import ForeignCode
from workbench.plan.model import Plan
from workbench.run.engine import Consents, Engine
from workbench.sessions.reading import read_session
from workbench.sessions.recorder import Recorder
from workbench.workloads.registry import workload

MODE = "serial:0.005"
VISITOR = str(Path(__file__).with_name("visitor.py"))
RATES: dict[str, Any] = {"rates": [70.0, 150.0, 400.0, 800.0], "seconds": 1.5}
CONNECTIONS: dict[str, Any] = {"concurrency": [1, 8, 64, 400], "seconds": 8.0}
PONG = {"protocol": "pong", "timeout_s": 1.0}
HTTP = {"protocol": "http/1.0", "timeout_s": 1.0}
KEPT = {"protocol": "http/1.1", "timeout_s": 1.0, "calls_per_connection": 100}
LOCUST = {"protocol": "locust", "locustfile": VISITOR, "timeout_s": 1.0}
RUNS: dict[str, tuple[list[str], dict[str, Any], dict[str, Any]]] = {
    "rates": (["agent", "httperf", "tsung"], RATES, {**PONG, "arrivals": "poisson"}),
    "locust": (["locust"], RATES, LOCUST),
    "connections": (["agent", "ab"], CONNECTIONS, {**HTTP, "mode": "closed"}),
    "kept": (["agent", "wrk"], CONNECTIONS, {**KEPT, "mode": "closed"}),
    "kept10": (["agent", "ab"], CONNECTIONS, {**KEPT, "mode": "closed", "protocol": "http/1.0"}),
}
"""By name: tools, keys of the plan, and of its workload."""


async def agreed(code: ForeignCode) -> bool:
    return True


async def run(name: str, folder: Path) -> None:
    tools, keys, of_workload = RUNS[name]
    plan = Plan(
        servers=["planted"],
        load_tool=tools[0],
        with_=tools[1:],
        workload=workload(**of_workload),
        warm_up=None,
        calibrate=False,
        looks=1,
        give_up=None,
        cool_down_s=2.0,
        **keys,
    )
    file = folder / "session.yaml"
    with contextlib.closing(Recorder(file)) as recorder:
        consents = Consents(install=True, run_foreign=agreed)
        engine = Engine(plan, [written(folder / "planted", MODE)], recorder, consents=consents)
        await engine.run()
    print(f"\n{name}")
    for series in summarise(read_session(file).documents).servers.values():
        for stop in series.stops:
            counts = stop.counts
            lost = f"{counts.scheduled - counts.succeeded:,} of {counts.scheduled:,}"
            codes = " ".join(finding["code"] for finding in stop.findings)
            times = stop.service_us
            found = f"{stop.replies_per_s:8.1f}/s" + (
                f"{times.p50 / 1000:9.1f} ms" if times else ""
            )
            print(f"{stop.load_tool:10}{stop.x:8g}{lost:>20}{found}  {stop.verdict}  {codes}")
        print(f"{'':10}sustains {series.knee:g}/s" if series.knee else f"{'':10}no limit stated")


def main(wanted: list[str]) -> None:
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        os.environ["PONGBENCH_HOME"] = home
        try:
            ground = Ground()
        except NoGround as error:
            print(f"Other programs may disturb: {error}")
        else:
            stack.callback(ground.close)
            stack.enter_context(ground.undisturbed())
        for name in wanted or RUNS:
            (folder := Path(home, name)).mkdir()
            asyncio.run(run(name, folder))


if __name__ == "__main__":
    main(sys.argv[1:])
