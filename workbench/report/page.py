"""The HTML of a report: one file without scripts that works offline and prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from workbench.analysis.flame import HUES
from workbench.paths import RESOURCES
from workbench.report.contents import Report
from workbench.report.cross_check import HEADING, TITLES
from workbench.report.flames import flame_svg
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


def render(report: Report, drawing: Drawing) -> str:
    """The whole file; equal reports give equal bytes."""
    return fill(
        "report.html",
        drawing,
        title=report.title,
        pongbench=report.pongbench,
        report=report,
        flames={id_: Markup(flame_svg(found)) for id_, found in report.profiles.items()},
        chart_notes=drawing.notes,
        signs=_SIGNS,
        cross_check_heading=HEADING,
        cross_check_titles=TITLES,
    )


def fill(template: str, drawing: Drawing, **content: object) -> str:
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
