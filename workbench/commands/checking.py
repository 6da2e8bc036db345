"""`pongbench catalogue check`: deploys servers, tests their replies, and shows the results."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from workbench.commands.asking import EXPOSE, ask_at_terminal
from workbench.errors import ExitCode
from workbench.machines.profiles import load_profile
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked, check_all, version_of
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import PIPELINED, GateResult
from workbench.terminal import Terminal, write_json
from workbench.untrusted import indented, safe
from workbench.workloads.registry import able

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

NARROWEST = 110
"""Columns of the closing table, whose lines must not be wrapped."""

STYLES = {
    "passed": "green",
    "failed": "bold red",
    "unavailable": "dim",
    "needs source": "dim",
}


def add_check(actions: Subparsers) -> None:
    """Add `check` to the actions of `catalogue`."""
    check = actions.add_parser("check", help="deploy servers and test their replies")
    check.add_argument("ids", metavar="ID", nargs="*", help="servers or folders (default: all)")
    check.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    check.add_argument(
        "--on",
        default="localhost",
        metavar="MACHINE",
        help="machine profile (default: this computer)",
    )
    check.add_argument(
        "--install", action="store_true", help="allow missing programs to be fetched and unpacked"
    )
    EXPOSE.add_option(check)
    check.set_defaults(handler=run_check)


def run_check(args: argparse.Namespace) -> int:
    """Deploy, gate and stop each server; 1 if one failed, or a named one could not be tested."""
    catalogue = Catalogue.load()
    entries = [catalogue.find(id) for id in args.ids] or list(catalogue)
    profile = load_profile(args.on)
    console = Terminal(stderr=True)
    with Checking(console) as checking:
        expose = EXPOSE.at_terminal(yes=args.expose, alone=checking.paused)
        checked = asyncio.run(
            check_all(
                entries,
                checking,
                profile=profile,
                ask=ask_at_terminal(checking.paused),
                install=args.install,
                expose=expose,
            )
        )
    if args.json:
        data = {"servers": [_plain(each) for each in checked]}
        write_json(data)
    else:
        _print_checked(checked)
    if not args.ids:
        for broken in catalogue.broken.values():
            console.say(broken.problem, "red")
    bad = set(STYLES) - {"passed"} if args.ids else {"failed"}
    return ExitCode.FAILED if any(each.status in bad for each in checked) else ExitCode.DONE


class Checking:
    """Shows the servers being checked, and a line for each completed one."""

    def __init__(self, console: Terminal) -> None:
        self._console = console
        self._status = console.status("Opening the machine")
        self._doing: dict[str, str] = {}

    def __enter__(self) -> Checking:
        self._status.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._status.stop()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop drawing while the user is asked."""
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def doing(self, entry: ServerEntry, text: str) -> None:
        self._doing[entry.id] = text
        self._status.update(Text(safe("; ".join(self._doing.values()))))

    def done(self, checked: Checked) -> None:
        self._doing.pop(checked.entry.id, None)
        style = STYLES[checked.status]
        if checked.status == "failed":
            first = checked.reason.partition("\n")[0].removesuffix(" Last output:")
            self._console.print(Text.assemble((checked.entry.id, style), f": {safe(first)}"))
        elif checked.status == "passed":
            passed = Text.assemble((checked.entry.id, style), " passed")
            self._console.print(passed, soft_wrap=True)


def _plain(checked: Checked) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": checked.entry.id,
        "status": checked.status,
        "reason": checked.reason,
        "keep_alive": checked.gate.keep_alive if checked.gate else None,
        "pipelining": checked.gate.pipelining if checked.gate else None,
    }
    if checked.deployment:
        data |= {
            "workloads": able(checked.gate) if checked.gate else [],
            "version": checked.deployment.version,
            "runtime": checked.deployment.runtime,
            "backlog": checked.deployment.backlog,
            "cold_start_s": round(checked.deployment.ready_s, 3),
            "confinement": msgspec.to_builtins(checked.deployment.confinement),
        }
    if checked.gate:
        data["gate"] = msgspec.to_builtins(checked.gate)
    return data


def _print_checked(checked: list[Checked]) -> None:
    console = Terminal()
    console.width = max(console.width, NARROWEST)
    table = _empty_table("ID", "Status", "Version", "Backlog", *FIGURES)
    for each in checked:
        deployed, found = each.deployment, each.gate
        table.add_row(
            each.entry.id,
            Text(each.status, STYLES[each.status]),
            version_of(each.entry, deployed.version) if deployed else "",
            str(deployed.backlog) if deployed else "",
            *_figures(found),
        )
    console.print(table)
    for each in checked:
        if each.status != "passed":
            text = Text.assemble((each.entry.id, "bold"), indented(f": {each.reason}"))
            console.print(text, soft_wrap=True)


FIGURES = ("Bytes", "Kept", "Piped", "Proc", "Thr", "MB")


def _figures(found: GateResult | None) -> list[str]:
    if found is None or not found.passed:
        return [""] * len(FIGURES)
    wire = ["", "", ""]
    if found.bytes_on_wire:
        piped = f"{found.pipelining}/{PIPELINED}" if found.keep_alive else ""
        wire = [str(found.bytes_on_wire), "yes" if found.keep_alive else "no", piped]
    return [
        *wire,
        str(found.processes or ""),
        str(found.threads or ""),
        f"{found.rss_bytes / 1e6:.0f}" if found.rss_bytes else "",
    ]


def _empty_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table
