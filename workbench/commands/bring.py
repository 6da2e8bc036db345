"""`pongbench bring`: requests that one has already become a plan."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from workbench import stores
from workbench.bringing import curl
from workbench.bringing.gathering import Gathering, is_here, plan_of, sentences
from workbench.bringing.reading import MOST_BYTES, gather, read_file
from workbench.commands.shared import add_many, add_output
from workbench.environment import PREFIX
from workbench.errors import BadInput, why
from workbench.formatting import listed, number_of
from workbench.machines.secrets import keep
from workbench.plan.library import to_yaml
from workbench.terminal import say, to_stderr, write
from workbench.untrusted import one_line


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="SOURCE", help="a file, a curl command in quotes, or - to paste one"
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        help="take over the requests to this server; needed where it is not this computer, or one"
        " of several",
    )
    about = "send them to this server in its place, an address or an id of the catalogue"
    add_many(parser, "--server", "SERVER", about)
    add_output(parser, "plan file to write")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> None:
    if arguments.output and arguments.output.exists():
        raise BadInput(f"{arguments.output} exists; choose another name.")
    gathered, name = _gathered(arguments.source)
    origin = _chosen(gathered, arguments.host, arguments.server)
    plan = plan_of(gathered, origin, arguments.server, name=name)
    text = to_yaml(plan)
    for each, count in gathered.origins.items():
        if each != origin:
            gathered.leave(f"{each} ({number_of(count, 'requests')})", "Other servers")
    if arguments.output:
        try:
            stores.write(arguments.output, text)
        except OSError as error:
            raise BadInput(f"{arguments.output} cannot be written: {why(error)}.") from None
        say(f"{arguments.output}: {number_of(len(plan.declared.asks(plan.workload)), 'requests')}.")
    else:
        write(text)
    for sentence in sentences(gathered):
        to_stderr(f"Left out: {sentence}")
    used = {name: gathered.secrets[name] for name in sorted(plan.declared.secrets(plan.workload))}
    lost = keep({name: value for name, value in used.items() if value})
    if to_set := [f"{PREFIX}{name}" for name, value in used.items() if name in lost or not value]:
        to_stderr(f"Set {listed(to_set)} before a run; the plan has the names of secrets only.")


def _gathered(source: str) -> tuple[Gathering, str]:
    """Return the requests, and a name for their plan. Raises BadInput."""
    if source == "-":
        text = sys.stdin.buffer.read(MOST_BYTES)
        return gather(text, name="what was pasted"), "Pasted requests"
    if curl.is_command(source):
        return gather(source.encode(), name="the curl command"), "Pasted requests"
    return read_file(Path(source)), one_line(Path(source).stem, 80)


def _chosen(gathered: Gathering, host: str | None, servers: Sequence[str]) -> str:
    """Return the server whose requests are taken over. Raises BadInput where it must be named."""
    origins = list(gathered.origins)
    if host is not None:
        for origin in origins:
            if host.rstrip("/") in (origin, urlsplit(origin).netloc, urlsplit(origin).hostname):
                return origin
        raise BadInput(f"--host {host}: there is no request to it, but to {_named(origins)}.")
    here = [origin for origin in origins if is_here(origin)]
    if here and (here[0] or servers):
        return here[0]
    if here:
        raise BadInput("It does not say to which server its requests go; add --server ADDRESS.")
    if servers and len(origins) == 1:
        return origins[0]
    first = urlsplit(origins[0]).netloc
    raise BadInput(
        f"Its requests go to {_named(origins)}, not to this computer; add --host {first} to take"
        " those over, and --server ADDRESS to send them elsewhere."
    )


def _named(origins: Sequence[str]) -> str:
    more = len(origins) - 5
    return listed([*origins[:5], f"{more} more"] if more > 1 else origins)
