"""Sessions side by side: their servers, their common rate, and their differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.analysis.cost import rank
from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.intervals import Difference, difference
from workbench.analysis.over_time import OverTime
from workbench.analysis.results import Clock, clock_of
from workbench.analysis.server_summary import ServerSummary
from workbench.analysis.summary import Summary, summarise
from workbench.axis import RATE, Axis
from workbench.comparison.contenders import Contender
from workbench.comparison.pairwise import Figure, pairwise
from workbench.documents import Document, HostSample, Note, RunStart, ServerRecord
from workbench.errors import BadInput
from workbench.messages.reasons import limit_phrase
from workbench.report.setup import Setup
from workbench.sessions import Session, read_session
from workbench.sessions.labels import UNLABELLED, Titles

TAGS = "ABCDEF"
MOST = len(TAGS)
"""The most sessions in a comparison."""


@dataclass(frozen=True)
class Side:
    """A session of a comparison."""

    tag: str
    """One of `TAGS`."""
    path: Path
    start: RunStart
    summary: Summary
    contenders: Sequence[Contender]
    """In the plan's order."""
    warnings: Sequence[str] = ()
    """Sentences about the file: damaged, cut off, partly unknown."""
    title: str = ""
    """The user's title."""
    damaged: bool = False
    """Only a part of the file could be read."""
    over_time: OverTime = field(default_factory=OverTime)
    """Its windows and samples."""

    @property
    def name(self) -> str:
        """The user's title, otherwise the plan's name, otherwise the file's."""
        return self.title or self.start.plan.get("name") or self.path.name

    @property
    def plan(self) -> dict[str, Any]:
        return self.start.plan

    @property
    def setup(self) -> Setup:
        return Setup(self.start)

    @property
    def axis(self) -> Axis:
        """What its plan varies."""
        return self.summary.axis

    @property
    def unit(self) -> str:
        """The unit of its axis."""
        return self.axis.counts

    def why_not_comparable(self, other: Side) -> str:
        """Why the two are not comparable: "A varied the offered rate, B the pipeline"; empty: they
        are."""
        one, two = self.axis, other.axis
        if one.key != two.key:
            return f"{self.tag} varied the {one.name}, {other.tag} the {two.name}"
        if self.unit != other.unit:
            return f"{self.tag} counts {self.unit}, {other.tag} counts {other.unit}"
        if self._limits != other._limits:
            return f"{self.tag} asked for {self._limits}, {other.tag} for {other._limits}"
        return ""

    @property
    def _limits(self) -> str:
        """What a rate had to meet to count as sustained."""
        return self.setup.limits or limit_phrase(100 * (1 - SUSTAINED_SHARE), None)

    def retagged(self, tag: str) -> Side:
        contenders = [replace(contender, tag=tag) for contender in self.contenders]
        return replace(self, tag=tag, contenders=contenders)


def read_side(path: Path, tag: str, *, newer: bool = False) -> Side:
    """Raises BadInput if it cannot be read or has no beginning."""
    side = side_of(read_session(path, newer=newer), path, tag)
    label = Titles(path.parent).read().get(side.start.session, UNLABELLED)
    return replace(side, title=label.title)


def side_of(session: Session, path: Path, tag: str) -> Side:
    """Raises BadInput for a session without a beginning."""
    start, documents = session.start, session.completed()
    warnings = list(session.notes)
    if session.damage:
        warnings.append(f"{session.damage} Only the part before it is compared.")
    elif session.interrupted:
        warnings.append("The recording ends before the run did; the recorded part is compared.")
    summary, over_time = summarise(documents), OverTime()
    for document in documents:
        over_time(document)
    records = {record.id: record for record in start.servers}
    backlogs = _backlogs(documents)
    contenders = [
        Contender(
            tag, records.get(server.id) or _unlisted(server), server, backlogs.get(server.id, 0)
        )
        for server in summary.servers.values()
    ]
    damaged = bool(session.damage)
    return Side(
        tag, path, start, summary, contenders, warnings, damaged=damaged, over_time=over_time
    )


def check_count(paths: Sequence[Path]) -> None:
    """Raises BadInput for more sessions than can be compared at once."""
    if len(paths) > MOST:
        raise BadInput(f"{len(paths)} sessions cannot be compared at once; the most is {MOST}.")


