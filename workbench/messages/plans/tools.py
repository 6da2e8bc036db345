"""What the load tools of a plan cannot tell, and how they are started."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from workbench import formatting
from workbench.messages.notes import Severity
from workbench.messages.plans.problem import Warned

Untold: TypeAlias = Literal["latency", "lateness", "windows", "percentiles", "replies"]

_UNTOLD: dict[Untold, str] = {
    "latency": "latency from the scheduled time",
    "lateness": "how late calls were started",
    "windows": "anything while a point runs",
    "percentiles": "percentiles of response times",
    "replies": "whether replies are as expected",
}


class ToolCannotTell(Warned, frozen=True, kw_only=True):
    """Figures that stay unknown with a load tool."""

    level: ClassVar[Severity] = Severity.INFO

    keys: tuple[str, ...] = ("load_tool",)
    tool: str
    untold: list[Untold]

    def text(self) -> str:
        unknown = formatting.listed([_UNTOLD[each] for each in self.untold])
        return f"Not reported by {self.tool}: {unknown}. Verdicts do without."


class ToolOpensFew(Warned, frozen=True, kw_only=True):
    """A load tool with a limit of descriptors of its own."""

    level: ClassVar[Severity] = Severity.INFO

    keys: tuple[str, ...] = ("load_tool", "workers")
    tool: str
    connections: int
    """Of all its workers on a client."""

    def text(self) -> str:
        return (
            f"{self.tool} has at most {self.connections:,} connections open on a client, whatever"
            " nofile is; beyond that they fail. More workers allow more."
        )


class ToolCommand(Warned, frozen=True, kw_only=True):
    """The command line of a load tool that is a program, on one client."""

    level: ClassVar[Severity] = Severity.INFO

    keys: tuple[str, ...] = ("load_tool",)
    tool: str
    command: str

    def text(self) -> str:
        return f"{self.tool} runs as: {self.command}"
