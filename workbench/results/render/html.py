"""Reports and comparisons as HTML: one file that loads nothing, works offline and prints.

The templates are in `resources/report`; texts are escaped there.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from workbench import __version__, formatting
from workbench.analysis.audits import tainted
from workbench.analysis.flame import HUES, OTHER, Box, flame, hue
from workbench.analysis.series import TRUSTED
from workbench.analysis.summary import ServerSummary, Summary, summarise
from workbench.documents import AnyDocument, Note, PointStop, RunStart
from workbench.formatting import capital, percent
from workbench.messages.notes import Severity
from workbench.messages.outcomes import Profile
from workbench.messages.topics import about, severity
from workbench.paths import RESOURCES
from workbench.results import cross_check, differences, rows, setup, sustained, tables
from workbench.results.comparison import Comparison, Side
from workbench.results.conditions import Conditions
from workbench.results.published import then_and_now
from workbench.results.setup import FROM_THE_SEND
from workbench.results.sustained import once
from workbench.results.tables import Texts
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
    live: Mapping[str, Any] | None = None
    """The charts as data, drawn by a script where the reader allows one; None: a page without."""


def render(
    documents: Sequence[AnyDocument],
    drawing: Drawing,
    title: str = "",
    notes: str = "",
    remarks: Sequence[str] = (),
) -> str:
    """Return the report on a session, the same bytes for the same. `documents`: complete; `title`
    and `notes`: the user's; `remarks`: found when the session was read."""
    start = documents[0]
    assert isinstance(start, RunStart)
    summary = summarise(documents)
    axis, ranked, failed = summary.axis, summary.ranked(), tainted(summary.audits)
    checks = cross_check.cross_checks(summary.plan, summary.servers.values())

    def rate(x: float) -> str:
        return f"{axis.figure(x)} {summary.unit} per second" if axis.per_second else axis.at(x)

    def reasons(server: ServerSummary, point: PointStop) -> str:
        again = ["Repeated later."] if point.complete and not server.counts(point) else []
        audits = (f"Audit failed: {audit.label}." for audit in failed.get(point.point, []))
        return " ".join([*point.reasons, *again, *audits])

    def below_points(server: ServerSummary) -> list[str]:
        unknown = server.all_not_checked
        return once([*server.notes, *server.incidents, *([unknown.text()] if unknown else [])])

    return _fill(
        "report.html",
        drawing,
        title=title or summary.name or "Comparison",
        pongbench=start.pongbench,
        start=start,
        summary=summary,
        axis=axis,
        ranked=ranked,
        began=_date(start.started_utc),
        state=sustained.state(summary),
        answer=sustained.answer(ranked, at=rate, whole=summary.status == "done").sentences,
        notes=notes,
        chart_notes=drawing.notes,
        ranking=rows.ranking(summary),
        why_it_stops=sustained.stops,
        clock_remark=FROM_THE_SEND if summary.clock == "service" else "",
        cross_check=checks,
        cross_check_heading=cross_check.HEADING,
        cross_check_titles=cross_check.TITLES,
        cross_check_remark=cross_check.remark(checks),
        then=then_and_now(start.plan, summary.servers),
        flames={s.id: Markup(flame_svg(s.profile)) for s in ranked if s.profile},
        times=tables.percentiles(summary),
        requests=tables.of_requests(summary),
        doubts=[*map(capital, remarks), *sustained.doubts(summary, documents)],
        signs=_SIGNS,
        conditions=setup.sentences(start, summary),
        machines=[table for machine in start.machines for table in setup.machine(machine)],
        clients=tables.of_clients(summary),
        servers=setup.servers(start),
        plan=setup.plan(start),
        method=setup.method(start, summary),
        points=[
            (server, rows.points(server, summary.metrics, "latency"))
            for server in summary.servers.values()
        ],
        trusted=TRUSTED,
        reasons=reasons,
        below_points=below_points,
        events=[_event(note, summary) for note in documents if isinstance(note, Note)],
    )


def _event(note: Note, summary: Summary) -> tuple[str, str, bool]:
    """Return when, what, and whether it is serious."""
    server = summary.servers.get(note.server)
    text = about(note, server.name if server else "")
    return formatting.clock(note.t_us / 1e6), text, severity(note) >= Severity.WARNING


def _date(utc: str) -> str:
    """For people, in UTC, so that a report reads the same wherever it is opened."""
    began = datetime.fromisoformat(utc)
    began = began.astimezone(UTC) if began.tzinfo else began
    return f"{began.day} {began:%B %Y, %H:%M} UTC"


def _fill(template: str, drawing: Drawing, **content: object) -> str:
    """Return a page of this template. All is escaped but for what was drawn here."""
    script = _script() if drawing.live else ""
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
        data=htmlsafe_json_dumps(drawing.live, **_JSON) if drawing.live else "",
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        script_style=Markup((_UPLOT / "uPlot.min.css").read_text("utf-8") if script else ""),
        **content,
    )


_JSON: dict[str, Any] = {"separators": (",", ":"), "allow_nan": False, "ensure_ascii": False}
_UPLOT = RESOURCES / "report" / "uplot"


def _script() -> str:
    """Return the one script of a page: what draws, and what draws with that."""
    parts = (_UPLOT / "uPlot.iife.min.js", RESOURCES / "report" / "charts.js")
    return "\n".join(part.read_text("utf-8") for part in parts)


def render_comparison(comparison: Comparison, differing: Conditions, drawing: Drawing) -> str:
    sides, at = comparison.sides, comparison.axis.at(comparison.rate or 0)
    parts = zip(("Results", f"All servers at {at}"), rows.in_parts(comparison), strict=False)
    conditions = (*differing.differing, *differing.audits)
    # Where the files lie does not concern readers.
    warnings = (
        f"{side.tag}: {warning.replace(str(side.path), side.path.name)}"
        for side in sides
        for warning in side.warnings
    )
    return _fill(
        "comparison.html",
        drawing,
        title=differences.title(comparison),
        pongbench=__version__,
        sessions=Texts(
            "Sessions", tuple(map(_session, sides)), ("", "Session", "Began", "Machines", "Load")
        ),
        warnings=[*warnings, *differing.warnings],
        results=[(title, table.told()) for title, table in parts],
        replies=comparison.axis.replies,
        differences=list(map(" ".join, differences.of_pairs(comparison))),
        conditions=Texts(
            "Conditions that differ",
            tuple((c.what, *(c.values.get(side.tag, "") for side in sides)) for c in conditions),
            ("", *(side.tag for side in sides)),
        ),
        same=differing.same_text(),
    )


def render_shared(drawing: Drawing) -> str:
    """Return the page for spectators, which asks its server for what is new; see `app.sharing`."""
    title = str((drawing.live or {}).get("title", ""))
    policy = Markup("; connect-src 'self'")
    return _fill("share.html", drawing, title=title, pongbench=__version__, more_policy=policy)


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
    # One of --h0, --h1, ... of the page.
    colour = "h" if box.parent is None or box.name == OTHER else f"h{hue(box)}"
    name = _fitted(box.name, inside - 8)
    text = f'<text x="{x + 4:.1f}" y="{y + 14}">{escape(name)}</text>' if name else ""
    return f'<g><title>{escape(about)}</title><rect class="{colour}" {place}/>{text}</g>'


def _fitted(name: str, width: float) -> str:
    """Cut a name to a width, by the fonts that browsers fall back to; empty: nothing fits."""
    most = int(width / _CHARACTER_PX)
    if len(name) <= most:
        return name
    return f"{name[: most - 1]}…" if most > 2 else ""
