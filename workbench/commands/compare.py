"""`pongbench compare`: servers of several sessions side by side, and what differs between them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from workbench.commands.opening import add_newer, add_servers
from workbench.errors import BadInput, ExitCode
from workbench.results.comparison import TAGS, Comparison, Side, check_count, compare, read_side
from workbench.results.conditions import Conditions, conditions
from workbench.results.render import data
from workbench.results.render.csv import servers
from workbench.results.render.terminal import print_comparison
from workbench.sessions import NewerSession
from workbench.terminal import to_stderr, write, write_json

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

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
        write_json(data.of_comparison(found, differing, refused))
    elif arguments.csv:
        write(servers(found))
    else:
        print_comparison(found, differing)
    damaged = refused or any(side.damaged for side in sides)
    return ExitCode.BAD_INPUT if damaged else ExitCode.DONE


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
