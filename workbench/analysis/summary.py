"""A session summarised in a few figures per server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from workbench import axis as axes
from workbench.analysis.audits import Audit, Auditor
from workbench.analysis.clients import AllClients, all_clients
from workbench.analysis.cost import rank
from workbench.analysis.series import Clock, PointResult, SeriesResult, clock_of
from workbench.analysis.tasks import Tasks
from workbench.analysis.verdicts import BackgroundLoad, unchecked, unchecked_of_points
from workbench.axis import RATE, Axis
from workbench.documents import OUR_AGENT, AnyDocument, Metric, Note, PointStop, RunStart, RunStop
from workbench.messages.audits import Unchecked
from workbench.messages.base import Said, Stated
from workbench.messages.notes import of_all
from workbench.messages.outcomes import Peak, Profile
from workbench.messages.reasons import limit_phrase
from workbench.messages.topics import read_note


class ServerSummary(SeriesResult):
    def __init__(
        self,
        id_: str,
        name: str,
        version: str = "",
        *,
        axis: Axis = RATE,
        server: str = "",
        load_tool: str = OUR_AGENT,
    ) -> None:
        """`id_`: key of the series; `server`: the server's id if that is another."""
        super().__init__(id_, name, axis=axis)
        self.version = version
        self.server = server or id_
        self.load_tool = load_tool
        self.tls = ""
        """Version and cipher of its connections; empty: without TLS, or not recorded."""
        self.closed = False
        """Whether its load was a closed loop."""
        self.untold: list[Said] = []
        """What the load tools of the session do not report."""
        self.noted: list[Note] = []
        """About this server, other than what was `found` when it was deployed."""
        self.profile: Profile | None = None
        """Where its CPU time goes; None: it was not profiled."""

    def not_checked(self, stop: PointStop) -> list[Unchecked]:
        """What the verdict of a point could not check."""
        return unchecked(stop, closed=self.closed, noted=self.untold)

    @property
    def cut(self) -> PointResult | None:
        """The last of its points if none of them is complete; None: one is, or none began."""
        return self.shown[-1] if self.shown and not self.complete else None

    @property
    def there(self) -> PointResult | None:
        """The point with the figures beside that: where it sustains it, has most, or was cut."""
        return self.cut or (self.at_knee if self.axis.has_limit else self.most)

    @property
    def all_not_checked(self) -> Stated | None:
        """The same of all its points together; None: everything was checked."""
        return next(unchecked_of_points(self.counted, closed=self.closed, noted=self.untold), None)

    def told(self, topic: str) -> str:
        """The notes of a topic; empty: there are none."""
        return " ".join(self._texts(topic))

    @property
    def incidents(self) -> list[str]:
        """How it died or why its sweep ended early, as they happened."""
        return self._texts("died", "gave-up")

    @property
    def notes(self) -> list[str]:
        """All other notes; a profile stands beside why it stops."""
        shown = {"gave-up", "died", *["profile"] * (self.profile is not None)}
        others = {note.topic for note in self.noted} - shown
        return self._texts(*others)

    def _texts(self, *topics: str) -> list[str]:
        """A note that recurs in every pass is listed once."""
        return list(dict.fromkeys(note.text for note in self.noted if note.topic in topics))

    @property
    def id(self) -> str:
        return self.key

    def ordered(self) -> list[PointStop]:
        """Points for tables: the attempts at a value together, although all other servers ran
        between them; of a search in the order of measurement."""
        if self.axis.bounds:
            return list(self.stops)
        return sorted(self.stops, key=lambda stop: (stop.pass_number, stop.x, stop.look))


