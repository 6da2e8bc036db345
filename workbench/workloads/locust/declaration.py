"""Locust: what users of a locustfile do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from workbench import paths
from workbench.consent import ForeignCode
from workbench.errors import BadInput
from workbench.machines.bundle import Brought
from workbench.messages.plans import Warned, warning
from workbench.messages.problems import Problem, problem
from workbench.sharing import split
from workbench.workloads.base import Declaration, Protocol, Secrets
from workbench.workloads.locust import reading
from workbench.workloads.options import Workload

_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w.,-]+\])?\s*==\s*[\w.+!-]+")

Names = list[Annotated[str, Meta(min_length=1, max_length=200)]]


class LocustWorkload(Workload, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Users of a locustfile."""

    protocol: Literal["locust"] = "locust"
    locustfile: Annotated[str, Meta(max_length=1_000)] = ""
    requirements: Annotated[Names, Meta(max_length=50)] = msgspec.field(default_factory=list)
    files: Annotated[Names, Meta(max_length=50)] = msgspec.field(default_factory=list)
    tags: Names = msgspec.field(default_factory=list)
    exclude_tags: Names = msgspec.field(default_factory=list)
    spawn_s: Annotated[float, Meta(ge=0, le=3_600)] = 1.0
    engine: Literal["agent", "locust"] = "agent"
    expect_workers: Annotated[int, Meta(ge=0, le=10_000)] = 0
    master: Annotated[str, Meta(max_length=100)] = ""
    web_port: Annotated[int, Meta(ge=0, le=65_535)] = 0

    @property
    def longest_stay_s(self) -> float:
        return self.spawn_s if self.mode == "closed" else 0.0

    @property
    def by_locust(self) -> bool:
        """Whether Locust's own master and workers run the users."""
        return self.engine == "locust"

    @property
    def listens(self) -> tuple[str, int]:
        """(address, port) of the master; 0: a free one. Raises BadInput."""
        return split(self.master) if self.master else ("127.0.0.1", 0)


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
    engines: ClassVar[Mapping[str, str]] = {"agent": "locust", "locust": "locust-master"}
    several_calls = False
    counts = "tasks"
    concurrent = "users"

    def problems(self, workload: Any) -> Iterator[Problem]:
        yield from super().problems(workload)
        yield from reading.problems(workload.locustfile, shapes=workload.by_locust)
        yield from _of_master(workload)
        for line in workload.requirements:
            if not _REQUIREMENT.fullmatch(line):
                yield problem("requirement-invalid", requirement=line)
        folder = reading.located(workload.locustfile).parent
        for name in workload.files:
            if not _inside(folder, name):
                yield problem(
                    "locustfile-missing", "workload.files", path=name, said=f"it is not in {folder}"
                )

    def brought(self, workload: Any) -> Brought:
        file = reading.located(workload.locustfile)
        beside = {name: file.parent / name for name in workload.files}
        both = (_options(workload), self._engine(workload))
        arguments = (file.name, *map(json.dumps, both))
        return Brought(tuple(workload.requirements), {file.name: file, **beside}, arguments)

    def _engine(self, workload: Any) -> dict[str, Any]:
        """Return what Locust's master needs; see `remote.generators.locust.master`."""
        if not workload.by_locust:
            return {}
        host, port = workload.listens
        return {
            "file": reading.located(workload.locustfile).name,
            "options": _options(workload),
            "requests": [each for each in self.requests(workload) if each != reading.OTHER],
            "host": host,
            "port": port,
            "web_port": workload.web_port,
            "expect_workers": workload.expect_workers,
            "shape": reading.shape(workload.locustfile) is not None,
        }

    def foreign_code(self, workload: Any, clients: Sequence[str]) -> ForeignCode | None:
        file = reading.located(workload.locustfile)
        if file.is_relative_to(paths.RESOURCES):
            return None
        joining = [f"every worker that joins at {workload.master}"] * bool(workload.expect_workers)
        also = ["localhost", *joining] if workload.by_locust else []
        where = dict.fromkeys([*clients, *also])
        return ForeignCode(file, tuple(where), tuple(workload.requirements))

    def remarks(self, workload: Any) -> Iterator[Warned]:
        if workload.by_locust and workload.expect_workers:
            address, port = workload.listens
            yield warning(
                "master-listens",
                workers=workload.expect_workers,
                address=address,
                port=port,
                file=reading.located(workload.locustfile).name,
            )

    def answers(self, workload: Any) -> str:
        return "requests" if workload.by_locust else self.counts

    def driven(self, workload: Any, secrets: Secrets) -> dict[str, Any]:
        return {
            "locustfile": reading.located(workload.locustfile).name,
            "options": _options(workload),
            "spawn_s": workload.spawn_s,
            "requests": self.requests(workload),
            "other": reading.OTHER,
        }

    def found(self, workload: Any) -> Mapping[str, str]:
        users = reading.users(workload.locustfile)
        return {"locustfile": "; ".join(f"{name}: {', '.join(of)}" for name, of in users.items())}

    def requests(self, workload: Any) -> list[str]:
        return reading.requests(workload.locustfile)

    def conditions(self, workload: Mapping[str, Any]) -> str:
        return str(workload.get("locustfile", "")).replace("\\", "/").rpartition("/")[2]

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        return False  # Users keep their connections.


def _options(workload: LocustWorkload) -> list[str]:
    """Return Locust's own."""
    tags = {"--tags": workload.tags, "--exclude-tags": workload.exclude_tags}
    return [word for key, given in tags.items() if given for word in (key, *given)]


def _of_master(workload: LocustWorkload) -> Iterator[Problem]:
    if not workload.by_locust:
        for key in ("expect_workers", "master", "web_port"):
            if getattr(workload, key):
                yield problem("of-other-engine", f"workload.{key}", key=key)
        return
    try:
        host, port = workload.listens
    except BadInput as error:
        yield problem("master-invalid", said=str(error))
    else:
        if host in ("0.0.0.0", "::"):
            yield problem("master-invalid", said=f"{host} is every address, in every network.")
        elif workload.expect_workers and not 0 < port <= 65_535:
            yield problem("master-invalid", said=f"{workload.master or 'None'} is no such address.")


def _inside(folder: Path, name: str) -> bool:
    path = (folder / name).resolve()
    return path.exists() and path.is_relative_to(folder.resolve()) and path != folder.resolve()


DECLARATION = Locust()
