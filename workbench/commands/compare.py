"""`pongbench compare`: servers of several sessions side by side, and what differs between them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.table import Table
from rich.text import Text

from workbench.commands.fitting import fitting
from workbench.commands.opening import add_newer, add_servers
from workbench.comparison import table as compare_table
from workbench.comparison import words as compare_words
from workbench.comparison.conditions import Conditions, conditions
from workbench.comparison.data import difference_data, server_data
from workbench.comparison.sides import TAGS, Comparison, Side, check_count, compare, read_side
from workbench.errors import BadInput, ExitCode
from workbench.report import cost
from workbench.report.setup import FROM_THE_SEND
from workbench.sessions import NewerSession
from workbench.terminal import Terminal, to_stderr, write, write_json

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_PIPED = 180
"""Columns of the tables in a file or a pipe."""


Write: TypeAlias = Callable[[argparse.Namespace, Comparison, Conditions], None]
"""Writes a comparison to a file, as the arguments say."""


def add_parser(subparsers: Subparsers) -> None:
    """Add `compare` to the commands."""
    make_parser(subparsers)


def make_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Return the parser, to be extended. A `write` of the arguments, if there is one, writes a file
    in place of the tables."""
    parser = subparsers.add_parser(
        "compare", help="servers of several sessions side by side, and what differs between them"
    )
    parser.add_argument(
        "sessions", type=Path, nargs="+", metavar="FILE", help="session files, up to six"
    )
    add_servers(parser)
    parser.add_argument(
        "--rate",
        type=float,
        metavar="R",
        help="also compare all servers at this rate (default: the highest that all sustain)",
    )
    add_newer(parser)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    shape.add_argument("--csv", action="store_true", help="print one line per server, nothing else")
    parser.set_defaults(handler=handle, write=None)
    return parser


def handle(arguments: argparse.Namespace) -> int:
    """Print a comparison. Unreadable sessions are reported, and the others compared."""
    check_count(arguments.sessions)
    sides, refused = _read(arguments.sessions, newer=arguments.newer)
    if not sides:
        raise BadInput(refused[0])
    for sentence in refused:
        to_stderr(sentence)
    found = compare(sides, _chosen(sides, arguments.server), arguments.rate)
    _check_rate(found, arguments.rate)
    differing = conditions(sides)
    write_file: Write | None = arguments.write
    if arguments.json or arguments.csv or write_file:
        for warning in (warning for side in sides for warning in side.warnings):
            to_stderr(warning)
    if write_file:
        write_file(arguments, found, differing)
    elif arguments.json:
        write_json(to_data(found, differing, refused))
    elif arguments.csv:
        write(compare_table.as_csv(found))
    else:
        print_comparison(found, differing)
    damaged = refused or any(side.damaged for side in sides)
    return ExitCode.BAD_INPUT if damaged else ExitCode.DONE


def to_data(found: Comparison, differing: Conditions, refused: Sequence[str]) -> dict[str, Any]:
    """Plain data for `--json`; None: unknown."""
    return {
        "sessions": {
            side.tag: {
                "file": str(side.path),
                "session": side.start.session,
                "name": side.name,
                "started_utc": side.start.started_utc,
                "unit": side.unit,
                "status": side.summary.status,
                "ceiling_per_s": side.summary.ceiling_per_s,
                "warnings": list(side.warnings),
            }
            for side in found.sides
        },
        "common_rate_per_s": found.rate,
        "servers": [server_data(found, each) for each in found.ranked()],
        "differences": [difference_data(found, a, b) for a, b in compare_words.pairs(found)],
        "conditions": [
            {"what": c.what, "weight": c.weight.name.lower(), "values": dict(c.values)}
            for c in differing.differing
        ],
        "failed_audits": [
            {"what": audit.what, "values": dict(audit.values)} for audit in differing.audits
        ],
        "warnings": list(differing.warnings),
        "refused": list(refused),
    }


def print_comparison(
    found: Comparison, differing: Conditions, console: Terminal | None = None
) -> None:
    """Print the sessions, what differs, one line per server, and their differences."""
    console = console or Terminal(piped=_PIPED)
    for side in found.sides:
        console.say(f"{side.tag}  {side.name} ({side.path}), {side.start.started_utc}")
        for warning in side.warnings:
            console.say(f"   {warning}")
    if differing.differing or differing.audits or differing.same:
        console.print()
    for condition in (*differing.differing, *differing.audits):
        console.say(condition.text)
    for text in filter(None, (*differing.warnings, differing.same_text())):
        console.say(text)
    console.print()
    console.print(_table(found, console.width, common=False))
    if found.clock == "service":
        console.say(FROM_THE_SEND)
    if shared := cost.shared_memory(each.result for each in found.contenders):
        console.say(shared)
    if found.rate is not None:
        console.say(f"All servers at {found.axis.at(found.rate)}:")
        console.print(_table(found, console.width, common=True))
    elif len(found.contenders) > 1:
        console.say("There is no rate common to all, so none is compared.")
    for a, b in compare_words.pairs(found):
        console.say(compare_words.difference_in(found, a, b))
        if figures := compare_words.figures_in(found, a, b):
            console.say(figures)


def _read(paths: Sequence[Path], *, newer: bool) -> tuple[list[Side], list[str]]:
    """The readable sessions, and a sentence about each of the others."""
    sides: list[Side] = []
    refused: list[str] = []
    for path in paths:
        try:
            sides.append(read_side(path, TAGS[len(sides)], newer=newer))
        except NewerSession as error:
            refused.append(f"{str(error).removesuffix('.')} (--newer).")
        except BadInput as error:
            refused.append(str(error))
    return sides, refused


def _chosen(sides: Sequence[Side], wanted: Sequence[str] | None) -> list[str] | None:
    if not wanted:
        return None
    contenders = [c for side in sides for c in side.contenders]
    known = dict.fromkeys(c.id for c in contenders)
    for id_ in wanted:
        if id_ not in known and id_ not in (c.key for c in contenders):
            raise BadInput(f"No session has a server {id_!r}; known: {', '.join(known)}.")
    return [c.key for c in contenders if {c.id, c.key} & set(wanted)]


def _check_rate(found: Comparison, rate: float | None) -> None:
    if rate is None or rate in found.shared:
        return
    offered = ", ".join(f"{each:,.10g}" for each in found.shared) or "none"
    raise BadInput(f"--rate: {rate:,.10g} was not offered to all servers; common rates: {offered}.")


_SPARE = (
    *("Mean there", "Mean", "unreliable", "faulty", "server-limited", "ok"),
    *("CPU there", "Processes", "Peak RSS", "p50 there"),
)
"""Columns left out in a narrow terminal, in this order."""


def _table(found: Comparison, width: int, *, common: bool) -> Table:
    """A table of what each server sustains and uses or, with `common`, of all servers at one
    rate."""
    titles, lines = compare_table.part(found, common=common)
    rows = [[Text(cell.text) for cell in cells] for _, cells in lines]
    return fitting(titles, rows, width, spare=_SPARE)