@dataclass
class Summary:
    name: str = ""
    plan: dict[str, Any] = field(default_factory=dict)
    """As data."""
    load_tool: str = OUR_AGENT
    axis: Axis = RATE
    unit: str = "connections"
    """What rates count."""
    metrics: list[Metric] = field(default_factory=list)
    """Metrics of the points beyond the built-in ones."""
    servers: dict[str, ServerSummary] = field(default_factory=dict)
    """By the key of the series (the id, unless there are several load tools), in plan order."""
    slo: dict[str, float | None] = field(default_factory=dict)
    """The limits of a search, `errors_pct` and `p99_ms`."""
    limits: str = ""
    """The same as part of a sentence."""
    ceiling_per_s: float | None = None
    """The client limit; None: not measured."""
    status: str = "interrupted"
    """`RunStop.status`; "interrupted" if the session has no end."""
    reason: str = ""
    noted: list[Note] = field(default_factory=list)
    """Notes about no particular server."""
    all_clients: AllClients = field(default_factory=AllClients)
    found: dict[str, list[str]] = field(default_factory=dict)
    """What was found when servers were deployed, without a name, and of which of them."""
    audits: list[Audit] = field(default_factory=list)
    """The checklist of `analysis.audits`."""

    @property
    def deployed(self) -> list[str]:
        """Sentences on what was found when servers were deployed."""
        every = len(self.servers)
        return [
            f"{'All servers' if len(names) == every > 1 else ', '.join(names)}: {text}"
            for text, names in self.found.items()
        ]

    @property
    def notes(self) -> list[str]:
        """Notes about no particular server."""
        return [note.text for note in self.noted]

    @property
    def background_load(self) -> str:
        """A sentence for the whole run; empty: none that could move a limit."""
        counted = (stop for server in self.servers.values() for stop in server.counted)
        found = BackgroundLoad.at(counted)
        return f"Background load {found.text}. Repeat on a quiet machine." * bool(found.disturbing)

    @property
    def clock(self) -> Clock:
        """By which response times are shown; see `clock_of`."""
        return clock_of(stop for server in self.servers.values() for stop in server.counted)

    @property
    def known_metrics(self) -> list[Metric]:
        """Metrics known for at least one point: empty columns are not shown."""
        points = [stop for server in self.servers.values() for stop in server.stops]
        known = {key for p in points for key, value in p.values.items() if value is not None}
        return [metric for metric in self.metrics if metric.key in known]

    def of_server(self, server: str) -> list[ServerSummary]:
        """The series of a server: one, or one for each of several load tools."""
        return [each for each in self.servers.values() if each.server == server]

    def ranked(self) -> list[ServerSummary]:
        """Servers by knee, or most replies without one, highest first, then cheapest first."""
        return sorted(self.servers.values(), key=rank)


def summarise(documents: Iterable[AnyDocument]) -> Summary:
    summary, auditor = Summary(), Auditor()
    points: list[PointStop] = []
    for document in documents:
        auditor(document)
        if isinstance(document, PointStop) and document.purpose != "profile":
            points.append(document)
        match document:
            case RunStart():
                _begin(summary, document)
            case PointStop(judged=True, series=key):
                if key not in summary.servers:
                    summary.servers[key] = ServerSummary(key, key, axis=summary.axis)
                summary.servers[key].stops.append(document)
            case Note():
                _note(summary, document)
            case RunStop():
                summary.status, summary.reason = document.status, document.reason
            case _:
                pass
    untold = [each for each in map(read_note, summary.noted) if each.code == "tool-cannot-tell"]
    for server in summary.servers.values():
        server.untold = untold
    summary.all_clients = all_clients(points)
    summary.audits = auditor.audits()
    return summary


def _begin(summary: Summary, start: RunStart) -> None:
    plan = summary.plan = start.plan
    summary.name = plan.get("name", "")
    summary.load_tool = start.load_tool
    summary.axis = start.axis or RATE
    summary.metrics = start.metrics
    summary.unit = axes.rates_count(plan)
    if search := plan.get("search"):
        errors_pct, p99_ms = search.get("errors_pct", 1.0), search.get("p99_ms")
        summary.slo = {"errors_pct": errors_pct, "p99_ms": p99_ms}
        summary.limits = limit_phrase(errors_pct, p99_ms)
    records = {record.id: record for record in start.servers}
    tasks = Tasks.of_all(start.servers)
    for each in start.series:
        record = records.get(each.server)
        summary.servers[each.key] = made = ServerSummary(
            each.key,
            each.label,
            record.version if record else "",
            axis=summary.axis,
            server=each.server,
            load_tool=each.params.get("load_tool", start.load_tools[0]),
        )
        made.closed = plan.get("workload", {}).get("mode") == "closed"
        made.tasks = tasks.get(each.server, Tasks())
        made.tls = record.tls if record else ""


def _note(summary: Summary, note: Note) -> None:
    if note.topic == "ceiling":
        found = note.data.get("ceiling_per_s")
        if found is not None:  # Of several load tools, that of the best.
            summary.ceiling_per_s = max(found, summary.ceiling_per_s or 0.0)
        summary.noted.append(note)
    elif note.topic == "rates":
        message = read_note(note)
        if message.code == note.topic:
            values = message.data()["values"]
            summary.axis = msgspec.structs.replace(summary.axis, values=values)
            for each in summary.servers.values():
                each.axis = summary.axis
    elif note.topic in ("gate", "database", "backlog", "resources"):
        _found(summary, note)
    elif of_server := summary.of_server(note.server):
        message = read_note(note)
        for server in of_server:
            server.noted.append(note)
            if isinstance(message, Peak):
                server.peaks.append(message)
            elif isinstance(message, Profile):
                server.profile = message
            elif message.code == "died" and not message.data().get("warming_up"):
                server.ended_at = message.data()["x"]
    else:
        # The null server is a tool, so notes about it are about the clients.
        summary.noted.append(note)


def _found(summary: Summary, note: Note) -> None:
    of_server = summary.of_server(note.server)
    if not of_server:
        return
    text = of_all(read_note(note)) or note.text
    names = summary.found.setdefault(text, [])
    names += [each.name for each in of_server if each.name not in names]
