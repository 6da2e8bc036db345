"""The load tools by name. A new one is a file in this folder, and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import msgspec

from workbench.errors import BadInput
from workbench.formatting import known
from workbench.load import ab, fleet, h2load, httperf, locust, locust_master, tsung, wrk, wrk2
from workbench.load.base import Capabilities, Client, LoadTool
from workbench.messages import plans, tools
from workbench.plan.model import Plan
from workbench.servers.runtimes import Notify
from workbench.servers.runtimes.provide import provide
from workbench.workloads.registry import WORKLOADS

TOOLS: dict[str, LoadTool] = {
    tool.name: tool
    for tool in (
        fleet.TOOL,
        fleet.ZEROMQ,
        locust.TOOL,
        locust_master.TOOL,
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
    """Return the load tools of a run: the plan's, and our own where none can offer the rate of the
    warm-up. Raises BadInput for an unknown name."""
    tools = [load_tool(name) for name in plan.load_tools]
    own = load_tool(plan.declared.tool(plan.workload))
    rates = any("rate" in tool.capabilities.axes for tool in tools)
    return tools if plan.warming is None or rates else [*tools, own]


def problems(tool: LoadTool, plan: Plan, *, clients: int = 1) -> Iterator[plans.Problem]:
    """Return why a tool cannot offer a plan's load from this number of clients."""
    can, name = tool.capabilities, tool.label
    if plan.declared.key not in can.workloads:
        workload, *runs = (
            each.noun or each.label
            for each in (plan.declared, *(WORKLOADS[key] for key in can.workloads))
        )
        yield tools.ToolOfAnotherWorkload(tool=name, workload=workload, runs=runs)
        return
    axis: Literal["rate", "concurrency"] = "concurrency" if plan.closed else "rate"
    if axis not in can.axes:
        yield tools.ToolCannotVary(tool=name, axis=axis)
    most = plan.workers * clients
    if can.one_connection and any(n > most for n in plan.concurrency):
        yield tools.ToolWithOneConnection(tool=name, connections=most)
    if plan.closed and (end := "connections" if plan.connections else "seconds") not in can.ends:
        yield tools.ToolCannotEnd(tool=name, end=end, instead=can.ends[0])
    if tool.command is not None and plan.declared.secrets(plan.workload):
        yield tools.ToolShowsSecrets(tool=name)
    if plan.search and plan.search.p99_ms and "latency" not in can.reports:
        yield tools.ToolHasNoLatency(tool=name)
    if plan.search and len(plan.load_tools) > 1:
        yield tools.SearchWithOneTool()
    yield from _of_workload(can, name, plan)


def _of_workload(can: Capabilities, name: str, plan: Plan) -> Iterator[plans.Problem]:
    """Return which keys of the workload, and which lengths, a tool has no option for."""
    workload, given = plan.workload, msgspec.structs.asdict(plan.workload)
    if can.protocols and workload.protocol not in can.protocols:
        speaks = list(can.protocols)
        yield tools.ToolProtocol(tool=name, protocol=workload.protocol, speaks=speaks)
    if can.whole_seconds:
        lengths = {"seconds": plan.seconds, "workload.timeout_s": workload.timeout_s}
        for key, seconds in lengths.items():
            if seconds and seconds != int(seconds):
                yield tools.ToolWholeSeconds(tool=name, key=key)
    for lacking in can.lacks:
        if given.get(lacking) not in (None, 0, "", [], _UNUSED.get(lacking)):
            yield tools.ToolLacks(tool=name, key=lacking)
    for key, value in can.only.items():
        thinks = key != "think_times" or workload.think_time_s
        if thinks and given.get(key, value) != value:
            yield tools.ToolOnly(tool=name, key=key, value=value)
    if can.most_open:
        calls = workload.calls_per_connection
        users_per_s = max(plan.rates_per_s, default=0.0) / (calls if plan.unit == "requests" else 1)
        most, stay_s = can.most_open * plan.workers, (calls - 1) * workload.think_time_s
        if users_per_s * stay_s > most:
            open_at_once = round(users_per_s * stay_s)
            yield tools.ToolThinksTooLong(tool=name, connections=open_at_once, most=most)


_UNUSED: dict[str, object] = {"pipeline": 1, "tls": "none"}
"""Values of a workload's keys with which a tool need not have them."""


async def equipped(
    tool: LoadTool, clients: Sequence[Client], *, install: bool = False, notify: Notify = print
) -> list[Client]:
    """Return the clients with the programs that a tool needs. `install`: whether missing ones may
    be unpacked there. Raises MissingPrograms without that consent, PongbenchError where a program
    cannot be provided."""
    return [
        replace(
            client,
            programs=await provide(client.machine, tool.needs, install=install, notify=notify),
        )
        for client in clients
    ]
