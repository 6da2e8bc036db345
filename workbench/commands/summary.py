"""`pongbench summary`: what every server sustained, and every point's verdict."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from workbench.analysis.summary import Summary, summarise
from workbench.commands.shared import add, add_flag, add_session, exit_code, open_session
from workbench.errors import BadInput
from workbench.formatting import known
from workbench.results.render import data
from workbench.results.render.terminal import print_audits, print_percentiles, print_summary
from workbench.terminal import say, write_json


def add_options(parser: argparse.ArgumentParser) -> None:
    add_session(parser)
    add(parser, "--newer", "--json")
    add_flag(parser, "--audits", "print the audits as a checklist")
    about = "print 50 to 100 %% of the response times where each server sustains its rate"
    add_flag(parser, "--percentiles", about)
    parser.add_argument(
        "--folded",
        metavar="SERVER",
        help="print the stacks of a server's profile, for flamegraph.pl, speedscope and others",
    )
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    session = open_session(arguments)
    summary = summarise(session.completed())
    if arguments.folded:
        for line in _folded(summary, arguments.folded):
            say(line)
    elif arguments.json:
        write_json(data.of_session(summary))
    else:
        print_summary(summary)
        if arguments.audits:
            print_audits(summary.audits)
        if arguments.percentiles:
            print_percentiles(summary)
    return exit_code(session)


def _folded(summary: Summary, id_: str) -> Iterator[str]:
    """Raises BadInput."""
    profiled = {server.id: server.profile for server in summary.servers.values() if server.profile}
    if profile := profiled.get(id_):
        return profile.folded()
    if not profiled:
        raise BadInput("This session has no profiles; `pongbench run --profile` makes them.")
    raise BadInput(f"There is no profile of {id_!r}. {known(sorted(profiled), 'profile')}")
