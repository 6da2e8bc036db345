"""The conditions in which the sessions of a comparison differ, in words, the most serious first.

Two sessions differ by their set-ups as well as by their servers. Conditions that are the same
everywhere, or known for one session only, are not reported as differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from workbench.analysis.audits import CHECKS, Audit
from workbench.analysis.verdicts import BackgroundLoad
from workbench.documents import MachineRecord
from workbench.formatting import continued, listed, megabytes, rate
from workbench.results import setup
from workbench.results.comparison import Side


class Weight(IntEnum):
    """How much a difference can shift a figure."""

    QUESTION = 0
    """A different question was measured."""
    SETUP = 1
    """A different machine, kernel or version may be the reason for a difference."""
    DETAIL = 2
    """Worth knowing."""


@dataclass(frozen=True)
class Condition:
    what: str
    """ "Kernel of the target"."""
    values: Mapping[str, str]
    """By session tag; "not recorded" where it is unknown."""
    weight: Weight

    @property
    def text(self) -> str:
        """ "Kernel of the target: A Linux 6.1.0, B Linux 5.10.0." """
        text = ", ".join(f"{tag} {value}" for tag, value in self.values.items())
        return f"{self.what}: {text}."


@dataclass(frozen=True)
class Conditions:
    differing: Sequence[Condition]
    """The most serious first."""
    same: Sequence[str]
    """Conditions that were compared and are the same."""
    warnings: Sequence[str]
    """Sentences: why figures of these sessions are not comparable, or only with care."""
    audits: Sequence[Condition] = ()
    """The audits that failed in any session, whether or not the sessions differ there."""

    def same_text(self) -> str:
        """ "The same: kernel, CPU, plan and 11 more."; empty: none is."""
        named = [continued(what.removesuffix(" of the target")) for what in self.same[:4]]
        more = len(self.same) - len(named)
        all_named = [*named, f"{more} more"] if more else named
        return f"The same: {listed(all_named)}." if named else ""


def conditions(sides: Sequence[Side]) -> Conditions:
    """The conditions of several sessions, compared; all empty for a single one."""
    if len(sides) < 2:
        return Conditions((), (), ())
    differing: list[Condition] = []
    same: list[tuple[Weight, str]] = []
    for what, values, weight in _all(sides):
        known = {value for value in values.values() if value}
        if len(known) > 1:
            text = {tag: value or "not recorded" for tag, value in values.items()}
            differing.append(Condition(what, text, weight))
        elif known and len([value for value in values.values() if value]) == len(sides):
            same.append((weight, what))
    differing.sort(key=lambda condition: condition.weight)
    # The machine matters most.
    same.sort(key=lambda each: each[0] is not Weight.SETUP)
    return Conditions(
        differing,
        [what for _, what in same],
        tuple(_warnings(sides, differing)),
        [Condition(what, values, Weight.SETUP) for what, values in failed_audits(sides)],
    )


_FACTS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("cpu_model", "CPU", str),
    ("cpu_count", "Cores", str),
    ("kernel", "Kernel", str),
    ("virtualisation", "Virtual machine", str),
    ("governor", "CPU governor", str),
    ("container", "Container", str),
    ("memory_bytes", "Memory", megabytes),
    ("distribution", "Distribution", str),
    ("clock_source", "Clock source", str),
)
_DETAILS = {"memory_bytes", "distribution", "clock_source"}


def _all(sides: Sequence[Side]) -> Iterator[tuple[str, dict[str, str], Weight]]:
    """(what, value by tag (empty: unknown), weight); within one weight, in the order of reading."""
    if all(s.axis.per_second for s in sides):
        yield "Unit of rates", {s.tag: s.axis.counts for s in sides}, Weight.QUESTION
    for key, what, write, default in setup.WORKLOAD:
        values = {s.tag: write(s.setup.workload.get(key, default)) for s in sides}
        yield what, values, Weight.QUESTION
    yield "Point length", {s.tag: s.setup.length for s in sides}, Weight.SETUP
    yield from _machines(sides)
    yield "Backlog in force", {s.tag: _backlog(s) for s in sides}, Weight.SETUP
    background = {
        s.tag: BackgroundLoad.at(point for c in s.contenders for point in c.result.counted)
        for s in sides
    }
    disturbed = any(each.is_frequent for each in background.values())
    weight = Weight.SETUP if disturbed else Weight.DETAIL
    yield "Background load", {tag: each.text for tag, each in background.items()}, weight
    yield (
        "Descriptor limit",
        {s.tag: setup.count(s.plan.get("nofile")) for s in sides},
        Weight.SETUP,
    )
    yield from _servers(sides)
    limits = {s.tag: s.summary.ceiling_per_s for s in sides}
    texts = {tag: "" if limit is None else f"{rate(limit)}/s" for tag, limit in limits.items()}
    yield "Client limit", texts, Weight.DETAIL
    yield "Load tool", {s.tag: s.start.load_tool for s in sides}, Weight.SETUP
    yield "Load processes", {s.tag: setup.count(s.plan.get("workers")) for s in sides}, Weight.SETUP
    varied = {s.axis.label if s.axis.of_workload else "Rates" for s in sides}
    what = varied.pop() if len(varied) == 1 else "Values"
    yield what, {s.tag: _rates(s) for s in sides}, Weight.DETAIL
    yield "Passes", {s.tag: setup.count(s.plan.get("repeats", 1)) for s in sides}, Weight.DETAIL
    yield "Order", {s.tag: str(s.plan.get("order", "")) for s in sides}, Weight.DETAIL
    warm_ups = {s.tag: s.setup.warm_up.removeprefix("warm-up ") for s in sides}
    yield "Warm-up", warm_ups, Weight.DETAIL
    yield "Pongbench", {s.tag: s.start.pongbench for s in sides}, Weight.DETAIL


def _machines(sides: Sequence[Side]) -> Iterator[tuple[str, dict[str, str], Weight]]:
    targets = {s.tag: s.setup.targets for s in sides}
    clients = {s.tag: s.setup.clients for s in sides}
    apart = any(clients[tag] != targets[tag] for tag in targets)
    yield "Target", {tag: setup.names(found) for tag, found in targets.items()}, Weight.DETAIL
    if apart:
        yield "Clients", {tag: setup.names(found) for tag, found in clients.items()}, Weight.SETUP
    for role, machines in (("target", targets), ("clients", clients))[: 2 if apart else 1]:
        for key, what, write in _FACTS:
            values = {tag: _listed(found, key, write) for tag, found in machines.items()}
            weight = Weight.DETAIL if key in _DETAILS else Weight.SETUP
            yield f"{what} of the {role}", values, weight
        sysctls = {
            name
            for found in machines.values()
            for m in found
            for name in m.facts.get("sysctls", {})
        }
        for name in sorted(sysctls):
            values = {tag: _sysctl(found, name) for tag, found in machines.items()}
            yield f"{name} of the {role}", values, Weight.SETUP


def _listed(machines: Iterable[MachineRecord], key: str, write: Callable[[Any], str]) -> str:
    text = [write(machine.facts[key]) for machine in machines if machine.facts.get(key)]
    return ", ".join(dict.fromkeys(text))


def _sysctl(machines: Iterable[MachineRecord], name: str) -> str:
    values = [machine.facts.get("sysctls", {}).get(name) for machine in machines]
    return ", ".join(dict.fromkeys(str(value) for value in values if value is not None))


def _backlog(side: Side) -> str:
    """The backlog in force; empty if it was not read back."""
    return ", ".join(f"{n:,}" for n in sorted({c.backlog for c in side.contenders if c.backlog}))


def _servers(sides: Sequence[Side]) -> Iterator[tuple[str, dict[str, str], Weight]]:
    """For servers in several sessions: version, runtime, and the script itself."""
    ids = dict.fromkeys(contender.record.id for side in sides for contender in side.contenders)
    for id_ in ids:
        there = {s.tag: c.record for s in sides for c in s.contenders if c.record.id == id_}
        if len(there) < 2:
            continue
        name = next(iter(there.values())).name
        yield f"Version of {name}", {t: r.version for t, r in there.items()}, Weight.SETUP
        yield f"Runtime of {name}", {t: r.runtime for t, r in there.items()}, Weight.SETUP
        yield f"TLS of {name}", {t: r.tls for t, r in there.items()}, Weight.SETUP
        rights = {tag: record.confined.text for tag, record in there.items()}
        yield f"Privileges of {name}", rights, Weight.DETAIL
        files = {tag: str(sorted(record.files.items())) for tag, record in there.items()}
        kinds = list(dict.fromkeys(files.values()))
        text = {
            tag: f"script {kinds.index(value) + 1}" if there[tag].files else ""
            for tag, value in files.items()
        }
        yield f"Script of {name}", text, Weight.SETUP


def _rates(side: Side) -> str:
    axis = side.axis
    if axis.bounds:
        return f"a search from {axis.figure(axis.bounds[0])} to {axis.at(axis.bounds[1])}"
    if not axis.values:
        return ""
    if axis.points:
        return f"{len(axis.values)} from {axis.figure(axis.values[0])} to the client limit"
    span = f"{axis.figure(min(axis.values))} to {axis.at(max(axis.values))}"
    return f"{len(axis.values)} from {span}"


def _warnings(sides: Sequence[Side], differing: Sequence[Condition]) -> Iterator[str]:
    first = sides[0]
    for side in sides:
        # Copies of one recording, wherever their files are.
        same = [each.tag for each in sides if each.start == side.start]
        if len(same) > 1 and same[0] == side.tag:
            yield f"{listed(same)} are the same session; keep one of them."
    for side in sides[1:]:
        if why := first.why_not_comparable(side):
            yield f"Not comparable: {why}. {side.tag} is in the table and not in the charts."
    asked = [
        continued(c.what)
        for c in differing
        if c.weight is Weight.QUESTION and "rates" not in c.what
    ]
    if asked:
        yield (
            f"Not comparable: the sessions measured different workloads ({', '.join(asked)})."
            " A difference is not one between servers."
        )
    whats = {condition.what for condition in differing if condition.weight is Weight.SETUP}
    if "Backlog in force" in whats:
        smallest = {
            s.tag: min((c.backlog for c in s.contenders if c.backlog), default=0) for s in sides
        }
        least = min(backlog for backlog in smallest.values() if backlog)
        tags = listed([tag for tag, backlog in smallest.items() if backlog == least])
        yield f"The smaller backlog in {tags} alone can cause resets and refusals beyond the limit."
    if whats and not asked:
        yield "Differences between sessions may come from their set-up, not from the servers."


def failed_audits(sides: Sequence[Side]) -> Iterator[tuple[str, dict[str, str]]]:
    """(audit, outcome by session tag) of each audit that failed in at least one session."""
    for code, (label, _) in CHECKS.items():
        found = {
            side.tag: next((a for a in side.summary.audits if a.code == code), None)
            for side in sides
        }
        failing = [tag for tag, audit in found.items() if audit is not None and audit.failed]
        if failing:
            yield (
                f"Audit failed in {' and '.join(failing)}: {continued(label)}",
                {side.tag: _outcome(side, found[side.tag]) for side in sides},
            )


def _outcome(side: Side, audit: Audit | None) -> str:
    """ "passed", "3 points of Circuits"."""
    if audit is None:
        return "not known"
    return _taint(side, audit) if audit.failed else audit.state_label


def _taint(side: Side, audit: Audit) -> str:
    if not audit.points and not audit.servers:
        return "the whole session"
    points = {
        server.id: sum(stop.point in audit.points for stop in server.stops)
        for server in side.summary.servers.values()
    }
    tainted = [id_ for id_, count in points.items() if count or id_ in audit.servers]
    names = [side.summary.servers[id_].name for id_ in tainted]
    who = names[0] if len(names) == 1 else f"{len(names)} servers"
    count = sum(points.values())
    if audit.servers or not count:
        return who if names else "points outside the results"
    return f"{count} point{'s' * (count != 1)} of {who}"
