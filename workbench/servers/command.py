"""`pongbench catalogue`: list the servers, show one, check that they run and answer."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from workbench.errors import ExitCode, PongbenchError
from workbench.machines.base import Machine
from workbench.machines.local import open_local
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import Deployment, deploy
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import PIPELINED, GateResult, gate

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

STYLES = {"passed": "green", "failed": "bold red", "unavailable": "dim"}


@dataclass(frozen=True)
class Checked:
    """What became of one server."""

    entry: ServerEntry
    status: Literal["passed", "failed", "unavailable"]
    reason: str
    """Sentences."""
    deployment: Deployment | None = None
    gate: GateResult | None = None


def add_parser(subparsers: Subparsers) -> None:
    """Add `catalogue` to the commands."""
    parser = subparsers.add_parser("catalogue", help="the servers that can be compared")
    parser.set_defaults(handler=run_list)
    actions = parser.add_subparsers(metavar="ACTION")
    actions.add_parser("list", help="all servers (default)").set_defaults(handler=run_list)
    show = actions.add_parser("show", help="what is known about a server, and its code")
    show.add_argument("id", metavar="ID", help="a server, or the path of its folder")
    show.set_defaults(handler=run_show)
    check = actions.add_parser("check", help="deploy servers and see what they answer")
    check.add_argument("ids", metavar="ID", nargs="*", help="servers or folders; default: all")
    check.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    check.set_defaults(handler=run_check)


def run_list(args: argparse.Namespace) -> int:
    """Print the catalogue."""
    catalogue = Catalogue.load()
    table = _empty_table("ID", "Name", "Family", "Style", "Speaks", "Licence")
    for entry in catalogue:
        licence = entry.today.licence.value if entry.today.licence else ""
        speaks = "unavailable" if entry.unavailable else ", ".join(entry.protocols)
        family = entry.family if entry.shipped else f"{entry.family} (yours)"
        table.add_row(entry.id, *map(escape, (entry.name, family, entry.style, speaks, licence)))
    Console().print(table)
    for broken in catalogue.broken.values():
        Console(stderr=True).print(escape(broken.problem), style="red", soft_wrap=True)
    return ExitCode.DONE


def run_show(args: argparse.Namespace) -> int:
    """Print one entry."""
    entry = Catalogue.load().find(args.id)
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(entry):
        facts.add_row(name, escape(value))
    console = Console()
    console.print(f"[bold]{escape(entry.name)}[/bold] ({entry.id})")
    console.print(facts)
    if entry.source_path.is_file():
        code = entry.source_path.read_text("utf-8", "replace")
        lexer = Syntax.guess_lexer(str(entry.source_path), code)
        console.print(Syntax(code, lexer, line_numbers=True, background_color="default"))
    return ExitCode.DONE


def run_check(args: argparse.Namespace) -> int:
    """Deploy, gate and stop each server; 1 when one that is available failed."""
    catalogue = Catalogue.load()
    entries = [catalogue.find(id) for id in args.ids] or list(catalogue)
    console = Console(stderr=True)
    with console.status("Opening this machine") as status:
        checked = asyncio.run(check_all(entries, lambda text: status.update(escape(text))))
    if args.json:
        data = {"servers": [_plain(each) for each in checked]}
        sys.stdout.write(msgspec.json.encode(data).decode() + "\n")
    else:
        _print_checked(checked)
    if not args.ids:
        for broken in catalogue.broken.values():
            console.print(escape(broken.problem), style="red", soft_wrap=True)
    failed = any(each.status == "failed" for each in checked)
    return ExitCode.FAILED if failed else ExitCode.DONE


async def check_all(entries: list[ServerEntry], notify: Callable[[str], None]) -> list[Checked]:
    """Check servers on this machine, one after the other."""
    machine = await open_local()
    try:
        return [await check(machine, entry, notify) for entry in entries]
    finally:
        await machine.close()


async def check(machine: Machine, entry: ServerEntry, notify: Callable[[str], None]) -> Checked:
    """Deploy a server, pass it through the gate, stop it."""
    if entry.unavailable:
        return Checked(entry, "unavailable", entry.unavailable.reason)
    try:
        deployment = await deploy(machine, entry, notify=notify)
        try:
            notify(f"Trying {entry.name}")
            result = await gate(deployment)
        finally:
            await deployment.stop()
    except PongbenchError as error:
        return Checked(entry, "failed", str(error))
    status: Literal["passed", "failed"] = "passed" if result.passed else "failed"
    return Checked(entry, status, " ".join(result.sentences), deployment, result)


def _facts(entry: ServerEntry) -> list[tuple[str, str]]:
    facts = [
        ("", entry.description),
        *(("", note) for note in entry.notes),
        ("Family", entry.family),
        ("Style", entry.style),
        ("Speaks", ", ".join(entry.protocols)),
        ("Processes", str(entry.processes)),
        ("Folder", str(entry.folder)),
        ("Command", " ".join(entry.command)),
    ]
    for name, fact in msgspec.structs.asdict(entry.today).items():
        if fact:
            facts.append((f"Today: {name}", f"{fact.value} ({fact.source})"))
    if entry.in_2009:
        row = msgspec.structs.asdict(entry.in_2009).items()
        facts.append(("In 2009", ", ".join(f"{k.replace('_', ' ')}: {v}" for k, v in row if v)))
    if entry.unavailable:
        gone = entry.unavailable
        facts.append(("Unavailable", f"{gone.reason} (tried {gone.tried})"))
        facts.append(("Instead", gone.instead))
    return [(name, value) for name, value in facts if value]


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
            "version": checked.deployment.version,
            "runtime": checked.deployment.runtime,
            "backlog": checked.deployment.backlog,
        }
    if checked.gate:
        data["gate"] = msgspec.to_builtins(checked.gate)
    return data


def _print_checked(checked: list[Checked]) -> None:
    console = Console()
    table = _empty_table("ID", "Status", "Version", "Backlog", "Bytes", "Kept", "Pipelined")
    for each in checked:
        deployed, found = each.deployment, each.gate
        table.add_row(
            each.entry.id,
            f"[{STYLES[each.status]}]{each.status}[/]",
            escape(deployed.version if deployed else ""),
            str(deployed.backlog) if deployed else "",
            str(found.bytes_on_wire or "") if found else "",
            ("yes" if found.keep_alive else "no") if found and found.passed else "",
            f"{found.pipelining} of {PIPELINED}" if found and found.keep_alive else "",
        )
    console.print(table)
    for each in checked:
        if each.status != "passed":
            console.print(f"[bold]{each.entry.id}[/]: {escape(each.reason)}", soft_wrap=True)


def _empty_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column in {"ID", "Status", "Version", "Style"})
    return table
