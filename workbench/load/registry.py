"""The load tools by name. A new one is a file in this folder, and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.errors import BadInput
from workbench.formatting import known
from workbench.load import ab, fleet, httperf, locust, tsung, wrk, zeromq
from workbench.load.base import Client, LoadTool
from workbench.plan.model import Plan
from workbench.servers.runtimes import Notify
from workbench.servers.runtimes.provide import provide

TOOLS: dict[str, LoadTool] = {
    tool.name: tool
    for tool in (
        fleet.TOOL,
        zeromq.TOOL,
        locust.TOOL,
        wrk.TOOL,
        ab.TOOL,
        httperf.TOOL,
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
    own = load_tool(plan.declared.load_tool)
    rates = any("rate" in tool.capabilities.axes for tool in tools)
    return tools if plan.warm_up is None or rates else [*tools, own]


def problems(tool: LoadTool, plan: Plan, *, clients: int = 1) -> Iterator[str]:
    """Return, as sentences, why a tool cannot offer a plan's load from this number of clients."""
    can = tool.capabilities
    if plan.declared.key not in can.workloads:
        yield f"{tool.label} cannot run the workload {plan.declared.key}; choose another load tool."
    axis = "concurrency" if plan.closed else "rate"
    if axis not in can.axes:
        instead = "rates" if axis == "concurrency" else "concurrency (workload.mode: closed)"
        yield f"{tool.label} cannot vary the {axis}; give {instead}, or choose another load tool."
    if can.clients == "one" and clients > 1:
        yield f"{tool.label} runs on one client, not on {clients}; leave the others out."
    most = plan.workers * clients
    if can.one_connection and any(n > most for n in plan.concurrency):
        yield (
            f"{tool.label} has one connection per worker, here {most:,}; lower the concurrency, or"
            " add workers or clients."
        )
    if plan.closed and (end := "connections" if plan.connections else "seconds") not in can.ends:
        yield f"{tool.label} cannot end a point by {end}; give {can.ends[0]} instead."
    if tool.command is not None and plan.declared.secrets(plan.workload):
        yield (
            f"{tool.label} shows its headers to every user of the client; leave the secrets out of"
            " workload.headers, or choose another load tool."
        )
    if plan.search and len(plan.load_tools) > 1:
        yield "A search chooses its points by one load tool; name one."
    yield from tool.problems(plan)


async def equipped(
    tool: LoadTool, clients: Sequence[Client], *, install: bool = False, notify: Notify = print
) -> list[Client]:
    """Return the clients with the programs that a tool needs. `install`: whether missing ones may
    be unpacked there. Raises MissingPrograms without that consent, PongbenchError where a program
    cannot be provided."""
    needs = tool.capabilities.needs
    return [
        replace(
            client,
            programs=await provide(client.machine, needs, install=install, notify=notify),
        )
        for client in clients
    ]
