"""Reports and comparisons as HTML: one file without scripts that works offline and prints.

The templates are in `resources/report`; texts are escaped there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from html import escape

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from workbench import __version__, formatting
from workbench.analysis.audits import Audit, tainted
from workbench.analysis.flame import HUES, OTHER, Box, flame, hue
from workbench.analysis.results import TRUSTED
from workbench.analysis.summary import ServerSummary, summarise
from workbench.axis import Axis
from workbench.documents import AnyDocument, Note, PointStop, RunStart
from workbench.formatting import capital, percent
from workbench.messages.notes import Profile, Severity
from workbench.messages.topics import about, severity
from workbench.paths import RESOURCES
from workbench.results import cross_check, differences, rows, setup, sustained, tables
from workbench.results.comparison import Comparison, Side
from workbench.results.conditions import Conditions
from workbench.results.cross_check import CrossCheck
from workbench.results.published import ThenAndNow, then_and_now
from workbench.results.setup import FROM_THE_SEND
from workbench.results.sustained import once
from workbench.results.table import Table, Texts
from workbench.untrusted import safe

_SIGNS = {"passed": "✓", "failed": "✗", "not-known": "?", "does-not-apply": "–"}
"""For audits, by state, so that colour is not the only sign."""


@dataclass(frozen=True)
class Drawing:
    """The drawings of a report, as SVG in the light colours; they are not escaped again."""

    charts: str = ""
    """Over the axis."""
    views: Mapping[str, str] = field(default_factory=dict)
    """Other views: "time", "distribution"."""
    swatches: Mapping[str, str] = field(default_factory=dict)
    """Line, dash and marker of every server, by its id."""
    tokens: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The page's colours by name: light and dark."""
    notes: Sequence[str] = ()
    """The user's notes that are drawn, numbered; texts, not markup."""
    recolour: Sequence[tuple[str, str]] = ()
    """Colours of the drawing, with their dark counterparts."""


