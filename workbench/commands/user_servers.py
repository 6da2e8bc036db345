"""`pongbench catalogue new`: create a user's own server."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from workbench.errors import ExitCode
from workbench.servers import user_servers
from workbench.servers.catalogue import Catalogue
from workbench.terminal import say
from workbench.workloads.registry import DEFAULT, PROTOCOLS

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_new(actions: Subparsers) -> None:
    """Add `new` to the actions of `catalogue`."""
    new = actions.add_parser("new", help="create a server of your own")
    new.add_argument("name", metavar="NAME", help="display name")
    new.add_argument("--like", metavar="ID", help="start from a copy of this server")
    new.set_defaults(handler=run_new)


def run_new(args: argparse.Namespace) -> int:
    """Create the folder, and print the next steps."""
    beside = "asyncio-streams"
    if args.like:
        like = Catalogue.load().find(args.like)
        made = user_servers.duplicate(like, args.name)
        beside = like.id
    else:
        made = user_servers.new(args.name)
    say(f"Created {made.name}; its id is {made.id}.")
    say(f"  edit   {made.folder}")
    say(f"  test   pongbench catalogue check {made.id}")
    if measured := [key for key in made.protocols if key in PROTOCOLS]:
        run = ["pongbench", "run", "demo", "--server", made.id, "--server", beside]
        if measured[0] != DEFAULT:
            run += ["--set", f"protocol={measured[0]}"]
        if made.path != "/":
            run += ["--set", f"path={made.path}"]
        say(f"  run    {shlex.join(run)}")
    return ExitCode.DONE
