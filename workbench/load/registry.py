"""The load tools by name. A new one is a file in this folder, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec

from workbench.errors import BadInput
from workbench.formatting import known
from workbench.load import ab, fleet, h2load, httperf, locust, tsung, wrk, wrk2
from workbench.load.base import Capabilities, Client, LoadTool, PointSpec
from workbench.load.merge import shared
from workbench.messages.plans import Untold, Warned, warning
from workbench.messages.problems import Problem, problem
from workbench.plan.editing import Draft
from workbench.plan.model import Plan
from workbench.plan.schedule import PointPlan, points
from workbench.servers.runtimes import Notify
from workbench.servers.runtimes.provide import provide
from workbench.workloads.options import fields
from workbench.workloads.registry import WORKLOADS

TOOLS: dict[str, LoadTool] = {
    tool.name: tool
    for tool in (
        fleet.TOOL,
        fleet.ZEROMQ,
        locust.TOOL,
        locust.MASTER,
        wrk.TOOL,
        wrk2.TOOL,
        ab.TOOL,
        httperf.TOOL,
        h2load.TOOL,
        h2load.TOOL_H1,
        tsung.TOOL,
    )
}


def load_tool(name: str) -> LoadTool:
    """Return a load tool. Raises BadInput for an unknown name."""
    if name not in TOOLS:
        raise BadInput(f"There is no load tool {name!r}. {known(list(TOOLS), 'load tool')}")
    return TOOLS[name]


def tools_for(plan: Plan) -> list[LoadTool]:
    """Return a run's load tools: the plan's, and one with rates to warm up. Raises BadInput."""
    tools = [load_tool(name) for name in plan.load_tools]
    own = load_tool(plan.declared.tool(plan.workload))
    rates = any("rate" in tool.capabilities.axes for tool in tools)
    return tools if plan.warming is None or rates else [*tools, own]


def problems(tool: LoadTool, plan: Plan, *, clients: int = 1) -> Iterator[Problem]:
    """Return why a tool cannot offer a plan's load from this number of clients."""
    can, name = tool.capabilities, tool.label
    if plan.declared.key not in can.workloads:
        workload, *runs = (
            each.noun or each.label
            for each in (plan.declared, *(WORKLOADS[key] for key in can.workloads))
        )
        yield problem("tool-of-another-workload", tool=name, workload=workload, runs=runs)
        return
    axis: Literal["rate", "concurrency"] = "concurrency" if plan.closed else "rate"
    if axis not in can.axes:
        yield problem("tool-cannot-vary", tool=name, axis=axis)
    most = plan.workers * clients
    if plan.closed and can.one_connection and any(n > most for n in plan.concurrency):
        yield problem("tool-with-one-connection", tool=name, connections=most)
    if plan.closed and (end := "connections" if plan.connections else "seconds") not in can.ends:
        yield problem("tool-cannot-end", tool=name, end=end, instead=can.ends[0])
    if tool.command is not None and plan.declared.secrets(plan.workload):
        yield problem("tool-shows-secrets", tool=name)
    if plan.search and plan.search.p99_ms and "latency" not in can.reports:
        yield problem("tool-has-no-latency", tool=name)
    if plan.search and len(plan.load_tools) > 1:
        yield problem("search-with-one-tool")
    yield from _of_workload(can, name, plan)


def _of_workload(can: Capabilities, name: str, plan: Plan) -> Iterator[Problem]:
    """Return which keys of the workload, and which lengths, a tool has no option for."""
    workload, given = plan.workload, msgspec.structs.asdict(plan.workload)
    if can.protocols and workload.protocol not in can.protocols:
        speaks = list(can.protocols)
        yield problem(
            "tool-protocol", tool=name, protocol=workload.protocol, speaks=speaks, best=speaks[-1]
        )
    if can.whole_seconds:
        lengths = {"seconds": plan.seconds, "workload.timeout_s": workload.timeout_s}
        for key, seconds in lengths.items():
            if seconds and seconds != int(seconds):
                yield problem("tool-whole-seconds", tool=name, key=key)
    usual = {field.key: field.default for field in fields(type(workload))}
    for lacking in can.lacks:
        value: Any = given.get(lacking)
        if value != usual.get(lacking) and (lacking != "expect_status" or value >= 300):
            yield problem("tool-lacks", tool=name, key=lacking)
    for key, value in can.only.items():
        thinks = key != "think_times" or workload.think_time_s
        if thinks and given.get(key, value) != value:
            yield problem("tool-only", tool=name, key=key, value=value)
    if can.most_open:
        calls = workload.calls_per_connection
        users_per_s = max(plan.rates_per_s, default=0.0) / (calls if plan.unit == "requests" else 1)
        most, stay_s = can.most_open * plan.workers, (calls - 1) * workload.think_time_s
        if users_per_s * stay_s > most:
            open_at_once = round(users_per_s * stay_s)
            yield problem("tool-thinks-too-long", tool=name, connections=open_at_once, most=most)