class Report:
    """What a report says of a session, as its template reads it."""

    def __init__(
        self,
        documents: Sequence[AnyDocument],
        title: str = "",
        notes: str = "",
        remarks: Sequence[str] = (),
    ) -> None:
        """`documents`: complete; `title` and `notes`: the user's; `remarks`: found when the session
        was read. Raises ValueError if the documents do not begin with a `RunStart`."""
        start = documents[0] if documents else None
        if not isinstance(start, RunStart):
            raise ValueError("a report needs a session's RunStart")
        self.documents, self.start, self.notes, self._remarks = documents, start, notes, remarks
        self.summary = summarise(documents)
        self.title = title or self.summary.name or "Comparison"

    @property
    def axis(self) -> Axis:
        return self.summary.axis

    @property
    def began(self) -> str:
        return _date(self.start.started_utc)

    @property
    def state(self) -> str:
        """How the run ended, if it is not complete; empty: it is."""
        return sustained.state(self.summary)

    @property
    def answer(self) -> str:
        """The main result in a few sentences."""
        axis, unit = self.axis, self.summary.unit
        at = (lambda x: f"{axis.figure(x)} {unit} per second") if axis.per_second else axis.at
        return sustained.answer(self.summary.ranked(), at=at).sentences

    @cached_property
    def ranking(self) -> Table[ServerSummary]:
        return rows.ranking(self.summary)

    @cached_property
    def times(self) -> Table[ServerSummary]:
        """Of servers that have response times."""
        return tables.percentiles(self.summary)

    @cached_property
    def requests(self) -> list[Texts]:
        """Only if there are several."""
        return tables.of_requests(self.summary)

    @cached_property
    def clients(self) -> list[Texts]:
        """Only if there are several."""
        return tables.of_clients(self.summary)

    @cached_property
    def cross_check(self) -> list[CrossCheck]:
        """How far several load tools agree."""
        return cross_check.cross_checks(self.summary.plan, self.summary.servers.values())

    @property
    def cross_check_remark(self) -> str:
        return cross_check.remark(self.cross_check)

    @property
    def clock_remark(self) -> str:
        """Where response times count from, if not from the scheduled time."""
        return FROM_THE_SEND if self.summary.clock == "service" else ""

    @cached_property
    def then(self) -> ThenAndNow | None:
        """The figures of the source, if the plan asks a question of one."""
        return then_and_now(self.start.plan, self.summary.servers)

    @cached_property
    def doubts(self) -> list[str]:
        """Untrusted results and the reasons, as sentences."""
        found = sustained.doubts(self.summary, self.documents)
        return [*map(capital, self._remarks), *found]

    @cached_property
    def points(self) -> list[tuple[ServerSummary, Table[PointStop]]]:
        """All points of each server, the times from the scheduled time."""
        return [
            (server, rows.points(server, self.summary.metrics, "latency"))
            for server in self.summary.servers.values()
        ]

    def is_left_out(self, server: ServerSummary, point: PointStop) -> bool:
        """Whether it was interrupted, or repeated later."""
        return not (point.complete and server.counts(point))

    def reasons(self, server: ServerSummary, point: PointStop) -> str:
        """Return why a point has its verdict, and what else is to be said of it."""
        failed = self._failed.get(point.point, [])
        again = ["Repeated later."] if point.complete and not server.counts(point) else []
        audits = (f"Audit failed: {audit.label}." for audit in failed)
        return " ".join([*point.reasons, *again, *audits])

    def remarks(self, server: ServerSummary) -> list[str]:
        """Return what stands below a server's points."""
        unknown = server.all_not_checked
        found = [*server.notes, *server.incidents, *([unknown.text()] if unknown else [])]
        return once(found)

    @cached_property
    def conditions(self) -> list[str]:
        """How the test was set up, as sentences."""
        return setup.sentences(self.start, self.summary)

    @property
    def method(self) -> list[str]:
        return setup.method(self.start, self.summary)

    @property
    def machines(self) -> list[Texts]:
        return [table for machine in self.start.machines for table in setup.machine(machine)]

    @property
    def servers(self) -> Texts:
        return setup.servers(self.start)

    @property
    def plan(self) -> str:
        """YAML; can be run again."""
        return yaml.dump(
            self.start.plan,
            Dumper=_Dumper,
            default_flow_style=None,
            allow_unicode=True,
            sort_keys=False,
            width=90,
        )

    @property
    def events(self) -> Iterator[tuple[str, str, bool]]:
        """When, what, and whether it is serious."""
        for note in self.documents:
            if isinstance(note, Note):
                server = self.summary.servers.get(note.server)
                text = about(note, server.name if server else "")
                yield formatting.clock(note.t_us / 1e6), text, severity(note) >= Severity.WARNING

    @cached_property
    def _failed(self) -> Mapping[int, list[Audit]]:
        """The failed audits by the number of the point."""
        return tainted(self.summary.audits)


