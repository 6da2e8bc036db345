"""What is known today about the project of a server: the facts that its entries share.

One file of `resources/projects` each, with the addresses of its sources and the day they were read.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from workbench import paths
from workbench.config import yaml
from workbench.errors import BadInput
from workbench.servers.facts import NOT_FOUND, Fact, Text, Today

PROJECTS = paths.RESOURCES / "projects"


class Sought(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts that were not found in one place."""

    facts: list[str]
    """Their names."""
    source: Text
    """Where they were sought, or why they are not to be had."""
    at: str


class ProjectFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a file."""

    seen: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
    """ISO date when the sources were read."""
    sources: dict[str, str]
    """Addresses by name."""
    today: Today
    not_found: list[Sought] = []


def facts_of(project: str, framework: str) -> Today:
    """Return the facts of a project, or of that of a framework. Raises BadInput where the project
    does not exist, or its file is faulty."""
    path = PROJECTS / f"{project or framework.lower()}.yaml"
    if path.is_file():
        return load_facts(path)
    if project:
        raise BadInput(f"there is no project {project!r} in {PROJECTS}")
    return Today()


@cache
def load_facts(path: Path) -> Today:
    """Return the facts of a file, each with address and date. Raises BadInput."""
    data = yaml.load_yaml(path, what="project")
    file = yaml.convert(data, ProjectFile, name=str(path), what="project")
    for name, address in file.sources.items():
        if not address.startswith(("https://", "http://")):
            raise BadInput(f"project {path}, sources.{name}: {address!r} is no address; give one.")
    facts = {name: fact for name, fact in msgspec.structs.asdict(file.today).items() if fact}
    for sought in file.not_found:
        for name in sought.facts:
            if name in facts or name not in Today.__struct_fields__:
                problem = "is given under today, too" if name in facts else "is no fact"
                raise BadInput(f"project {path}, not_found: {name!r} {problem}.")
            facts[name] = Fact(value=NOT_FOUND, source=sought.source, at=sought.at)
    for name, fact in facts.items():
        if fact.at not in file.sources:
            known = ", ".join(file.sources) or "none yet"
            raise BadInput(
                f"project {path}, today.{name}.at: {fact.at!r} is not among its sources; there are"
                f" {known}."
            )
        at, seen = file.sources[fact.at], fact.seen or file.seen
        facts[name] = msgspec.structs.replace(fact, at=at, seen=seen)
    return Today(**facts)


def joined(own: Today, shared: Today) -> Today:
    """Return the facts of an entry, with those of its project where it has none."""
    facts = msgspec.structs.asdict(own)
    return Today(**{name: fact or getattr(shared, name) for name, fact in facts.items()})
