"""Locust: what users of a locustfile do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from workbench.machines.bundle import Brought
from workbench.messages import plans, workloads
from workbench.workloads.base import Declaration, Protocol
from workbench.workloads.locust import reading
from workbench.workloads.options import Workload, about

_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w.,-]+\])?\s*==\s*[\w.+!-]+")

Names = list[Annotated[str, Meta(min_length=1, max_length=200)]]


class LocustWorkload(Workload, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Users of a locustfile."""

    protocol: Annotated[Literal["locust"], about("Protocol")] = "locust"
    locustfile: Annotated[
        str, about("Locustfile", "path of the file, run unchanged on the clients", max_length=1_000)
    ] = ""
    requirements: Annotated[
        Names,
        about(
            "Packages",
            "that the locustfile imports, with their versions: `[faker==40.1.0]`",
            advanced=True,
            max_length=50,
        ),
    ] = msgspec.field(default_factory=list)
    files: Annotated[
        Names,
        about(
            "Files",
            "beside the locustfile, that it imports or reads: `[users.csv, common]`",
            advanced=True,
            max_length=50,
        ),
    ] = msgspec.field(default_factory=list)
    tags: Annotated[Names, about("Tags", "only tasks with one of them run", advanced=True)] = (
        msgspec.field(default_factory=list)
    )
    exclude_tags: Annotated[
        Names, about("Excluded tags", "tasks with one of them do not run", advanced=True)
    ] = msgspec.field(default_factory=list)
    spawn_s: Annotated[
        float,
        about(
            "Start of users",
            "in a closed loop users start evenly spaced within this time",
            unit="s",
            advanced=True,
            ge=0,
            le=3_600,
        ),
    ] = 1.0


class Locust(Declaration):
    """A call is a task of a user."""

    key = "locust"
    label = "Locust"
    noun = "locustfiles"
    options: ClassVar[type[Workload]] = LocustWorkload
    protocols: ClassVar[Mapping[str, Protocol]] = {
        "locust": Protocol("Locustfile", "a locustfile", "Locust")
    }
    implied_by = "locustfile"
    spoken: ClassVar[Sequence[str]] = ("http/1.1", "http/1.0")
    load_tool = "locust"
    several_calls = False
    counts = "tasks"
    concurrent = "users"

    def problems(self, workload: Any) -> Iterator[plans.Problem]:
        yield from super().problems(workload)
        yield from reading.problems(workload.locustfile)
        for line in workload.requirements:
            if not _REQUIREMENT.fullmatch(line):
                yield workloads.RequirementInvalid(requirement=line)
        folder = reading.located(workload.locustfile).parent
        for name in workload.files:
            if not _inside(folder, name):
                yield workloads.LocustfileMissing(
                    keys=("workload.files",), path=name, said=f"it is not in {folder}"
                )

    def brought(self, workload: Any) -> Brought:
        file = reading.located(workload.locustfile)
        beside = {name: file.parent / name for name in workload.files}
        arguments = (file.name, json.dumps(workload.tags), json.dumps(workload.exclude_tags))
        return Brought(tuple(workload.requirements), {file.name: file, **beside}, arguments)

    def foreign_code(self, workload: Any) -> Path | None:
        file = reading.located(workload.locustfile)
        return None if reading.is_shipped(file) else file

    def driven(self, workload: Any, secrets: Mapping[str, str]) -> dict[str, Any]:
        return {
            "locustfile": reading.located(workload.locustfile).name,
            "tags": workload.tags,
            "exclude_tags": workload.exclude_tags,
            "spawn_s": workload.spawn_s,
            "requests": self.requests(workload),
            "other": reading.OTHER,
        }

    def requests(self, workload: Any) -> list[str]:
        return reading.requests(workload.locustfile)

    def conditions(self, workload: Mapping[str, Any]) -> str:
        return str(workload.get("locustfile", "")).replace("\\", "/").rpartition("/")[2]

    def longest_stay_s(self, workload: Any) -> float:
        return float(workload.spawn_s) if workload.mode == "closed" else 0.0

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        return False  # Users keep their connections.


def _inside(folder: Path, name: str) -> bool:
    path = (folder / name).resolve()
    return path.exists() and path.is_relative_to(folder.resolve()) and path != folder.resolve()


DECLARATION = Locust()
