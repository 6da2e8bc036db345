"""Which load tools of a plan do not keep its rates exactly: known before a run."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.load.registry import load_tool
from workbench.messages.tools import ToolHasOwnPace
from workbench.plan.model import Plan


def own_pace(plan: Plan) -> Iterator[ToolHasOwnPace]:
    """Yield a remark for each. Raises BadInput for an unknown tool."""
    for name in plan.load_tools:
        tool = load_tool(name)
        if tool.capabilities.own_pace and not plan.closed:
            yield ToolHasOwnPace(tool=tool.label)
