"""Sessions side by side: their servers, their common rate, and their differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from workbench import formatting
from workbench.analysis import significance
from workbench.analysis.cost import CPU_PER_CALL, cpu_us_per_call, rank
from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.knee import Difference, difference
from workbench.analysis.over_time import OverTime
from workbench.analysis.series import Clock, Percentile, PointResult, clock_of, known_us
from workbench.analysis.significance import CONFIDENCE, MARGIN, Change, Finding
from workbench.analysis.summary import ServerSummary, Summary, summarise
from workbench.axis import RATE, Axis
from workbench.documents import Document, HostSample, Note, PointStop, RunStart, ServerRecord
from workbench.formatting import duration, percent, span
from workbench.messages.reasons import limit_phrase
from workbench.results.setup import Setup
from workbench.sessions import Session, read_session
from workbench.sessions.labels import UNLABELLED, Titles


@dataclass(frozen=True)
class Contender:
    tag: str
    record: ServerRecord
    result: ServerSummary
    backlog: int = 0
    """In force in the kernel; 0: unknown."""

    @property
    def id(self) -> str:
        return self.result.key

    @property
    def name(self) -> str:
        return self.result.name

    @property
    def key(self) -> str:
        """ "A/gevent"."""
        return f"{self.tag}/{self.id}"

    @property
    def label(self) -> str:
        """ "gevent in A"."""
        return f"{self.name} in {self.tag}"

    @property
    def measured(self) -> bool:
        return bool(self.result.counted)

    @cached_property
    def xs(self) -> list[float]:
        """The values it was measured at, ascending."""
        return [point.x for point in self.result.points]


ERRORS_MARGIN = 0.5
"""Percentage points, because 0 errors have no ratio: half of what a sustained rate may have."""


@dataclass(frozen=True)
class Figure:
    """One figure of both servers. The difference is the first minus the second."""

    what: str
    first: str
    second: str
    """Both as formatted for people; empty: unknown."""
    difference: float | None
    """In `unit`; None: one of them is unknown."""
    low: float | None
    high: float | None
    """The interval of the difference over the passes; both None: a single pass has no spread."""
    unit: str
    text: str
    """ "slower by 8 to 12 %", "equal within 5 %", "+36 µs, no spread: ..."."""
    change: Change | None = None
    """Over the passes, as a share of the second; for errors in percentage points."""
    finding: Finding | None = None
    """None: as above."""

    @property
    def name(self) -> str:
        """`what` as people read it."""
        return "RSS" if self.what == "memory" else self.what


def pairwise(
    a: Contender,
    b: Contender,
    rate: float,
    *,
    paired: bool = False,
    clock: Clock = "latency",
    confidence: float = CONFIDENCE,
) -> list[Figure]:
    """At a rate offered to both; empty: there is no such rate. `paired`: their passes were
    interleaved; `clock`: of the response times."""
    first, second = a.result.at(rate), b.result.at(rate)
    if first is None or second is None:
        return []
    quantities = [_percentile("p50", clock), _percentile("p99", clock), *_QUANTITIES]
    return [_figure(each, first, second, paired, confidence) for each in quantities]


@dataclass(frozen=True)
class _Quantity:
    what: str
    unit: str
    whole: Callable[[PointResult], float | None]
    """Over all passes: counts added up, histograms merged."""
    single: Callable[[PointStop], float | None]
    """For one pass."""
    format: Callable[[float], str]
    """Formats values that are not negative."""
    more: str = "{} more"
    less: str = "{} less"
    step: float = 0.0
    """Resolution of the measurement, in `unit`."""
    absolute: bool = False
    """Compared by differences, because it may be 0, which has no ratio."""


def _percentile(name: Percentile, clock: Clock) -> _Quantity:
    return _Quantity(
        name,
        "us",
        lambda at: known_us(at.times(clock), name),
        lambda stop: known_us(stop.latency_us if clock == "latency" else stop.service_us, name),
        duration,
        "slower by {}",
        "faster by {}",
        step=1.0,
    )


def _cpu(value: float) -> str:
    return f"{value:.1f} %" if value >= 10 else f"{value:.2f} %"


def _memory(value: float) -> str:
    """With enough digits that a difference agrees with the two values beside it."""
    return f"{value / 1e6:,.1f} MB"


_QUANTITIES = (
    _Quantity(
        "errors",
        "%",
        lambda at: at.errors_pct,
        lambda stop: stop.errors_pct,
        percent,
        absolute=True,
    ),
    _Quantity(
        "CPU", "%", lambda at: at.cpu_pct or None, lambda stop: stop.server_cpu_pct or None, _cpu
    ),
    _Quantity(
        "CPU per call",
        "us",
        cpu_us_per_call,
        lambda stop: stop.values.get(CPU_PER_CALL),
        lambda value: formatting.figure(value, "µs"),
    ),
    _Quantity(
        "memory",
        "bytes",
        lambda at: float(at.rss_bytes) or None,
        lambda stop: float(stop.server_rss_bytes) or None,
        _memory,
    ),
)


def _figure(
    quantity: _Quantity, first: PointResult, second: PointResult, paired: bool, confidence: float
) -> Figure:
    a, b = quantity.whole(first), quantity.whole(second)
    left, right = ("" if value is None else quantity.format(value) for value in (a, b))
    if a is None or b is None:
        return Figure(quantity.what, left, right, None, None, None, quantity.unit, "")
    change = _change(quantity, first, second, paired, confidence)
    if change is None:
        single = [len(at.by_pass(quantity.single)) < 2 for at in (first, second)]
        whose = "each" if all(single) else "one"
        text = f"{_signed(quantity, a - b)}, no spread: {whose} has a single pass"
        text = "the same" if a == b else text
        return Figure(quantity.what, left, right, a - b, None, None, quantity.unit, text)
    return Figure(
        what=quantity.what,
        first=left,
        second=right,
        difference=a - b,
        low=change.low if quantity.absolute else b * change.low,
        high=finite(change.high if quantity.absolute else b * change.high),
        unit=quantity.unit,
        text=_formatted(quantity, change),
        change=change,
        finding=change.found(_margin(quantity)),
    )


def _change(
    quantity: _Quantity, first: PointResult, second: PointResult, paired: bool, confidence: float
) -> Change | None:
    x, y = first.by_pass(quantity.single), second.by_pass(quantity.single)
    if quantity.absolute:
        return significance.difference(x, y, paired=paired, confidence=confidence)
    finest = quantity.step / min([*x.values(), *y.values()], default=1.0)
    return significance.ratio(x, y, paired=paired, resolution=finest, confidence=confidence)


def _margin(quantity: _Quantity) -> float:
    return ERRORS_MARGIN if quantity.absolute else MARGIN


def _formatted(quantity: _Quantity, change: Change) -> str:
    def ends(low: float, high: float) -> str:
        if quantity.absolute:
            return f"{span(low, high)} percentage points"
        return f"{span(100 * low, 100 * high)} %"

    if change.low == change.high == 0:
        return "the same"
    match change.found(margin := _margin(quantity)):
        case "equal":
            return f"equal within {ends(margin, margin)}"
        case "more":
            return quantity.more.format(ends(change.low, change.high))
        case "less":
            return quantity.less.format(ends(-change.high, -change.low))
    if not quantity.absolute and change.most > 1:
        return "cannot be distinguished: could differ by more than 100 %"
    return f"cannot be distinguished: could differ by up to {ends(change.most, change.most)}"


def _signed(quantity: _Quantity, value: float) -> str:
    """With a minus sign; a difference of percentages is in percentage points."""
    text = quantity.format(abs(value)).replace(" %", " percentage points")
    return f"{'−' if value < 0 else '+'}{text}"


def finite(value: float) -> float | None:
    return value if isfinite(value) else None


TAGS = "ABCDEF"
MOST = len(TAGS)
"""The most sessions in a comparison."""


@dataclass(frozen=True)
class Side:
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

    def why_not_comparable(self, other: Side) -> str:
        """Why they are not: "A varied the offered rate, B the pipeline"; empty: they are."""
        one, two = self.axis, other.axis
        if one.key != two.key:
            return f"{self.tag} varied the {one.name}, {other.tag} the {two.name}"
        if one.counts != two.counts:
            return f"{self.tag} counts {one.counts}, {other.tag} counts {two.counts}"
        if self._limits != other._limits:
            return f"{self.tag} asked for {self._limits}, {other.tag} for {other._limits}"
        return ""

    @property
    def _limits(self) -> str:
        """What a rate had to meet to count as sustained."""
        return self.summary.limits or limit_phrase(100 * (1 - SUSTAINED_SHARE), None)

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
            tag,
            records.get(server.server)
            or ServerRecord(id=server.server, name=server.name, family=""),
            server,
            backlogs.get(server.server, 0),
        )
        for server in summary.servers.values()
    ]
    damaged = bool(session.damage)
    return Side(
        tag, path, start, summary, contenders, warnings, damaged=damaged, over_time=over_time
    )


@dataclass(frozen=True)
class Comparison:
    sides: Sequence[Side]
    contenders: Sequence[Contender] = ()
    """The chosen ones, by session and in its plan's order."""
    rate: float | None = None
    """The rate at which all are compared; None: they have none in common."""
    shared: Sequence[float] = ()
    """The rates with points of all of them, ascending."""
    confidence: float = CONFIDENCE
    """Of the intervals of figures; more where they are looked at several times."""

    @property
    def axis(self) -> Axis:
        """The first session's: those with another unit share no axis with it."""
        return self.sides[0].axis if self.sides else RATE

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
        return pairwise(
            a, b, self.rate, paired=self._paired(a, b), clock=self.clock, confidence=self.confidence
        )

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
