"""A profile's keys as options of the command line."""

from __future__ import annotations

import argparse
import re
from typing import Any, get_args

from workbench.errors import BadInput
from workbench.machines.profiles import Role

MOST_CORES = 4095

_TEXTS = {
    "description": "free text",
    "address": "a name, an IP address or a Host of ~/.ssh/config",
    "user": "user name to log in with",
    "key": "file of the private key",
    "jump": "jump host: a profile, or [user@]host[:port]",
    "work_dir": "the directory kept on the machine",
    "python": "Python command on the machine",
    "reach": "address at which other machines reach its servers",
    "bind": "address its servers listen on",
}


def add_fields(parser: argparse.ArgumentParser) -> None:
    """Add an option for every key of a profile that can be given on the command line."""
    for name, help in _TEXTS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", help=help)
    parser.add_argument("--port", type=int, help="port of sshd")
    parser.add_argument(
        "--auth", choices=["auto", "agent", "key", "password"], help="authentication method"
    )
    parser.add_argument(
        "--sudo",
        choices=["no", "passwordless", "password"],
        help="how root privileges are obtained",
    )
    parser.add_argument(
        "--role",
        action="append",
        choices=list(get_args(Role)),
        help="target or client (may be repeated)",
    )
    for who in ("server", "agent"):
        help = f"cores for the {who}: auto, or numbers such as 2,4-7"
        parser.add_argument(f"--{who}-cpus", metavar="CORES", help=help)
    for name, help in (
        ("tuning", "allow kernel settings to be changed"),
        ("ssh-config", "use ~/.ssh/config"),
    ):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=help)


def given_in(args: argparse.Namespace) -> dict[str, Any]:
    """The given options, as keys of a profile. Raises BadInput."""
    names = (*_TEXTS, "port", "auth", "sudo", "tuning", "ssh_config")
    given = {name: value for name in names if (value := getattr(args, name)) is not None}
    if args.role:
        given["roles"] = args.role
    texts = {"server": args.server_cpus, "agent": args.agent_cpus}
    cpus = {who: _cores(who, text) for who, text in texts.items() if text is not None}
    return {**given, **({"cpus": cpus} if cpus else {})}


def _cores(who: str, text: str) -> str | list[int]:
    """Raises BadInput."""
    if text == "auto":
        return text
    cores: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last <= MOST_CORES:
            raise BadInput(
                f"--{who}-cpus: {text!r} names no cores; write auto, or numbers such as 2,4-7."
            )
        cores += range(first, last + 1)
    return cores
