"""Several load tools run every point in turns, and each has a series of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.load import ALL, Script, fake_tool
from fakes.run import a_plan, a_session

from app.charts.model import ChartModel
from tests.comparisons import changed, side
from workbench.analysis.summary import summarise
from workbench.documents import PointStart, PointStop, RunStart
from workbench.errors import BadInput
from workbench.load import registry
from workbench.load.registry import load_tool, problems, remarks, tools_for, with_tools
from workbench.messages.problems import problem
from workbench.plan.editing import Draft, examine, plan_data
from workbench.plan.model import Plan, Search, WarmUp
from workbench.plan.reading import read_plan, with_set
from workbench.results.comparison import compare
from workbench.results.conditions import conditions
from workbench.results.render.data import of_session
from workbench.run.factory import engine_for
from workbench.run.progress import RunProgress
from workbench.servers.catalogue import Catalogue
from workbench.workloads.registry import workload


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    slow, _ = fake_tool(Script(capacity=lambda x: min(x, 1_500)), ALL, name="slow")
    monkeypatch.setitem(registry.TOOLS, "slow", slow)


async def test_every_point_is_run_by_each_tool_and_no_tool_always_follows_the_same(
    tmp_path: Path,
) -> None:
    plan = a_plan(with_=["slow"], calibrate=True)
    documents = await a_session(plan, tmp_path)
    stops = [d for d in documents if isinstance(d, PointStop) and d.judged]
    order = [(s.server, s.x, s.load_tool) for s in stops]
    assert order == [
        (server, x, tool)
        for server in ("one", "two")
        for x, tools in ((1_000, ("fake", "slow")), (2_000, ("slow", "fake")))
        for tool in tools
    ]
    start = documents[0]
    assert isinstance(start, RunStart)
    assert start.load_tool == "fake and slow"
    assert [(s.key, s.label) for s in start.series[:2]] == [
        ("one@fake", "One, fake"),
        ("one@slow", "One, slow"),
    ]
    # Each is calibrated, and judged by its own client limit.
    ceilings = [d for d in documents if isinstance(d, PointStart) and d.purpose == "ceiling"]
    assert {point.load_tool for point in ceilings} == {"fake", "slow"}
    limits = {s.load_tool: s.evidence["ceiling_per_s"] for s in stops}
    assert limits["fake"] == 2_000 > limits["slow"] >= 1_000


async def test_each_tool_is_a_series_of_summary_charts_and_progress(tmp_path: Path) -> None:
    documents = await a_session(a_plan(with_=["slow"]), tmp_path)
    data = of_session(summarise(documents))
    assert list(data["servers"]) == ["one@fake", "one@slow", "two@fake", "two@slow"]
    fake, slow = data["servers"]["one@fake"], data["servers"]["one@slow"]
    assert (fake["server"], fake["load_tool"], fake["knee"]) == ("one", "fake", 2_000)
    assert (slow["server"], slow["load_tool"], slow["knee"]) == ("one", "slow", 1_000)
    assert {point["load_tool"] for point in slow["points"]} == {"slow"}
    model, progress = ChartModel(), RunProgress()
    model.expect(servers=[("one", "One"), ("two", "Two")])
    for document in documents:
        model(document)
        progress(document)
    assert list(model.series) == list(data["servers"])
    assert [len(series.stops) for series in model.series.values()] == [2, 2, 2, 2]
    assert progress.total == progress.done == 8


async def test_each_tool_is_a_server_of_a_comparison_with_what_was_deployed(tmp_path: Path) -> None:
    documents = await a_session(a_plan(with_=["slow"], servers=["one"]), tmp_path)
    sides = [side(tag, changed(documents, version=f"one {tag}")) for tag in "AB"]
    found = compare(sides)
    assert {each.key for each in found.contenders} == {
        "A/one@fake", "A/one@slow", "B/one@fake", "B/one@slow",
    }  # fmt: skip
    assert [each.text for each in conditions(sides).differing] == [
        "Version of One: A one A, B one B."
    ]


def test_a_tool_without_rates_leaves_the_warm_up_to_the_agent() -> None:
    closed = workload(protocol="http/1.1", mode="closed")
    usual = Plan(servers=["x"], workload=closed, concurrency=[4], seconds=1.0, load_tool="wrk")
    assert [tool.name for tool in tools_for(usual)] == ["wrk"]  # Without a rate there is none.
    plan = msgspec.structs.replace(usual, warm_up=WarmUp(rate_per_s=200))
    assert [tool.name for tool in tools_for(plan)] == ["wrk", "agent"]
    both = msgspec.structs.replace(plan, with_=["agent"])
    assert [tool.name for tool in tools_for(both)] == ["wrk", "agent"]


def test_a_search_is_by_one_tool() -> None:
    search = Search(from_=100, to=200, step=10)
    plan = Plan(servers=["x"], search=search, seconds=1.0, with_=["wrk"])
    assert problem("search-with-one-tool") in list(problems(load_tool("agent"), plan))
    limited = msgspec.structs.replace(plan, with_=[], load_tool="httperf")
    assert not list(problems(load_tool("httperf"), limited))
    limited = msgspec.structs.replace(limited, search=Search(from_=1, to=9, step=1, p99_ms=50))
    assert list(problems(load_tool("httperf"), limited)) == [
        problem("tool-has-no-latency", tool="httperf")
    ]
    assert not list(problems(load_tool("agent"), limited))


@pytest.mark.parametrize("tool", ["locust", "zeromq"])
def test_a_tool_of_another_workload_is_refused_and_never_replaced(
    tool: str, tmp_path: Path
) -> None:
    http = workload(protocol="http/1.1")
    plan = Plan(servers=["tornado-web"], workload=http, rates=[100], seconds=1.0, load_tool=tool)
    (found,) = problems(load_tool(tool), plan)
    assert found.code == "tool-of-another-workload"
    assert found.parameters["workload"] == "HTTP"
    with pytest.raises(BadInput, match="not HTTP; leave it out"):
        engine_for(plan, lambda document: None)
    file = tmp_path / "plan.yaml"
    file.write_text(
        f"servers: [tornado-web]\nworkload: {{protocol: http/1.1}}\nrates: [100]\nseconds: 1\n"
        f"load_tool: {tool}\n"
    )
    assert read_plan(file).load_tool == tool


def test_the_agent_stands_for_the_tool_of_the_workload() -> None:
    held = Plan(servers=["x"], workload=workload(protocol="zeromq"), rates=[9], seconds=1.0)
    assert held.load_tools == ["zeromq"] and not list(problems(load_tool("zeromq"), held))
    changed = with_set(held, ["protocol=http/1.1"])
    assert changed.load_tools == ["agent"]


def test_what_a_tool_does_not_report_and_its_command_are_known_before_the_run() -> None:
    closed = workload(protocol="http/1.1", mode="closed")
    plan = Plan(servers=["x"], workload=closed, concurrency=[1, 4], seconds=2.0, with_=["wrk"])
    untold, command = remarks(plan)
    assert untold.code == "tool-cannot-tell"
    assert untold.data()["untold"] == [
        "latency",
        "windows",
        "connect",
        "first-byte",
        "replies",
        "conservation",
    ]
    assert "wrk -t1 -c4 -d2s" in command.text()


def untold(tool: str, workers: int = 1, **fields: Any) -> set[str]:
    """What is said before the run to stay unknown with a tool at a rate."""
    load = workload(**{"protocol": "http/1.1"} | fields)
    plan = Plan(
        servers=["x"], workload=load, rates=[100], seconds=1.0, load_tool=tool, workers=workers
    )
    return {
        each
        for remark in remarks(plan)
        if remark.code == "tool-cannot-tell"
        for each in remark.data()["untold"]
    }


def test_what_stays_unknown_depends_on_the_plan() -> None:
    httperf = untold("httperf")
    assert {"lateness", "queue", "client-cpu", "conservation"} <= httperf
    assert "percentiles" not in httperf
    # Of several calls on a connection httperf prints an average.
    assert untold("httperf", calls_per_connection=2) == httperf | {"percentiles"}
    # Of a process with several threads only the sum of their CPU time is known.
    assert "client-cpu" not in untold("wrk2")
    assert untold("wrk2", workers=2) == untold("wrk2") | {"client-cpu"}
    locust = {"connect", "first-byte", "client-limit"}
    assert untold("locust", protocol="locust", locustfile="shop.py") == locust
    assert untold("agent") == set()


@pytest.mark.parametrize(
    ("tool", "clients", "said"),
    [
        ("httperf", 1, ["as 2 processes, the first as:", "--rate=50 --num-conns=100"]),
        ("httperf", 2, ["as 4 processes, the first as:", "--rate=25 --num-conns=50"]),
        # Its workers are threads of one process on each client.
        ("wrk", 1, ["wrk runs as:", "-t2 -c8"]),
        ("wrk", 2, ["as 2 processes, the first as:", "-t2 -c4"]),
        ("wrk", 9, ["as 8 processes, the first as:", "-t1 -c1"]),
    ],
)
def test_the_command_line_known_before_the_run_is_that_of_the_first_of_several_processes(
    tool: str, clients: int, said: list[str]
) -> None:
    axis: dict[str, Any] = {"rates": [100]}
    http = workload(protocol="http/1.1")
    if tool == "wrk":
        axis, http = {"concurrency": [8]}, msgspec.structs.replace(http, mode="closed")
    plan = Plan(servers=["x"], workload=http, seconds=2.0, load_tool=tool, workers=2, **axis)
    *_, command = remarks(plan, clients=clients)
    assert all(part in command.text() for part in said), command.text()


def test_a_draft_that_a_tool_cannot_offer_has_the_problem_at_its_field() -> None:
    facts = {"sysctls": {"net.ipv4.ip_local_port_range": "32768 60999"}}

    def draft(**changes: Any) -> Draft:
        plan = Plan(**{"servers": ["tornado-web"], "seconds": 1.0, "load_tool": "wrk"} | changes)
        return with_tools(examine(plan_data(plan), Catalogue.load(), facts), clients=1)

    http = workload(protocol="http/1.1")
    said = draft(rates=[100], workload=http).faults["load_tool"]
    assert said.startswith("wrk cannot vary the rate")
    closed = msgspec.structs.replace(http, mode="closed")
    found = draft(concurrency=[4], workload=closed)
    assert found.sound and len(found.remarks) == 2 and found.warnings == []
    assert draft(rates=[100], workload=http, load_tool="agent").remarks == []
