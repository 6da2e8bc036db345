"""What a report consists of, as its template reads it. Texts are for people and not yet escaped."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.analysis.audits import Audit
from workbench.messages.notes import Profile
from workbench.report import distributions
from workbench.report.conditions import Table
from workbench.report.cross_check import CrossCheck
from workbench.report.then import ThenAndNow


@dataclass(frozen=True)
class Ranked:
    """A server's row in the ranking."""

    id: str
    name: str
    version: str
    sustained: str
    """See `report.sustained`; if the axis has no limit, also at which value."""
    interval: str
    """Of a search: the interval of the limit; otherwise empty."""
    mean: str
    p50: str
    p99: str
    cpu: str
    cpu_per_call: str
    full_core: str
    """The load at which one core would be full."""
    memory: str
    processes: str
    """And threads, at rest: "4 (20 threads)"."""
    stops: str
    """Why it reaches its limit; empty: unknown."""
    profile: str
    """Which functions take its CPU time, or why that is unknown; empty: it was not profiled."""
    incidents: str
    """How it died or why its sweep ended early; empty: neither."""
    faulty: str
    """Where and how it was faulty; empty: nowhere."""
    disqualified: str
    """Past which value it stopped replying; empty: it did not."""


@dataclass(frozen=True)
class Times:
    """The distribution of a server's response times, where it sustains its rate."""

    id: str
    name: str
    at: str
    """ "4,700/s"."""
    tasks: str
    """ "4 processes"; empty: one, or unknown."""
    cells: tuple[str, ...]
    """As `distributions.titles`; empty: too few replies."""
    replies: str
    """How many replies there are, and what they support."""


@dataclass(frozen=True)
class PointRow:
    """A point; empty cells: unknown."""

    offered: str
    pass_number: int
    replies: str
    """Per second, in the unit of the rate; with the calls, where a unit has several."""
    errors: str
    times: tuple[str, ...]
    """Mean, p50, p90, p99, p99.9 and maximum, from the scheduled time."""
    service: str
    """p99, from the send."""
    cpu: str
    memory: str
    metrics: tuple[str, ...]
    """As `Report.metrics`."""
    verdict: str
    trusted: bool
    counts: bool
    """False: interrupted, or repeated later."""
    reasons: str


@dataclass(frozen=True)
class Points:
    """All points of a server."""

    id: str
    name: str
    version: str
    tasks: str
    """ "1 process, 8 threads"; empty: unknown."""
    rows: tuple[PointRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Event:
    """A note of the run."""

    at: str
    text: str
    serious: bool


@dataclass
class Report:
    """Everything a report says."""

    title: str
    began: str
    """For people, in UTC, so that a report reads the same wherever it is opened."""
    began_utc: str
    session: str
    pongbench: str
    state: str
    """How the run ended, if it is not complete; empty: it is."""
    answer: str
    """The main result in one sentence."""
    unit: str
    column: str
    """Title of the column with the axis's values."""
    has_limit: bool
    """Whether the axis has a limit; otherwise servers are ranked by most replies."""
    replies: str
    """What answered calls are named: "replies", "messages"."""
    served: str
    """Title of what replies per second count: "Replies", "Users served"."""
    searched: bool
    """Whether the plan searched for peaks."""
    ranking: list[Ranked] = field(default_factory=list)
    profiles: dict[str, Profile] = field(default_factory=dict)
    """By server, in the order of the ranking."""
    times: list[Times] = field(default_factory=list)
    times_titles: list[str] = field(default_factory=distributions.titles)
    requests: list[Table] = field(default_factory=list)
    """Only if there are several."""
    passes: int = 1
    metrics: tuple[str, ...] = ()
    """Labels of the metrics beyond the built-in ones."""
    cross_check: list[CrossCheck] = field(default_factory=list)
    """How far several load tools agree."""
    cross_check_remark: str = ""
    clock_remark: str = ""
    """Where response times count from, if not from the scheduled time."""
    then: ThenAndNow | None = None
    """The figures of the source, if the plan asks a question of one."""
    doubts: list[str] = field(default_factory=list)
    """Untrusted results and the reasons, as sentences."""
    audits: list[Audit] = field(default_factory=list)
    """The checklist."""
    points: list[Points] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    """How the test was set up, as sentences."""
    machines: list[Table] = field(default_factory=list)
    servers: Table | None = None
    clients: list[Table] = field(default_factory=list)
    """Only if there are several."""
    plan: str = ""
    """YAML; can be run again."""
    events: list[Event] = field(default_factory=list)
    method: list[str] = field(default_factory=list)
    notes: str = ""
    """The user's own notes."""