async def equipped(
    tool: LoadTool, clients: Sequence[Client], *, install: bool = False, notify: Notify = print
) -> list[Client]:
    """Return the clients with the programs that a tool needs. `install`: whether missing ones may
    be unpacked there. Raises MissingPrograms without that consent, and PongbenchError."""
    return [
        replace(
            client,
            programs=await provide(client.machine, tool.needs, install=install, notify=notify),
        )
        for client in clients
    ]


def remarks(plan: Plan, *, clients: int = 1) -> Iterator[Warned]:
    """Return what to know about the plan's load tools. Raises BadInput for an unknown one."""
    for name in plan.load_tools:
        tool = load_tool(name)
        if untold := cannot_tell(tool.capabilities, plan):
            yield warning("tool-cannot-tell", tool=tool.label, untold=untold)
        if tool.capabilities.most_open:
            most = tool.capabilities.most_open * plan.workers
            yield warning("tool-opens-few", tool=tool.label, connections=most)
        if "own-pace" in tool.capabilities.traits and not plan.closed:
            yield warning("tool-has-own-pace", tool=tool.label)
        if plan.concurrency and not plan.closed and "fixed" not in tool.capabilities.traits:
            yield warning("tool-connects-as-due", tool=tool.label)
        if tool.command and not plan.declared.secrets(plan.workload):
            yield example(tool, tool.command, plan, clients)
    yield from plan.declared.remarks(plan.workload)


def with_tools(draft: Draft, *, clients: int) -> Draft:
    """Add to a draft what its load tools cannot offer, as a fault, and what they cannot tell."""
    plan = draft.plan
    if plan is None or draft.budget is None:
        return draft
    faults: dict[str, list[str]] = {}
    try:
        for tool in [load_tool(name) for name in plan.load_tools]:
            for problem in problems(tool, plan, clients=clients):
                faults.setdefault(problem.keys[-1], []).append(problem.text())
    except BadInput as unknown:
        faults = {"load_tool": [str(unknown)]}
    if faults:
        said = {key: " ".join(dict.fromkeys(texts)) for key, texts in faults.items()}
        return replace(draft, faults={**said, **draft.faults})
    return replace(draft, remarks=list(remarks(plan, clients=clients)))


def cannot_tell(can: Capabilities, plan: Plan) -> list[Untold]:
    """Return what of a plan stays unknown with such a tool."""
    several = any(point.workload.calls_per_connection > 1 for point in points(plan, ""))
    told: dict[Untold, bool] = {
        "latency": "latency" in can.reports,
        "lateness": "lateness" in can.reports or plan.closed,
        "windows": "windows" in can.reports,
        "percentiles": "percentiles" in can.reports
        and not ("of-connections" in can.traits and several),
        "connect": "connect" in can.reports,
        "first-byte": "connect" in can.reports,
        "replies": "replies" in can.reports,
        "queue": {"windows", "latency"} <= can.reports or plan.closed,
        "client-cpu": "polls" not in can.traits
        and not ("threads" in can.traits and plan.workers > 1),
        "client-limit": bool(plan.declared.null_server) or not plan.axis.calibrated,
        "conservation": "conservation" in can.reports,
    }
    return [what for what, known in told.items() if not known]


def example(
    tool: LoadTool, command: Callable[[PointSpec, int], str], plan: Plan, clients: int
) -> Warned:
    """Return the first command line of the plan's last point, as it will be recorded."""
    *_, last = points(plan, "")
    processes = clients * (1 if "threads" in tool.capabilities.traits else plan.workers)
    options = plan.declared.driven(last.workload, {})
    first, *others = shared(spec_of(plan, last, options, host="SERVER", port=80), processes)
    line, several = command(first, plan.workers), 1 + len(others) if others else 0
    return warning("tool-command", tool=tool.label, command=line, processes=several)


def spec_of(plan: Plan, point: PointPlan, options: dict[str, Any], **where: Any) -> PointSpec:
    """Return a point for a load tool. `where`: the server, and what is known of it."""
    kept = 0 if plan.closed else max(plan.concurrency, default=0)
    return PointSpec(
        workload=plan.declared.key,
        options=options,
        mode="closed" if point.concurrency else "open",
        rate_per_s=point.connection_rate_per_s,
        connections=point.connections,
        seconds=point.seconds,
        concurrency=point.concurrency or kept,
        held=point.workload.held,
        held_per_s=point.workload.held_per_s,
        ramp_s=point.workload.ramp_s,
        arrivals=point.workload.arrivals,
        seed=point.seed,
        calls_per_connection=point.workload.calls_per_connection,
        think_time_s=point.workload.think_time_s,
        think_times=point.workload.think_times,
        timeout_s=point.workload.timeout_s,
        **where,
    )
