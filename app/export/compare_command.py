"""`pongbench compare` with `-o`, which draws; without, it is that of `workbench.commands`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.export.compared import ENDINGS, write_comparison
from app.export.report import check_output
from app.export.report_command import add_drawing_arguments, options_of
from workbench.analysis.results import clock_of
from workbench.commands import compare
from workbench.errors import BadInput
from workbench.results.comparison import Comparison
from workbench.results.conditions import Conditions
from workbench.terminal import say


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = compare.make_parser(subparsers)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="X",
        help="write X.html, .png, .svg, .pdf or .csv in place of tables",
    )
    add_drawing_arguments(parser)
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code. Raises PongbenchError."""
    if arguments.output:
        if arguments.json or arguments.csv:
            raise BadInput("-o writes a file; give neither --json nor --csv with it.")
        check_output(arguments.output, ENDINGS)
        arguments.write = _write
    return compare.handle(arguments)


def _write(arguments: argparse.Namespace, found: Comparison, differing: Conditions) -> None:
    clock = clock_of(stop for each in found.contenders for stop in each.result.stops)
    write_comparison(found, differing, arguments.output, options_of(arguments, clock, found.axis))
    say(f"The comparison is {arguments.output}.")
