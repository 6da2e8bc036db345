"""The HTML of a report: one file without scripts that opens offline and prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from workbench.paths import RESOURCES
from workbench.report.facts import Report
from workbench.untrusted import safe

_SIGNS = {"passed": "✓", "failed": "✗", "not-known": "?", "does-not-apply": "–"}
"""Of audits, by state: colour is not the only sign."""


@dataclass(frozen=True)
class Drawing:
    """What is painted for a report, as SVG in the light colours. Nothing of it is escaped again."""

    charts: str = ""
    swatches: Mapping[str, str] = field(default_factory=dict)
    """Line, dash and marker of every server, by its id."""
    tokens: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The colours of the page by their names: light and dark."""
    recolour: Sequence[tuple[str, str]] = ()
    """Colours of the drawing, and what they become where the reader wants it dark."""


def render(report: Report, drawing: Drawing) -> str:
    """The whole file; the same report gives the same bytes."""
    # Everything that comes from a session is escaped by the environment and made safe; only what
    # was drawn here is markup.
    environment = Environment(
        loader=FileSystemLoader(RESOURCES / "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda shown: safe(shown) if type(shown) is str else shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        report=report,
        charts=Markup(drawing.charts),
        swatches={id_: Markup(svg) for id_, svg in drawing.swatches.items()},
        tokens=drawing.tokens,
        recolour=drawing.recolour,
        signs=_SIGNS,
    )
