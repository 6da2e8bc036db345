"""Audits of fairness: every server had the same conditions, and they are recorded."""

from __future__ import annotations

from collections import Counter, defaultdict

from workbench.analysis.audits.base import Outcome, SessionData
from workbench.formatting import cores as listed_cores
from workbench.messages import audits as messages
from workbench.messages.audits import NotRecorded
from workbench.messages.notes import Backlog, Resources, SharedCores, Unequal


def backlog(data: SessionData) -> Outcome:
    """The same backlog, as read back from the kernel."""
    found: dict[str, list[Backlog]] = data.of_servers(Backlog)
    if not found:
        return Outcome("not-known", NotRecorded(what="backlog"))
    asked = max(each.asked for reported in found.values() for each in reported)
    values = {id_: {each.backlog for each in reported} for id_, reported in found.items()}
    reference = _reference(values, asked)
    message = messages.SameBacklog(
        servers=len(found),
        differing=_differing(data, values, reference),
        backlog=reference,
        asked=asked,
    )
    return _alike(message, values, reference)


def descriptors(data: SessionData) -> Outcome:
    """The same descriptor limit, as read back from the kernel."""
    found = _resources(data)
    values = {id_: {each.nofile for each in reported} for id_, reported in found.items()}
    if not any(max(of) for of in values.values()):
        return Outcome("not-known", NotRecorded(what="resources"))
    asked = max(each.asked_nofile for reported in found.values() for each in reported)
    reference = _reference(values, asked)
    message = messages.SameDescriptors(
        servers=len(found),
        differing=_differing(data, values, reference),
        limit=reference,
        asked=asked,
    )
    return _alike(message, values, reference)


def processes(data: SessionData) -> Outcome:
    found = _resources(data)
    if not found:
        return Outcome("not-known", NotRecorded(what="resources"))
    values = {id_: [each.processes for each in reported] for id_, reported in found.items()}
    unsteady = {id_: of for id_, of in values.items() if len(set(of)) > 1}
    message = messages.SameProcesses(
        servers=len(found),
        differing={data.names[id_]: _span(of) for id_, of in unsteady.items()},
        several={data.names[id_]: of[0] for id_, of in values.items() if of[0] > 1},
    )
    return Outcome("failed" if unsteady else "passed", message, servers=tuple(unsteady))


def cores(data: SessionData) -> Outcome:
    """The same cores, as the kernel allows them, and none of the clients'."""
    shared = next((noted.message for noted in data.notes(SharedCores)), None)
    found = _resources(data)
    if isinstance(shared, SharedCores):
        message = messages.SameCores(servers=len(found), shared=shared.cores)
        return Outcome("failed", message)
    values = {id_: {tuple(each.cores) for each in reported} for id_, reported in found.items()}
    if not any(any(of) for of in values.values()):
        return Outcome("not-known", NotRecorded(what="resources"))
    reference = Counter(each for of in values.values() for each in of).most_common(1)[0][0]
    other = {id_: of for id_, of in values.items() if of != {reference}}
    message = messages.SameCores(
        servers=len(found),
        differing={
            data.names[id_]: " and ".join(listed_cores(each) for each in sorted(of))
            for id_, of in other.items()
        },
        cores=list(reference),
        own=bool(set(data.machines("target")) & set(data.machines("client"))),
    )
    return Outcome("failed" if other else "passed", message, servers=tuple(other))


def versions(data: SessionData) -> Outcome:
    records = data.start.servers if data.start else []
    bare = {r.id: r.name for r in records if not (r.files and (r.version or r.runtime))}
    message = messages.SameVersions(
        servers=len(records),
        differing=dict.fromkeys(bare.values(), ""),
        runtimes=list(dict.fromkeys(r.runtime for r in records if r.runtime)),
    )
    return Outcome("not-known" if bare else "passed", message)


def set_up(data: SessionData) -> Outcome:
    """Nothing that the catalogue says could not be made equal."""
    found: dict[str, list[Unequal]] = data.of_servers(Unequal)
    said: defaultdict[str, list[str]] = defaultdict(list)
    for id_, reported in found.items():
        for sentence in dict.fromkeys(each.said for each in reported):
            said[sentence].append(data.names[id_])
    message = messages.SameSetUp(servers=len(data.names), said=dict(said))
    return Outcome("failed" if found else "passed", message, servers=tuple(found))


def _resources(data: SessionData) -> dict[str, list[Resources]]:
    return data.of_servers(Resources)


def _reference(values: dict[str, set[int]], asked: int) -> int:
    """The requested value, if any server has it; otherwise the most common."""
    each = Counter(value for of in values.values() for value in of)
    return asked if asked in each else each.most_common(1)[0][0]


def _differing(data: SessionData, values: dict[str, set[int]], reference: int) -> dict[str, str]:
    return {data.names[id_]: _span(sorted(of)) for id_, of in values.items() if of != {reference}}


def _alike(message: messages.Alike, values: dict[str, set[int]], reference: int) -> Outcome:
    other = tuple(id_ for id_, of in values.items() if of != {reference})
    return Outcome("failed" if other else "passed", message, servers=other)


def _span(values: list[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
