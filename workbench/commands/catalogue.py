"""`pongbench catalogue`: list servers, show one and its features, check and create servers."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from workbench.commands.checking import add_check
from workbench.errors import ExitCode
from workbench.formatting import counted
from workbench.messages.plans import more_rights
from workbench.servers import requirements, user_servers
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import Seen, ServerEntry
from workbench.servers.features import as_csv, features, title
from workbench.servers.gate import recall
from workbench.servers.programs import PROGRAMS
from workbench.servers.recognising import recognise
from workbench.terminal import Cell, Terminal, fitting, say, write
from workbench.untrusted import one_line
from workbench.workloads.registry import DEFAULT, PROTOCOLS, able

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


BESIDE = ("nginx", "postgresql")
"""Programs that run beside a server."""
WIDEST = 160
"""Columns of the list in a file or a pipe, where nothing has to be left out."""


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
    add_check(actions)
    add_new(actions)


def run_list(args: argparse.Namespace) -> int:
    """Print the catalogue."""
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
    console.print(feature_table(entry, console.width))
    if entry.source_path.is_file():
        code = entry.source_path.read_text("utf-8", "replace")
        lexer = Syntax.guess_lexer(str(entry.source_path), code)
        shown = Syntax(code, lexer, line_numbers=True, background_color="default", word_wrap=True)
        console.print(shown)
    return ExitCode.DONE


def _facts(entry: ServerEntry) -> list[tuple[str, str]]:
    facts = [
        ("", entry.description),
        *(("", note) for note in entry.notes),
        ("Family", entry.family),
        ("Style", entry.style),
        ("Version", entry.pinned_version),
        ("Protocols", ", ".join(entry.protocols)),
        ("Processes", _processes(entry)),
        ("Warm-up", f"{entry.warm_up_s:g} s of calls" if entry.warm_up_s else ""),
        ("Runtime", "" if entry.runtime == "none" else entry.runtime),
        ("Programs", ", ".join(PROGRAMS[name].title for name in entry.programs)),
        *(("Privileges", each.text()) for each in more_rights(entry.name, entry.rights)),
        ("Known fault", entry.fault),
        *(("Not comparable", text) for text in entry.differences),
        *(("Not comparable over TLS", text) for text in entry.tls_unequal),
        ("Folder", str(entry.folder)),
        ("Command", " ".join(entry.command)),
    ]
    if found := recall(entry):
        facts.append(("Measured", f"{found.when_utc}: {' '.join(found.gate.sentences)}"))
        facts.append(("Supports", "; ".join(able(found.gate))))
    elif entry.seen:
        facts.append(("Seen", _measured(entry.seen)))
    if source := entry.source_at:
        facts.append(("Source", f"{source.git}, commit {source.commit}, licence {source.licence}"))
    if entry.unavailable:
        unavailable = entry.unavailable
        checked = f" (checked on {unavailable.tried})" if unavailable.tried else ""
        facts.append(("Unavailable", f"{unavailable.reason}{checked}"))
        facts.append(("Instead", unavailable.instead))
    return [(name, value) for name, value in facts if value]


def _measured(seen: Seen) -> str:
    kept = (
        f"keep-alive, {seen.pipelining} of 3 pipelined calls"
        if seen.keep_alive
        else "no keep-alive"
    )
    tasks = (
        f"{counted(f'{seen.processes}', ' processes')}, {counted(f'{seen.threads:,}', ' threads')}"
    )
    return f"{kept}; {tasks}, {seen.memory_mb:,.0f} MB ({seen.source})"


def _processes(entry: ServerEntry) -> str:
    found = recall(entry)
    seen = found.gate.processes if found else entry.seen.processes if entry.seen else 0
    if seen in (0, entry.processes):
        return str(entry.processes)
    beside = ["those that start and supervise them"]
    beside += [f"{PROGRAMS[name].title}'s" for name in BESIDE if name in entry.programs]
    return f"{entry.processes} serving; {seen} in all, with {' and '.join(beside)}"


_FEATURES = ("Feature", "2009", "2010", "Today", "Source")


def add_features(actions: Any) -> None:
    """Add `features` to the actions of `catalogue`."""
    parser = actions.add_parser(
        "features", help="the feature table: as published in 2009 and 2010, and today, with sources"
    )
    parser.add_argument("ids", metavar="ID", nargs="*", help="servers or folders (default: all)")
    parser.add_argument(
        "--csv", action="store_true", help="print one line per server and feature, nothing else"
    )
    parser.set_defaults(handler=run_features)


def run_features(args: argparse.Namespace) -> int:
    """Print the feature table."""
    catalogue = Catalogue.load()
    entries = [catalogue.find(id) for id in args.ids] or catalogue.contestants()
    if args.csv:
        write(as_csv(entries))
        return ExitCode.DONE
    console = Terminal()
    for entry in entries:
        console.print(Text.assemble((one_line(entry.name), "bold"), f" ({entry.id})"))
        console.print(feature_table(entry, console.width))
    return ExitCode.DONE


def feature_table(entry: ServerEntry, width: int) -> Table:
    """Return what is known of a server's features, in as many columns of text."""
    return fitting(_FEATURES, _feature_rows(entry), width, spare=(), folds="Source", words=True)


def _feature_rows(entry: ServerEntry) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for each in features(entry):
        value, source = (each.today.value, each.today.reason) if each.today else ("", "")
        texts = (title(each.name), each.in_2009, each.in_2010, value, source)
        rows.append([Text(one_line(text)) for text in texts])
    return rows


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
        help="make one of a project with a Procfile, or of Flask, Django, FastAPI, Node.js, Go or"
        " Rust",
    )
    new.set_defaults(handler=run_new)
    lock = actions.add_parser("lock", help="list and pin everything that a server's packages need")
    lock.add_argument("id", metavar="ID", help="a server of yours")
    lock.set_defaults(handler=run_lock)


def run_lock(args: argparse.Namespace) -> int:
    """Pin the requirements of a server, and say where they are."""
    file, source = requirements.lock(user_servers.folder() / args.id)
    packages = len(requirements.requirements(file))
    say(f"{file} pins {counted(f'{packages:,}', ' packages')} now.")
    say(f"  edit   {source}, then lock again")
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
