"""Options of servers that are running already."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager

import msgspec

from workbench.commands.asking import LOAD, REPEAT
from workbench.config.yaml import convert
from workbench.consent import Consent, Load, OfRunning
from workbench.errors import BadInput
from workbench.plan.model import Plan
from workbench.servers.address import Running, is_address


def add_running(parser: argparse.ArgumentParser) -> None:
    """Add the options, for `with_running` and `load_at_terminal`."""
    parser.add_argument(
        "--process",
        metavar="KIND:NAME",
        help="whose CPU time and memory are those of the running server: pid:N, port:N,"
        " unit:NAME, container:NAME (default: the owner of its port)",
    )
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="do not check the certificates of running servers; the session says so",
    )
    parser.add_argument(
        LOAD.option,
        action="append",
        default=[],
        metavar="HOST",
        help="allow load on a running server of this host, which is yours (may be repeated)",
    )
    REPEAT.add_option(parser)


def with_running(plan: Plan, arguments: argparse.Namespace) -> Plan:
    """Return the plan with --process and --insecure, and without what it says of servers that were
    left out by --server. Raises BadInput."""
    servers = [server for server in plan.servers if is_address(server)]
    given = {"process": arguments.process} if arguments.process else {}
    if given and len(servers) != 1:
        raise BadInput(
            f"--process is of one running server, and the plan has {len(servers)}; name them as"
            " process: in its servers."
        )
    given |= {"insecure": True} if arguments.insecure else {}
    running = {server: of for server, of in plan.running.items() if server in servers}
    for server in servers if given else ():
        about = msgspec.to_builtins(running.get(server, Running())) | given
        running[server] = convert(about, Running, name="--process", what="option")
    return msgspec.structs.replace(plan, running=running)


def load_at_terminal(
    arguments: argparse.Namespace, alone: Callable[[], AbstractContextManager[object]]
) -> Consent[OfRunning]:
    """Consent given by options, else asked for."""

    async def load(asked: OfRunning) -> bool:
        if isinstance(asked, Load):
            yes = asked.host in arguments.allow_target
            return await LOAD.at_terminal(yes=yes, alone=alone)(asked)
        return await REPEAT.at_terminal(yes=arguments.allow_changes, alone=alone)(asked)

    return load
