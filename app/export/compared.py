"""A comparison as a page that explains itself, a picture, or a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.charts.looks import Look
from app.comparing.selection import letters
from app.export import report
from app.export.report import ReportOptions
from workbench.errors import BadInput
from workbench.formatting import listed
from workbench.results import differences
from workbench.results.comparison import Comparison
from workbench.results.conditions import Conditions
from workbench.results.render.csv import of_comparison
from workbench.sessions.reading import uncollected

if TYPE_CHECKING:
    from app.export.picture import Paint, Size

ENDINGS = (".html", ".png", ".svg", ".pdf", ".csv")


def write_comparison(
    found: Comparison, differing: Conditions, output: Path, options: ReportOptions
) -> None:
    """Write a comparison by the ending of `output`. Raises BadInput for a value at which nothing
    was measured, and for a place that cannot be written."""
    _check_points(found, options.look)
    kind = output.suffix.lower()
    with uncollected():  # see `report.write_read`
        if kind == ".csv":
            data = of_comparison(found, options.look.view, options.view.clock).encode()
        elif kind == ".html":
            data = _html(found, differing, options).encode()
        else:
            data = _drawn(found, options)[kind]()
    report.write(output, data)


def _check_points(found: Comparison, look: Look) -> None:
    if not isinstance(look.chosen, float):
        return
    known = sorted({x for each in found.comparable() for x in each.xs})
    if look.chosen not in known:
        text = listed([f"{x:g}" for x in known]) or "none"
        raise BadInput(f"No session has a point at {look.chosen:g}; their points are at {text}.")


def _html(found: Comparison, differing: Conditions, options: ReportOptions) -> str:
    report.prepare_qt()
    from app.export.htmlcharts import comparison_drawing  # noqa: PLC0415 - Qt, when it is needed
    from workbench.results.render import html  # noqa: PLC0415 - only for this one

    return html.render_comparison(found, differing, comparison_drawing(found, options.view))


def _drawn(found: Comparison, options: ReportOptions) -> dict[str, Callable[[], bytes]]:
    """Return the makers of pictures by their endings."""
    report.prepare_qt()
    from app.export import picture  # noqa: PLC0415 - Qt, when it is needed

    title = differences.title(found)
    paint, size = _painting(found, options, title)
    return {
        ".png": lambda: picture.png(paint, size),
        ".svg": lambda: picture.svg(paint, size, title, differences.described(found)),
        ".pdf": lambda: picture.pdf(paint, size, title),
    }


def _painting(found: Comparison, options: ReportOptions, title: str) -> tuple[Paint, Size]:
    from PySide6.QtCore import Qt  # noqa: PLC0415 - see above
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    from app.charts.overlay import Overlay, OverlayTrio  # noqa: PLC0415
    from app.charts.sizes import Sizes  # noqa: PLC0415
    from app.export.framed import MARGIN, framed, head  # noqa: PLC0415
    from app.theme import THEMES  # noqa: PLC0415

    caption = letters(found.sides)
    trio = OverlayTrio(Overlay(found), THEMES[options.theme])
    trio.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    trio.project(options.look)
    trio.set_view(options.view)
    width, height = (side - 2 * MARGIN for side in options.size)
    scale = max(1.0, min(width / 960, height / 720))
    height -= head(title, caption, scale)
    trio.set_sizes(Sizes(scale=scale, controls=2))
    trio.resize(width, height)
    trio.refresh()
    trio.show()
    QApplication.sendPostedEvents()
    return framed(trio, title, caption, scale=scale)
