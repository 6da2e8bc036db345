"""What the load tools of a plan cannot tell or keep exactly, and how they are started: known before
a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.errors import BadInput
from workbench.load.base import Capabilities, LoadTool, PointSpec
from workbench.load.merge import shared
from workbench.load.registry import load_tool, problems
from workbench.messages.plans import Warned
from workbench.messages.tools import (
    ToolCannotTell,
    ToolCommand,
    ToolHasOwnPace,
    ToolOpensFew,
    Untold,
)
from workbench.plan.editing import Draft
from workbench.plan.model import Plan
from workbench.plan.schedule import PointPlan, points


def remarks(plan: Plan, *, clients: int = 1) -> Iterator[Warned]:
    """Return what a reader should know about the plan's load tools; of the agent at most that it
    cannot be calibrated. Raises BadInput for an unknown tool."""
    for name in plan.load_tools:
        tool = load_tool(name)
        if untold := cannot_tell(tool.capabilities, plan):
            yield ToolCannotTell(tool=tool.label, untold=untold)
        if tool.capabilities.most_open:
            most = tool.capabilities.most_open * plan.workers
            yield ToolOpensFew(tool=tool.label, connections=most)
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
    told: dict[Untold, bool] = {
        "latency": "latency" in can.reports,
        "lateness": "lateness" in can.reports or plan.closed,
        "windows": "windows" in can.reports,
        "percentiles": "percentiles" in can.reports
        and not ("of-connections" in can.traits and _several_calls(plan)),
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


def _several_calls(plan: Plan) -> bool:
    return any(point.calls_per_connection > 1 for point in points(plan, ""))


def example(
    tool: LoadTool, command: Callable[[PointSpec, int], str], plan: Plan, clients: int
) -> ToolCommand:
    """Return the first command line of the plan's last point, as it will be recorded."""
    *_, last = points(plan, "")
    processes = clients * (1 if "threads" in tool.capabilities.traits else plan.workers)
    first, *others = shared(_spec(plan, last), processes)
    return ToolCommand(
        tool=tool.label, command=command(first, plan.workers), processes=1 + len(others)
    )


def _spec(plan: Plan, point: PointPlan) -> PointSpec:
    return PointSpec(
        host="SERVER",
        port=80,
        workload=plan.declared.key,
        options=plan.declared.driven(point.workload, {}),
        mode="closed" if point.concurrency else "open",
        rate_per_s=point.connection_rate_per_s,
        connections=point.connections,
        seconds=point.seconds,
        concurrency=point.concurrency,
        arrivals=point.workload.arrivals,
        seed=point.seed,
        calls_per_connection=point.calls_per_connection,
        think_time_s=point.workload.think_time_s,
        timeout_s=point.workload.timeout_s,
    )


def own_pace(plan: Plan) -> Iterator[ToolHasOwnPace]:
    """Yield a remark for each. Raises BadInput for an unknown tool."""
    for name in plan.load_tools:
        tool = load_tool(name)
        if "own-pace" in tool.capabilities.traits and not plan.closed:
            yield ToolHasOwnPace(tool=tool.label)
