"""`pongbench catalogue`: list servers, show one, check that they run and answer."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from rich import box
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from workbench.commands.asking import ask_at_terminal
from workbench.commands.checking import Checking
from workbench.commands.exposing import add_option, exposing_at_terminal
from workbench.commands.features import add_features
from workbench.commands.fitting import Cell, fitting
from workbench.commands.user_servers import add_new
from workbench.errors import BadInput, ExitCode
from workbench.machines.profiles import load_profile
from workbench.rights import stated
from workbench.servers import gate_cache
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked, check_all
from workbench.servers.entry import Seen, ServerEntry
from workbench.servers.gate import PIPELINED, GateResult
from workbench.servers.programs import PROGRAMS
from workbench.servers.recording import record
from workbench.terminal import Terminal, write_json
from workbench.untrusted import indented, one_line
from workbench.workloads.registry import able

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

NARROWEST = 110
"""Columns of the closing table, whose lines must not be wrapped."""

WIDEST = 160
"""Columns of the list in a file or a pipe, where nothing has to be left out."""

STYLES = {"passed": "green", "failed": "bold red", "unavailable": "dim", "needs source": "dim"}


def add_parser(subparsers: Subparsers) -> None:
    """Add `catalogue` to the commands."""
    parser = subparsers.add_parser("catalogue", help="the servers that can be compared")
    parser.set_defaults(handler=run_list)
    actions = parser.add_subparsers(metavar="ACTION")
    actions.add_parser("list", help="all servers (default)").set_defaults(handler=run_list)
    show = actions.add_parser("show", help="print what is known about a server, and its code")
    show.add_argument("id", metavar="ID", help="a server, or the path of its folder")
    show.set_defaults(handler=run_show)
    add_features(actions)
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
    check.add_argument(
        "--record",
        action="store_true",
        help="start each server twice, alone, and write the results into its server.yaml",
    )
    add_option(check)
    check.set_defaults(handler=run_check)
    add_new(actions)


def run_list(args: argparse.Namespace) -> int:
    """Print the catalogue."""
    catalogue = Catalogue.load()
    titles = ("ID", "Name", "Family", "Style", "Protocols", "Licence")
    rows: list[list[Cell]] = []
    for entry in catalogue:
        licence = entry.today.licence.value if entry.today.licence else ""
        speaks = entry.unavailable.word if entry.unavailable else ", ".join(entry.protocols)
        family = entry.family if entry.shipped else f"{entry.family} (yours)"
        words = (entry.id, entry.name, family, entry.style, speaks, licence)
        rows.append([Text(one_line(word)) for word in words])
    console = Terminal(piped=WIDEST)
    spare = ("Licence", "Style", "Name", "Family")
    console.print(fitting(titles, rows, console.width, spare=spare, words=True))
    for broken in catalogue.broken.values():
        Terminal(stderr=True).say(broken.problem, "red")
    return ExitCode.DONE


def run_show(args: argparse.Namespace) -> int:
    """Print one entry."""
    entry = Catalogue.load().find(args.id)
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(entry):
        facts.add_row(name, value)
    console = Terminal()
    console.print(Text.assemble((one_line(entry.name), "bold"), f" ({entry.id})"))
    console.print(facts)
    if entry.source_path.is_file():
        code = entry.source_path.read_text("utf-8", "replace")
        lexer = Syntax.guess_lexer(str(entry.source_path), code)
        console.print(Syntax(code, lexer, line_numbers=True, background_color="default"))
    return ExitCode.DONE


def run_check(args: argparse.Namespace) -> int:
    """Deploy, gate and stop each server; 1 if one that is available failed."""
    catalogue = Catalogue.load()
    entries = [catalogue.find(id) for id in args.ids] or list(catalogue)
    profile = load_profile(args.on)
    if args.record and args.on != "localhost":
        raise BadInput("--record keeps results of this computer only; leave out --on.")
    console = Terminal(stderr=True)
    with Checking(console) as checking:
        expose = exposing_at_terminal(yes=args.expose, alone=checking.paused)
        checked = asyncio.run(
            check_all(
                entries,
                checking,
                profile=profile,
                ask=ask_at_terminal(checking.paused),
                install=args.install,
                expose=expose,
                again=args.record,
            )
        )
    if args.record:
        console.say(f"Recorded: {', '.join(record(checked)) or 'none'}.")
    if args.json:
        data = {"servers": [_plain(each) for each in checked]}
        write_json(data)
    else:
        _print_checked(checked)
    if not args.ids:
        for broken in catalogue.broken.values():
            console.say(broken.problem, "red")
    failed = any(each.status == "failed" for each in checked)
    return ExitCode.FAILED if failed else ExitCode.DONE


def _facts(entry: ServerEntry) -> list[tuple[str, str]]:
    facts = [
        ("", entry.description),
        *(("", note) for note in entry.notes),
        ("Family", entry.family),
        ("Style", entry.style),
        ("Protocols", ", ".join(entry.protocols)),
        ("Processes", _processes(entry)),
        ("Warm-up", f"{entry.warm_up_s:g} s of calls" if entry.warm_up_s else ""),
        ("Runtime", "" if entry.runtime == "none" else entry.runtime),
        ("Programs", ", ".join(PROGRAMS[name].title for name in entry.programs)),
        *(("Privileges", sentence) for sentence in stated(entry)),
        ("Known fault", entry.fault),
        *(("Not comparable", text) for text in entry.unequal),
        ("Folder", str(entry.folder)),
        ("Command", " ".join(entry.command)),
    ]
    for name, fact in msgspec.structs.asdict(entry.today).items():
        if fact:
            facts.append((f"Today: {name}", f"{fact.value} ({fact.source})"))
    if found := gate_cache.recall(entry):
        facts.append(("Measured", f"{found.when_utc}: {' '.join(found.gate.sentences)}"))
        facts.append(("Supports", "; ".join(able(found.gate))))
    elif entry.seen:
        facts.append(("Seen", _measured(entry.seen)))
    if entry.in_2009:
        row = msgspec.structs.asdict(entry.in_2009).items()
        facts.append(("In 2009", ", ".join(f"{k.replace('_', ' ')}: {v}" for k, v in row if v)))
    if source := entry.source_at:
        facts.append(("Source", f"{source.git}, commit {source.commit}, licence {source.licence}"))
    if entry.unavailable:
        unavailable = entry.unavailable
        tested = f" (tested {unavailable.tried})" if unavailable.tried else ""
        facts.append((unavailable.word.capitalize(), f"{unavailable.reason}{tested}"))
        facts.append(("Instead", unavailable.instead))
    return [(name, value) for name, value in facts if value]


def _measured(seen: Seen) -> str:
    kept = (
        f"keep-alive, {seen.pipelining} of 3 pipelined calls"
        if seen.keep_alive
        else "no keep-alive"
    )
    return (
        f"{kept}; {seen.processes} processes, {seen.threads} threads, {seen.memory_mb:.0f} MB"
        f" ({seen.source})"
    )


def _processes(entry: ServerEntry) -> str:
    found = gate_cache.recall(entry)
    counted = found.gate.processes if found else entry.seen.processes if entry.seen else 0
    if counted in (0, entry.processes):
        return str(entry.processes)
    return f"{entry.processes} serving; {counted} in all, with those that start and supervise them"


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
            "warm_start_s": checked.warm_start_s and round(checked.warm_start_s, 3),
            "confinement": msgspec.to_builtins(checked.deployment.confinement),
        }
    if checked.gate:
        data["gate"] = msgspec.to_builtins(checked.gate)
    return data


def _print_checked(checked: list[Checked]) -> None:
    console = Terminal()
    console.width = max(console.width, NARROWEST)
    # Without others beside it, which is how results are recorded, a start can be timed.
    starts = STARTS if any(each.warm_start_s for each in checked) else ()
    table = _empty_table("ID", "Status", "Version", "Backlog", *FIGURES, *starts)
    for each in checked:
        deployed, found = each.deployment, each.gate
        table.add_row(
            each.entry.id,
            Text(each.status, STYLES[each.status]),
            _number(deployed.version) if deployed else "",
            str(deployed.backlog) if deployed else "",
            *_figures(found),
            *(_started(each) if starts else []),
        )
    console.print(table)
    for each in checked:
        if each.status != "passed":
            text = Text.assemble((each.entry.id, "bold"), indented(f": {each.reason}"))
            console.print(text, soft_wrap=True)


def _number(version: str) -> str:
    """ "tornado 6.6.1" gives 6.6.1."""
    last = version.rpartition(" ")[2]
    return last if last[:1].isdigit() else ""


FIGURES = ("Bytes", "Kept", "Piped", "Proc", "Thr", "MB")


STARTS = ("Cold s", "Warm s")


def _started(checked: Checked) -> list[str]:
    times = (checked.deployment.ready_s if checked.deployment else None, checked.warm_start_s)
    return ["" if each is None else f"{each:.2f}" for each in times]


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
