"""`pongbench report`, and `pongbench compare` with `-o`, which draws; without, it is that of
`workbench.commands`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Literal

from app.charts.view_state import SWEEP, VIEWS, Look, Showing, first_view
from app.charts.words import CLOCKS
from app.export.options import SIZE, ReportOptions
from app.export.report import COMPARISON_ENDINGS, check_output, write_comparison, write_report
from workbench.analysis.series import PERCENTILES, Clock, View, clock_of
from workbench.axis import RATE, Axis
from workbench.commands import compare
from workbench.commands.shared import add, add_output, add_session, exit_code, open_session
from workbench.documents import PointStop
from workbench.errors import BadInput
from workbench.results.comparison import Comparison
from workbench.results.conditions import Conditions
from workbench.terminal import say


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Draw a session on one page, describe it in a self-contained HTML file, list its points in"
        " a table, or write the response times of one point as an HdrHistogram."
    )
    add_session(parser)
    add(parser, "--newer")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="X",
        help="X.html, .png, .svg, .pdf, .csv or .hgrm",
    )
    add_drawing_arguments(parser)
    parser.add_argument(
        "--metric",
        default="",
        metavar="KEY",
        help="to draw instead of errors, for example cpu_us_per_call",
    )
    parser.add_argument(
        "--zoom",
        type=_zoom,
        action="append",
        default=[],
        metavar="AXIS=LOW:HIGH",
        help="part of an axis to draw, for example x=4000:9000; also replies, time (ms),"
        " errors (%%) or a metric; can be repeated",
    )
    for name in ("log", "linear"):
        about = f"axis to draw on a {name} scale, by the same names"
        parser.add_argument(f"--{name}", action="append", default=[], metavar="AXIS", help=about)
    parser.add_argument(
        "--band", action="store_true", help="a second percentile beside the drawn one, as a band"
    )
    parser.add_argument(
        "--offset", action="store_true", help="lines beside one another where servers answer all"
    )
    parser.add_argument("--server", default="", metavar="ID", help="server of an .hgrm file")
    parser.add_argument("--notes", action="store_true", help="with your notes (HTML)")
    parser.set_defaults(handler=handle_report)


def add_drawing_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is drawn, and how; see `options_of`."""
    parser.add_argument(
        "--theme",
        choices=("light", "dark"),
        default="light",
        help="for pictures; an HTML page follows its reader's theme",
    )
    parser.add_argument(
        "--size",
        type=_size,
        default=SIZE,
        metavar="WxH",
        help="size of pictures in pixels (a PNG has twice as many; default: 1600x1200)",
    )
    parser.add_argument("--plain", action="store_true", help="an HTML page without a script")
    parser.add_argument("--percentile", choices=PERCENTILES, default="p99", help="drawn")
    parser.add_argument("--clock", choices=CLOCKS, help="drawn")
    parser.add_argument(
        "--at",
        type=_at,
        metavar="X",
        help="rate or other value of a view or an .hgrm file (default: the sustained one)",
    )
    parser.add_argument(
        "--view",
        choices=VIEWS,
        help="what pictures draw and CSV lists: points over the axis (default), servers side by"
        " side (default of pictures of a single value), what happened over time, or the"
        " distributions of response times",
    )
    parser.add_argument(
        "--pass",
        dest="pass_number",
        type=int,
        default=0,
        metavar="N",
        help="shown over time (default: the latest)",
    )


def options_of(arguments: argparse.Namespace, clock: Clock, axis: Axis) -> ReportOptions:
    """Return the options of `add_drawing_arguments`. `clock` and `axis`: what the points have,
    unless the user chooses."""
    first = SWEEP if arguments.output.suffix.lower() == ".csv" else first_view(axis)
    return ReportOptions(
        arguments.theme,
        arguments.size,
        View(arguments.percentile, arguments.clock or clock),
        plain=arguments.plain,
        look=Look(arguments.view or first, arguments.at, arguments.pass_number),
    )


def handle_report(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code. Raises PongbenchError."""
    check_output(arguments.output)
    session = open_session(arguments)
    if arguments.metric or arguments.zoom:  # they are named as over the axis
        arguments.view = arguments.view or SWEEP
    found = options_of(
        arguments,
        clock_of(d for d in session.documents if isinstance(d, PointStop)),
        session.start.axis or RATE,
    )
    log = dict.fromkeys(arguments.linear, False) | dict.fromkeys(arguments.log, True)
    options = replace(
        found,
        view=replace(found.view, metric=arguments.metric),
        notes=arguments.notes,
        server=arguments.server,
        showing=Showing(dict(arguments.zoom), log, arguments.band, arguments.offset),
    )
    write_report(session, arguments.output, options)
    say(f"The report is {arguments.output}.")
    return exit_code(session)


def showing_arguments(showing: Showing) -> list[str]:
    """Return the arguments of the command that show the same."""
    zoom = [f"--zoom={key}={low!r}:{high!r}" for key, (low, high) in showing.zoom.items()]
    log = [f"--{'log' if on else 'linear'}={key}" for key, on in showing.log.items()]
    return [*zoom, *log, *["--band"] * showing.band, *["--offset"] * showing.offset]


def _zoom(text: str) -> tuple[str, tuple[float, float]]:
    """Parse "x=4000:9000"."""
    key, _, span = text.rpartition("=")
    low, _, high = span.partition(":")
    try:
        part = float(low), float(high)
    except ValueError:
        part = (0.0, 0.0)
    if not key or not (isfinite(part[0]) and isfinite(part[1]) and part[0] < part[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no part of an axis like x=4000:9000")
    return key, part


def _at(text: str) -> float | Literal["best"]:
    """Parse a value of the axis, or "best": where each server sustains its rate."""
    if text == "best":
        return "best"
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor best") from None


def _size(text: str) -> tuple[int, int]:
    """Parse "1600x1200"."""
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1600x1200")
    size = int(width), int(height)
    if not (800 <= size[0] <= 8000 and 600 <= size[1] <= 8000):
        raise argparse.ArgumentTypeError(f"{text} is outside 800x600 to 8000x8000")
    return size


def add_compare(parser: argparse.ArgumentParser) -> None:
    compare.add_options(parser)
    add_output(parser, "write X.html, .png, .svg, .pdf or .csv in place of tables", "X")
    add_drawing_arguments(parser)
    parser.set_defaults(handler=handle_compare)


def handle_compare(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code. Raises PongbenchError."""
    if arguments.output:
        if arguments.json or arguments.csv:
            raise BadInput("-o writes a file; give neither --json nor --csv with it.")
        check_output(arguments.output, COMPARISON_ENDINGS)
        arguments.write = _write
    return compare.handle(arguments)


def _write(arguments: argparse.Namespace, found: Comparison, differing: Conditions) -> None:
    clock = clock_of(stop for each in found.contenders for stop in each.result.stops)
    write_comparison(found, differing, arguments.output, options_of(arguments, clock, found.axis))
    say(f"The comparison is {arguments.output}.")
