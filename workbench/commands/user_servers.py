"""`pongbench catalogue new`: a server of one's own that runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.errors import ExitCode
from workbench.servers import user_servers
from workbench.servers.catalogue import Catalogue
from workbench.terminal import say

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_new(actions: Subparsers) -> None:
    """Add `new` to the actions of `catalogue`."""
    new = actions.add_parser("new", help="make a server of your own that runs")
    new.add_argument("name", metavar="NAME", help="what people call it")
    new.add_argument("--like", metavar="ID", help="begin with a copy of this server")
    new.set_defaults(handler=run_new)


def run_new(args: argparse.Namespace) -> int:
    """Make the folder, and say how to go on."""
    if args.like:
        made = user_servers.duplicate(Catalogue.load().find(args.like), args.name)
    else:
        made = user_servers.new(args.name)
    say(f"{made.name} is a server now; its id is {made.id}.")
    say(f"  edit   {made.folder}")
    say(f"  try    pongbench catalogue check {made.id}")
    say(f"  run    pongbench run demo --server {made.id} --server asyncio-streams")
    return ExitCode.DONE
