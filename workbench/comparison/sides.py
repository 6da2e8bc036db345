"""Sessions side by side: their servers, their common rate, and their differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.analysis.cost import rank
from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.intervals import Difference, difference
from workbench.analysis.summary import ServerSummary, Summary, summarise
from workbench.axis import RATE, Axis
from workbench.comparison.contenders import Contender
from workbench.comparison.pairwise import Figure, pairwise
from workbench.documents import Document, HostSample, Note, RunStart, ServerRecord
from workbench.errors import BadInput
from workbench.messages.limits import phrase
from workbench.report.setup import Setup
from workbench.sessions import Session, read_session
from workbench.sessions.labels import UNLABELLED, Titles

TAGS = "ABCDEF"
MOST = len(TAGS)
"""Sessions at a time."""


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
    """What its user calls it."""
    damaged: bool = False
    """Only a part of the file could be read."""

    @property
    def name(self) -> str:
        """The user's, else the plan's, else the file's."""
        return self.title or self.start.plan.get("name") or self.path.name

    @property
    def plan(self) -> dict[str, Any]:
        return self.start.plan

    @property
    def axis(self) -> Axis:
        """What its plan varies."""
        return self.summary.axis

    @property
    def unit(self) -> str:
        """What its axis counts."""
        return self.axis.counts

    def unlike(self, other: Side) -> str:
        """Why the two do not compare: "A varied the offered rate, B the pipeline"; empty: they
        do."""
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
        """What a rate had to keep to count as sustained."""
        return Setup(self.start).limits or phrase(100 * (1 - SUSTAINED_SHARE), None)

    @property
    def interleaved(self) -> bool:
        """Did its servers take turns, so that their passes can be compared one by one?"""
        return self.plan.get("order") == "interleaved"

    def retagged(self, tag: str) -> Side:
        contenders = [replace(contender, tag=tag) for contender in self.contenders]
        return replace(self, tag=tag, contenders=contenders)


def read_side(path: Path, tag: str, *, newer: bool = False) -> Side:
    """A session without its windows. Raises BadInput: it cannot be read or has no beginning."""
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
    summary = summarise(documents)
    records = {record.id: record for record in start.servers}
    backlogs = _backlogs(documents)
    contenders = [
        Contender(
            tag, records.get(server.id) or _unlisted(server), server, backlogs.get(server.id, 0)
        )
        for server in summary.servers.values()
    ]
    return Side(tag, path, start, summary, contenders, warnings, damaged=bool(session.damage))


def check_count(paths: Sequence[Path]) -> None:
    """Raises BadInput for more sessions than can be compared at once."""
    if len(paths) > MOST:
        raise BadInput(f"{len(paths)} sessions cannot be compared at once; the most is {MOST}.")


@dataclass(frozen=True)
class Comparison:
    """Chosen servers of some sessions."""

    sides: Sequence[Side]
    contenders: Sequence[Contender] = ()
    """Those chosen, by session and in its plan's order."""
    rate: float | None = None
    """The rate at which all are compared; None: they have none in common."""
    shared: Sequence[float] = ()
    """The rates offered to all of them that have points, rising."""

    @property
    def axis(self) -> Axis:
        """The first session's: those of another unit share no axis with it."""
        return self.sides[0].axis if self.sides else RATE

    @property
    def unit(self) -> str:
        """What the axis counts."""
        return self.axis.counts

    def side(self, contender: Contender) -> Side:
        return next(side for side in self.sides if side.tag == contender.tag)

    def ranked(self) -> list[Contender]:
        """Highest knee first, without one most replies; without points, then what does not compare
        with the first session last."""

        def place(c: Contender) -> tuple[bool, bool, float, float]:
            return bool(self.unlike(c)), not c.measured, *rank(c.result)

        return sorted(self.contenders, key=place)

    def unlike(self, contender: Contender) -> str:
        """Why it does not compare with the first session; empty: it does."""
        return self.sides[0].unlike(self.side(contender))

    def drawn(self) -> list[Contender]:
        """Those that compare with the first session."""
        return [c for c in self.contenders if not self.unlike(c)]

    def difference(self, a: Contender, b: Contender) -> Difference | None:
        """Of their knees; None: one has none, or they do not compare."""
        if self.side(a).unlike(self.side(b)):
            return None
        return difference(a.result.pass_knees, b.result.pass_knees, paired=self._paired(a, b))

    def figures(self, a: Contender, b: Contender) -> list[Figure]:
        """Figure by figure at the common rate; empty: there is none, or they do not compare."""
        if self.rate is None or self.side(a).unlike(self.side(b)):
            return []
        return pairwise(a, b, self.rate, paired=self._paired(a, b))

    def _paired(self, a: Contender, b: Contender) -> bool:
        """Did their passes take turns?"""
        return a.tag == b.tag and self.side(a).interleaved

    def common(self) -> list[str]:
        """Ids of servers that every session has, in the first one's order."""
        everywhere = set.intersection(*({c.id for c in s.contenders} for s in self.sides))
        return [c.id for c in self.sides[0].contenders if c.id in everywhere]


def compare(
    sides: Sequence[Side], chosen: Iterable[str] | None = None, rate: float | None = None
) -> Comparison:
    """`chosen`: keys of contenders, None: all. `rate`: at which they are told, None: the highest
    that all of them held, else the highest offered to all."""
    wanted = None if chosen is None else set(chosen)
    contenders = [
        contender
        for side in sides
        for contender in side.contenders
        if wanted is None or contender.key in wanted
    ]
    alike = {side.tag for side in sides if not sides[0].unlike(side)}
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
    """In force, by server: as noted when it was deployed, else as sampled."""
    noted: dict[str, int] = {}
    sampled: dict[str, int] = {}
    for document in documents:
        if isinstance(document, Note) and document.topic == "backlog" and document.data:
            noted[document.server] = document.data["backlog"]
        elif isinstance(document, HostSample) and document.server and document.backlog:
            sampled[document.server] = document.backlog
    return sampled | noted
