"""`pongbench catalogue new`: create a user's own server."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import ExitCode
from workbench.formatting import counted
from workbench.servers import requirements, user_servers
from workbench.servers.catalogue import Catalogue
from workbench.servers.recognising import recognise
from workbench.terminal import say
from workbench.workloads.registry import DEFAULT, PROTOCOLS

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_new(actions: Subparsers) -> None:
    """Add `new` to the actions of `catalogue`."""
    new = actions.add_parser("new", help="create a server of your own")
    new.add_argument("name", metavar="NAME", help="display name")
    begun = new.add_mutually_exclusive_group()
    begun.add_argument("--like", metavar="ID", help="start from a copy of this server")
    begun.add_argument(
        "--from",
        dest="origin",
        metavar="DIR",
        help="make one of a Flask, Django, FastAPI, Express or Go project",
    )
    new.set_defaults(handler=run_new)
    lock = actions.add_parser("lock", help="list and pin everything that a server's packages need")
    lock.add_argument("id", metavar="ID", help="a server of yours")
    lock.set_defaults(handler=run_lock)


def run_lock(args: argparse.Namespace) -> int:
    """Pin the requirements of a server, and say where they are."""
    locked = requirements.lock(user_servers.folder() / args.id)
    say(f"{locked.file} pins {counted(f'{locked.packages:,}', ' packages')} now.")
    say(f"  edit   {locked.source}, then lock again")
    say(f"  test   pongbench catalogue check {args.id}")
    return ExitCode.DONE


def run_new(args: argparse.Namespace) -> int:
    """Create the folder, and print the next steps."""
    beside = "asyncio-streams"
    assumed: list[str] = []
    if args.origin:
        project = recognise(Path(args.origin))
        made = user_servers.from_project(args.name, project, Path(args.origin))
        assumed = [f"It is a project of {project.kind}.", *project.assumed]
    elif args.like:
        like = Catalogue.load().find(args.like)
        made = user_servers.duplicate(like, args.name)
        beside = like.id
    else:
        made = user_servers.new(args.name)
    say(f"Created {made.name}; its id is {made.id}.")
    for sentence in assumed:
        say(f"  assumed: {sentence}")
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
