"""`pongbench catalogue`: list servers, show one and its features, check and create servers."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from workbench.commands.asking import EXPOSE, ask_at_terminal
from workbench.commands.shared import add, add_action, add_flag
from workbench.errors import ExitCode
from workbench.formatting import counted
from workbench.machines.profiles import load_profile
from workbench.servers import requirements, user_servers
from workbench.servers.about import facts, measured, remarks
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked, check_all, version_of
from workbench.servers.entry import ServerEntry
from workbench.servers.features import as_csv, features, title
from workbench.servers.gate import PIPELINED, recall
from workbench.servers.recognising import recognise
from workbench.terminal import Cell, Terminal, fitting, say, write, write_json
from workbench.untrusted import indented, one_line, safe
from workbench.workloads.registry import DEFAULT, PROTOCOLS, able

TITLES = ("ID", "Status", "Version", "Backlog", "Bytes", "Kept", "Piped", "Proc", "Thr", "MB")
NARROWEST = 110
"""Columns of the closing table, whose lines must not be wrapped."""

STYLES = {"passed": "green", "failed": "bold red", "unavailable": "dim", "needs source": "dim"}

WIDEST = 160
"""Columns of the list in a file or a pipe, where nothing has to be left out."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(handler=run_list)
    actions = parser.add_subparsers(metavar="ACTION")
    add_action(actions, "list", run_list, "all servers (default)")
    show = add_action(actions, "show", run_show, "print what is known about a server, and its code")
    show.add_argument("id", metavar="ID", help="a server, or the path of its folder")
    about = "the feature table: as published in 2009 and 2010, and today, with sources"
    table = add_action(actions, "features", run_features, about)
    table.add_argument("ids", metavar="ID", nargs="*", help="servers or folders (default: all)")
    add_flag(table, "--csv", "print one line per server and feature, nothing else")
    check = add_action(actions, "check", run_check, "deploy servers and test their replies")
    check.add_argument("ids", metavar="ID", nargs="*", help="servers or folders (default: all)")
    add(check, "--json", "--install")
    check.add_argument(
        "--on",
        default="localhost",
        metavar="MACHINE",
        help="machine profile (default: this computer)",
    )
    add_flag(check, EXPOSE.option, EXPOSE.help)
    new = add_action(actions, "new", run_new, "create a server of your own")
    new.add_argument("name", metavar="NAME", help="display name")
    begun = new.add_mutually_exclusive_group()
    begun.add_argument("--like", metavar="ID", help="start from a copy of this server")
    begun.add_argument(
        "--from",
        dest="origin",
        metavar="DIR",
        help="make one of a project with a Procfile, or of Flask, Django, FastAPI, Node.js, Go or"
        " Rust",
    )
    about = "list and pin everything that a server's packages need"
    lock = add_action(actions, "lock", run_lock, about)
    lock.add_argument("id", metavar="ID", help="a server of yours")


def run_list(args: argparse.Namespace) -> None:
    catalogue = Catalogue.load()
    titles = ("ID", "Name", "Family", "Style", "Protocols", "Licence")
    rows: list[list[Cell]] = []
    for entry in catalogue:
        licence = entry.today.licence.value if entry.today.licence else ""
        speaks = "unavailable" if entry.unavailable else ", ".join(entry.protocols)
        family = entry.family if entry.shipped else f"{entry.family} (yours)"
        words = (entry.id, entry.name, family, entry.style, speaks, licence)
        rows.append([Text(one_line(word)) for word in words])
    console = Terminal(piped=WIDEST)
    spare = ("Licence", "Style", "Name", "Family")
    console.print(fitting(titles, rows, console.width, spare=spare, words=True))
    for broken in catalogue.broken.values():
        Terminal(stderr=True).say(broken.problem, "red")


def run_show(args: argparse.Namespace) -> None:
    entry = Catalogue.load().find(args.id)
    grid, found = Table.grid(padding=(0, 2)), recall(entry)
    known = [(what, sentence) for what, sentence, _ in remarks(entry)]
    for name, value in [*known, *facts(entry, found), *(measured(found) if found else ())]:
        if value:
            grid.add_row(name, value)
    console = Terminal()
    console.print(Text.assemble((one_line(entry.name), "bold"), f" ({entry.id})"))
    console.print(grid)
    console.print(feature_table(entry, console.width))
    if entry.source_path.is_file():
        code = entry.source_path.read_text("utf-8", "replace")
        lexer = Syntax.guess_lexer(str(entry.source_path), code)
        shown = Syntax(code, lexer, line_numbers=True, background_color="default", word_wrap=True)
        console.print(shown)


def run_features(args: argparse.Namespace) -> None:
    catalogue = Catalogue.load()
    entries = [catalogue.find(id) for id in args.ids] or catalogue.contestants()
    if args.csv:
        write(as_csv(entries))
        return
    console = Terminal()
    for entry in entries:
        console.print(Text.assemble((one_line(entry.name), "bold"), f" ({entry.id})"))
        console.print(feature_table(entry, console.width))


def feature_table(entry: ServerEntry, width: int) -> Table:
    titles = ("Feature", "2009", "2010", "Today", "Source")
    rows: list[list[Cell]] = []
    for each in features(entry):
        value, source = (each.today.value, each.today.reason) if each.today else ("", "")
        texts = (title(each.name), each.in_2009, each.in_2010, value, source)
        rows.append([Text(one_line(text)) for text in texts])
    return fitting(titles, rows, width, spare=(), folds="Source", words=True)


def run_lock(args: argparse.Namespace) -> None:
    file, source = requirements.lock(user_servers.folder() / args.id)
    packages = len(requirements.requirements(file))
    say(f"{file} pins {counted(f'{packages:,}', ' packages')} now.")
    say(f"  edit   {source}, then lock again")
    say(f"  test   pongbench catalogue check {args.id}")


def run_new(args: argparse.Namespace) -> None:
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
        write_json({"servers": [_plain(each) for each in checked]})
    else:
        _print_checked(checked)
    if not args.ids:
        for broken in catalogue.broken.values():
            console.say(broken.problem, "red")
    bad = set(STYLES) - {"passed"} if args.ids else {"failed"}
    return ExitCode.FAILED if any(each.status in bad for each in checked) else ExitCode.DONE


class Checking:
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
    rows = [_cells(each) for each in checked]
    console.print(fitting(TITLES, rows, console.width, spare=(), words=True))
    for each in checked:
        if each.status != "passed":
            text = Text.assemble((each.entry.id, "bold"), indented(f": {each.reason}"))
            console.print(text, soft_wrap=True)


def _cells(checked: Checked) -> list[Cell]:
    deployed = checked.deployment
    found = checked.gate if checked.gate and checked.gate.passed else None
    wired = found if found and found.bytes_on_wire else None
    return [
        checked.entry.id,
        Text(checked.status, STYLES[checked.status]),
        version_of(checked.entry, deployed.version) if deployed else "",
        str(deployed.backlog) if deployed else "",
        str(wired.bytes_on_wire) if wired else "",
        {True: "yes", False: "no"}[wired.keep_alive] if wired else "",
        f"{wired.pipelining}/{PIPELINED}" if wired and wired.keep_alive else "",
        str(found.processes or "") if found else "",
        str(found.threads or "") if found else "",
        f"{found.rss_bytes / 1e6:.0f}" if found and found.rss_bytes else "",
    ]
