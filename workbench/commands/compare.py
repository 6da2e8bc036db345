"""`pongbench compare`: servers of several sessions side by side, and what differs between them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from workbench.commands.ci import conclude
from workbench.commands.shared import add, add_flag, add_many
from workbench.errors import BadInput, ExitCode
from workbench.results.comparison import MOST, TAGS, Comparison, Contender, Side, compare, read_side
from workbench.results.conditions import Conditions, conditions
from workbench.results.criteria import share, slower
from workbench.results.differences import pairs, title
from workbench.results.render import ci, data
from workbench.results.render.csv import servers
from workbench.results.render.terminal import print_comparison
from workbench.sessions import NewerSession
from workbench.terminal import to_stderr, write, write_json

Write: TypeAlias = Callable[[argparse.Namespace, Comparison, Conditions], None]
"""Writes a comparison to a file, as the arguments say."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add those of `compare`. A `write` of the arguments, if any, writes a file, not the tables."""
    parser.add_argument(
        "sessions", type=Path, nargs="+", metavar="FILE", help="session files, up to six"
    )
    add_many(parser, "--server", "ID", "only this server")
    add(parser, "--newer", "--junit")
    parser.add_argument(
        "--rate",
        type=float,
        metavar="R",
        help="also compare all servers at this rate (default: the highest that all sustain)",
    )
    parser.add_argument(
        "--fail-if-slower",
        metavar="PERCENT",
        help="exit with 3 if a server of the first session is shown to be slower than in the others"
        " by more than this (5%%), with 4 if that cannot be told; of one session, its two --server",
    )
    shape = parser.add_mutually_exclusive_group()
    add(shape, "--json", "--markdown")
    add_flag(shape, "--csv", "print one line per server, nothing else")
    parser.set_defaults(handler=handle, write=None)


def handle(arguments: argparse.Namespace) -> int:
    """Print a comparison. Unreadable sessions are reported, and the others compared."""
    if (count := len(arguments.sessions)) > MOST:
        raise BadInput(f"{count} sessions cannot be compared at once; the most is {MOST}.")
    most = share(arguments.fail_if_slower) if arguments.fail_if_slower else None
    sides, refused = _read(arguments.sessions, newer=arguments.newer)
    if not sides:
        raise BadInput(refused[0])
    for sentence in refused:
        to_stderr(sentence)
    found = compare(sides, _chosen(sides, arguments.server), arguments.rate)
    _check_rate(found, arguments.rate)
    outcomes = [] if most is None else slower(found, most, _tested(found, arguments.server))
    differing = conditions(sides)
    write_file: Write | None = arguments.write
    if arguments.json or arguments.csv or arguments.markdown or write_file:
        for warning in (warning for side in sides for warning in side.warnings):
            to_stderr(warning)
    if write_file:
        write_file(arguments, found, differing)
    elif arguments.json:
        write_json(data.of_comparison(found, differing, refused))
    elif arguments.csv:
        write(servers(found))
    elif arguments.markdown:
        write(ci.of_comparison(found, outcomes))
    else:
        print_comparison(found, differing)
    tested = conclude(title(found), outcomes, arguments.junit)
    damaged = refused or any(side.damaged for side in sides)
    return ExitCode.BAD_INPUT if damaged else tested


def _tested(found: Comparison, wanted: Sequence[str]) -> Sequence[tuple[Contender, Contender]]:
    """The pairs to test: as compared, or both servers of one session as named. Raises BadInput."""
    if len(found.sides) > 1:
        return pairs(found)
    named = [next(c for c in found.contenders if id_ in (c.id, c.key)) for id_ in wanted]
    if len(named) != 2:
        raise BadInput(
            "--fail-if-slower: give the new session and an old one, or of one session two servers:"
            " --server NEW --server OLD."
        )
    return [(named[0], named[1])]


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


def _chosen(sides: Sequence[Side], wanted: Sequence[str]) -> list[str] | None:
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
