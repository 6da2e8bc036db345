"""`pongbench catalogue features`: what was published of the servers, and what is known today."""

from __future__ import annotations

import argparse
from typing import Any

from rich.table import Table
from rich.text import Text

from workbench.errors import ExitCode
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.features import as_csv, features, title
from workbench.terminal import Cell, Terminal, fitting, write
from workbench.untrusted import one_line

TITLES = ("Feature", "2009", "2010", "Today", "Source")


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
    return fitting(TITLES, _rows(entry), width, spare=(), folds="Source", words=True)


def _rows(entry: ServerEntry) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for each in features(entry):
        value, source = (each.today.value, each.today.reason) if each.today else ("", "")
        texts = (title(each.name), each.in_2009, each.in_2010, value, source)
        rows.append([Text(one_line(text)) for text in texts])
    return rows