class _Dumper(yaml.SafeDumper):
    """Writes short lists on one line, and a repeated list twice: a plan has no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _date(utc: str) -> str:
    """For people, in UTC, so that a report reads the same wherever it is opened."""
    began = datetime.fromisoformat(utc)
    began = began.astimezone(UTC) if began.tzinfo else began
    return f"{began.day} {began:%B %Y, %H:%M} UTC"


def render(report: Report, drawing: Drawing) -> str:
    """The whole file; equal reports give equal bytes."""
    profiles = {s.id: s.profile for s in report.summary.ranked() if s.profile}
    return _fill(
        "report.html",
        drawing,
        title=report.title,
        pongbench=report.start.pongbench,
        report=report,
        flames={id_: Markup(flame_svg(found)) for id_, found in profiles.items()},
        why_it_stops=sustained.stops,
        trusted=TRUSTED,
        chart_notes=drawing.notes,
        signs=_SIGNS,
        cross_check_heading=cross_check.HEADING,
        cross_check_titles=cross_check.TITLES,
    )


def _fill(template: str, drawing: Drawing, **content: object) -> str:
    """Return a page of this template. Whatever comes from a session is escaped; only what was drawn
    here is markup."""
    environment = Environment(
        loader=FileSystemLoader(RESOURCES / "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda shown: safe(shown) if type(shown) is str else shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        charts=Markup(drawing.charts),
        views={name: Markup(svg) for name, svg in drawing.views.items()},
        swatches={id_: Markup(svg) for id_, svg in drawing.swatches.items()},
        hues=HUES,
        tokens=drawing.tokens,
        recolour=drawing.recolour,
        **content,
    )


def render_comparison(comparison: Comparison, differing: Conditions, drawing: Drawing) -> str:
    """Return the whole file."""
    sides, at = comparison.sides, comparison.axis.at(comparison.rate or 0)
    parts = zip(("Results", f"All servers at {at}"), rows.in_parts(comparison), strict=False)
    conditions = (*differing.differing, *differing.audits)
    # Where the files lie does not concern readers.
    warnings = (
        f"{side.tag}: {warning.replace(str(side.path), side.path.name)}"
        for side in sides
        for warning in side.warnings
    )
    found = (
        (differences.difference_in(comparison, a, b), differences.figures_in(comparison, a, b))
        for a, b in differences.pairs(comparison)
    )
    return _fill(
        "comparison.html",
        drawing,
        title=differences.title(comparison),
        pongbench=__version__,
        sessions=Texts(
            "Sessions",
            tuple(map(_session, sides)),
            ("", "Session", "Began", "Machines", "Load"),
        ),
        warnings=[*warnings, *differing.warnings],
        results=[(title, table.told()) for title, table in parts],
        replies=comparison.axis.replies,
        differences=[" ".join(filter(None, sentences)) for sentences in found],
        conditions=Texts(
            "Conditions that differ",
            tuple((c.what, *(c.values.get(side.tag, "") for side in sides)) for c in conditions),
            ("", *(side.tag for side in sides)),
        ),
        same=differing.same_text(),
    )


def _session(side: Side) -> tuple[str, ...]:
    found = side.setup
    return (
        side.tag,
        f"{side.name} ({side.path.name})",
        _date(side.start.started_utc),
        setup.sentence(found.where),
        setup.sentence(found.protocol, found.calls, found.load, found.size),
    )


_WIDTH, _ROW = 1100, 20
_NARROWEST_PX = 1.0
"""Narrower boxes are left out."""
_CHARACTER_PX = 7.0
"""The width of a character, of 12 pixels' height."""


def flame_svg(profile: Profile) -> str:
    """Return an SVG element to stand in an HTML page; foreign names are escaped."""
    root = flame(profile)
    boxes = [box for box in root.all() if box.share * _WIDTH >= _NARROWEST_PX]
    height = (max((box.depth for box in boxes), default=0) + 1) * _ROW
    drawn = "".join(_drawn(box, root.samples) for box in boxes)
    about = escape(f"Flame graph of {profile.name}: {profile.shares()}", quote=True)
    return (
        f'<svg class="flame" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{about}">'
        f"{drawn}</svg>"
    )


def _drawn(box: Box, samples: int) -> str:
    x, y, width = box.start * _WIDTH, box.depth * _ROW, box.share * _WIDTH
    inside = width - 1 if width > 3 else width
    own = percent(100 * box.own / samples)
    about = f"{box.name}: {percent(100 * box.share)} ({box.samples:,}), itself {own}"
    place = f'x="{x:.1f}" y="{y}" width="{inside:.1f}" height="{_ROW - 1}"'
    name = _fitted(box.name, inside - 8)
    text = f'<text x="{x + 4:.1f}" y="{y + 14}">{escape(name)}</text>' if name else ""
    return f'<g><title>{escape(about)}</title><rect class="{_colour(box)}" {place}/>{text}</g>'


def _fitted(name: str, width: float) -> str:
    """Cut a name to a width, by the fonts that browsers fall back to; empty: nothing fits."""
    most = int(width / _CHARACTER_PX)
    if len(name) <= most:
        return name
    return f"{name[: most - 1]}…" if most > 2 else ""


def _colour(box: Box) -> str:
    """One of --h0, --h1, ... of the page."""
    if box.parent is None or box.name == OTHER:
        return "h"
    return f"h{hue(box)}"
