"""Beyond what a server sustains: the same verdict from every load tool that can tell, and from
those that cannot, no verdict about its limit."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from planted.ground import Ground, NoGround
from planted.trials import written

from workbench.analysis.summary import Summary, summarise
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.sessions.reading import read_session
from workbench.sessions.recorder import Recorder
from workbench.workloads.registry import workload as a_workload

pytestmark = pytest.mark.alone

MODE = "serial:0.005"
"""5 ms of sleep for each call, one after another: at most 200 calls a second on any machine."""


@pytest.fixture(autouse=True)
def at_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a machine at rest, where control groups can be made."""
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    try:
        ground = Ground()
    except NoGround:
        yield
        return
    with ground.undisturbed():
        yield
    ground.close()


async def measured(folder: Path, tools: list[str], **keys: Any) -> Summary:
    """What a reader of the recorded session finds."""
    common: dict[str, Any] = {
        "servers": ["planted"],
        "seconds": 1.5,
        "warm_up": None,
        "calibrate": False,
        "cool_down_s": 0.1,
        "looks": 1,
        "give_up": None,
        "load_tool": tools[0],
        "with_": tools[1:],
    }
    plan = Plan(**common | keys)
    file = folder / "session.yaml"
    with contextlib.closing(Recorder(file)) as recorder:
        engine = Engine(plan, [written(folder / "planted", MODE)], recorder)
        assert (await engine.run()).status == "done"
    return summarise(read_session(file).documents)


async def test_open_loops_agree_on_a_limit_far_exceeded(tmp_path: Path) -> None:
    if not shutil.which("httperf"):
        pytest.skip("httperf is not installed")
    workload = a_workload(protocol="pong", timeout_s=1.0)
    found = await measured(tmp_path, ["agent", "httperf"], rates=[70.0, 800.0], workload=workload)
    for series in found.servers.values():
        below, beyond = series.stops
        assert below.counts.succeeded > 0.9 * below.counts.scheduled == 0.9 * 105, below
        assert beyond.counts.succeeded < 0.5 * beyond.counts.scheduled == 0.5 * 1_200
        # Where clients were late or other programs took CPU, nobody is blamed.
        codes = {finding["code"] for finding in beyond.findings}
        disturbed = codes & {"clients-late", "background-load"}
        assert beyond.verdict == ("inconclusive" if disturbed else "server-limited"), beyond
    agent, httperf = (found.servers[f"planted@{tool}"] for tool in ("agent", "httperf"))
    assert agent.all_not_checked is None
    assert httperf.all_not_checked is not None
    assert {"schedule", "queue", "client-cpu"} <= {*httperf.all_not_checked.data()["what"]}