@dataclass(frozen=True)
class Comparison:
    """The chosen servers of some sessions."""

    sides: Sequence[Side]
    contenders: Sequence[Contender] = ()
    """The chosen ones, by session and in its plan's order."""
    rate: float | None = None
    """The rate at which all are compared; None: they have none in common."""
    shared: Sequence[float] = ()
    """The rates with points of all of them, ascending."""

    @property
    def axis(self) -> Axis:
        """The first session's: those with another unit share no axis with it."""
        return self.sides[0].axis if self.sides else RATE

    @property
    def unit(self) -> str:
        """The unit of the axis."""
        return self.axis.counts

    @cached_property
    def clock(self) -> Clock:
        """By which response times are compared; see `clock_of`."""
        return clock_of(stop for each in self.contenders for stop in each.result.counted)

    def side(self, contender: Contender) -> Side:
        return next(side for side in self.sides if side.tag == contender.tag)

    def ranked(self) -> list[Contender]:
        """Highest knee first; for servers without one, most replies first. Last are those without
        points, then those that are not comparable with the first session."""

        def place(c: Contender) -> tuple[bool, bool, float, float]:
            return bool(self.why_not_comparable(c)), not c.measured, *rank(c.result)

        return sorted(self.contenders, key=place)

    def why_not_comparable(self, contender: Contender) -> str:
        """Why it is not comparable with the first session; empty: it is."""
        return self.sides[0].why_not_comparable(self.side(contender))

    def comparable(self) -> list[Contender]:
        """Those that are comparable with the first session."""
        return [c for c in self.contenders if not self.why_not_comparable(c)]

    def difference(self, a: Contender, b: Contender) -> Difference | None:
        """Of their knees; None: one has none, or they are not comparable."""
        if self.side(a).why_not_comparable(self.side(b)):
            return None
        return difference(a.result.pass_knees, b.result.pass_knees, paired=self._paired(a, b))

    def figures(self, a: Contender, b: Contender) -> list[Figure]:
        """Figure by figure at the common rate; empty: there is none, or they are not comparable."""
        if self.rate is None or self.side(a).why_not_comparable(self.side(b)):
            return []
        return pairwise(a, b, self.rate, paired=self._paired(a, b), clock=self.clock)

    def _paired(self, a: Contender, b: Contender) -> bool:
        """Whether their passes were interleaved."""
        return a.tag == b.tag and self.side(a).setup.interleaved

    def common(self) -> list[str]:
        """Ids of servers that every session has, in the first one's order."""
        everywhere = set.intersection(*({c.id for c in s.contenders} for s in self.sides))
        return [c.id for c in self.sides[0].contenders if c.id in everywhere]


def compare(
    sides: Sequence[Side], chosen: Iterable[str] | None = None, rate: float | None = None
) -> Comparison:
    """`chosen`: keys of contenders, None: all. `rate`: where to compare them, None: the highest
    rate that all of them sustained, otherwise the highest offered to all."""
    wanted = None if chosen is None else set(chosen)
    contenders = [
        contender
        for side in sides
        for contender in side.contenders
        if wanted is None or contender.key in wanted
    ]
    alike = {side.tag for side in sides if not sides[0].why_not_comparable(side)}
    counted = [c for c in contenders if c.measured and c.tag in alike]
    shared = sorted(set.intersection(*(set(c.xs) for c in counted))) if counted else []
    if rate is None and shared:
        lowest = min(contender.result.knee or 0.0 for contender in counted)
        sustained = [each for each in shared if each <= lowest]
        rate = max(sustained or shared)
    return Comparison(sides, contenders, rate, shared)


def _unlisted(server: ServerSummary) -> ServerRecord:
    return ServerRecord(id=server.id, name=server.name, family="")


def _backlogs(documents: Iterable[Document]) -> dict[str, int]:
    """The backlog in force, by server: as noted when it was deployed, otherwise as sampled."""
    noted: dict[str, int] = {}
    sampled: dict[str, int] = {}
    for document in documents:
        if isinstance(document, Note) and document.topic == "backlog" and document.data:
            noted[document.server] = document.data["backlog"]
        elif isinstance(document, HostSample) and document.server and document.backlog:
            sampled[document.server] = document.backlog
    return sampled | noted
