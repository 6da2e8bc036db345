"""The load tools by name. A new one is a file in this folder, and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.errors import BadInput, PongbenchError
from workbench.formatting import known
from workbench.load import fleet, zeromq
from workbench.load.base import Client, LoadGenerator, LoadTool
from workbench.machines.answers import output
from workbench.machines.base import Command, Machine
from workbench.machines.wire import InvalidMessage
from workbench.plan.model import Plan

TOOLS: dict[str, LoadTool] = {tool.name: tool for tool in (fleet.TOOL, zeromq.TOOL)}

_PROBE = "import shutil, sys; print(*(name for name in sys.argv[1:] if not shutil.which(name)))"


def load_tool(name: str) -> LoadTool:
    """Return a load tool. Raises BadInput for an unknown name."""
    if name not in TOOLS:
        raise BadInput(f"There is no load tool {name!r}. {known(list(TOOLS), 'load tool')}")
    return TOOLS[name]


def problems(tool: LoadTool, plan: Plan, *, clients: int = 1) -> Iterator[str]:
    """Return, as sentences, why a tool cannot offer a plan's load from this number of clients."""
    can = tool.capabilities
    if plan.declared.key not in can.workloads:
        yield f"{tool.label} cannot run the workload {plan.declared.key}; choose another load tool."
    axis = "concurrency" if plan.closed else "rate"
    if axis not in can.axes:
        instead = "rates" if axis == "concurrency" else "concurrency (workload.mode: closed)"
        yield f"{tool.label} cannot vary the {axis}; give {instead}, or choose another load tool."
    elif plan.warm_up is not None and "rate" not in can.axes:
        yield f"{tool.label} cannot offer the rate of the warm-up; set warm_up to null."
    if can.clients == "one" and clients > 1:
        yield f"{tool.label} runs on one client, not on {clients}; leave the others out."
    if can.one_connection and (plan.workers > 1 or any(n > 1 for n in plan.concurrency)):
        yield f"{tool.label} has one connection; set workers and concurrency to 1."


async def start(tool: LoadTool, clients: Sequence[Client]) -> LoadGenerator:
    """Prepare a tool on all clients. Raises PongbenchError when one lacks a program, or it cannot
    be started."""
    for client in clients:
        if lacking := await _lacking(client.machine, tool.capabilities.needs):
            raise PongbenchError(
                f"{client.machine.name} has no {', '.join(lacking)}, which {tool.label} needs;"
                " install it there, or choose another load tool."
            )
    return await tool.start(clients)


async def _lacking(machine: Machine, programs: Sequence[str]) -> list[str]:
    if not programs:
        return []
    process = await machine.start(Command([*machine.python, "-c", _PROBE, *programs]))
    try:
        lines = await output(process)
    except InvalidMessage as error:
        raise PongbenchError(f"'{machine.name}' cannot report its programs ({error}).") from None
    missing = lines[-1].decode("utf-8", "replace").split() if lines else []
    return [program for program in programs if program in missing]
