"""Locustfiles that cannot be run."""

from __future__ import annotations

from workbench.messages.plans.problem import Problem


class LocustfileMissing(Problem, frozen=True, kw_only=True):
    """No file is named, or it cannot be read."""

    keys: tuple[str, ...] = ("workload.locustfile",)
    path: str = ""
    said: str = ""
    """Why, without a full stop."""

    def text(self) -> str:
        if not self.path:
            return "None is named; give the path of a locustfile."
        return f"{self.path} cannot be read: {self.said}."


class LocustfileInvalid(Problem, frozen=True, kw_only=True):
    """Python cannot compile it."""

    keys: tuple[str, ...] = ("workload.locustfile",)
    path: str
    at_line: int
    said: str

    def text(self) -> str:
        return f"{self.path}, line {self.at_line}: {self.said}."


class LoadShapeGiven(Problem, frozen=True, kw_only=True):
    """A class decides the load over time, as the plan does."""

    keys: tuple[str, ...] = ("workload.locustfile",)
    path: str
    at_line: int
    name: str

    def text(self) -> str:
        return (
            f"{self.path}, line {self.at_line}: {self.name} is a LoadTestShape, and the plan"
            " decides the load; remove it, and give rates or users in the plan."
        )


class RequirementInvalid(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.requirements",)
    requirement: str

    def text(self) -> str:
        return (
            f"{self.requirement!r} names no package of the index with its version; write"
            " faker==40.1.0."
        )
