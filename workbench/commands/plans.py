"""`pongbench plans`: the shipped plans by the benchmark they repeat, and the user's own."""

from __future__ import annotations

import argparse
from itertools import groupby
from typing import Any

from rich.text import Text

from workbench import formatting
from workbench.commands.shared import add
from workbench.machines.facts import here
from workbench.plan.budget import span_s
from workbench.plan.library import Preset, presets
from workbench.servers.catalogue import Catalogue
from workbench.terminal import Cell, Terminal, fitting, say, write_json
from workbench.untrusted import one_line

WIDEST = 120
"""Columns in a file or a pipe."""


def add_options(parser: argparse.ArgumentParser) -> None:
    add(parser, "--json")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> None:
    found, catalogue, facts = presets(), Catalogue.load(), here()

    def spans(preset: Preset) -> tuple[float, float] | None:
        return span_s(preset.plan, catalogue, facts) if preset.plan else None

    if arguments.json:
        write_json({"plans": [_record(preset, spans(preset)) for preset in found]})
        return
    console = Terminal(piped=WIDEST)
    for group, listed in groupby(found, key=lambda preset: preset.group):
        rows: list[list[Cell]] = [
            [
                Text(one_line(preset.id)),
                Text(one_line(preset.name)),
                str(len(preset.plan.servers)),
                formatting.time_span(span) if (span := spans(preset)) else "?",
            ]
            for preset in listed
            if preset.plan
        ]
        if rows:
            console.print(Text(one_line(group or "General"), style="bold"))
            titles = ("Plan", "Name", "Servers", "Takes here")
            spare = ("Name", "Servers")
            console.print(fitting(titles, rows, console.width, spare=spare, words=True))
    for preset in found:
        if not preset.plan:
            Terminal(stderr=True).say(preset.problem, "red")
    say("Run one with `pongbench run PLAN`; `--preview` shows what it needs, without starting it.")


def _record(preset: Preset, span: tuple[float, float] | None) -> dict[str, Any]:
    plan = preset.plan
    return {
        "id": preset.id,
        "name": preset.name,
        "group": preset.group,
        "own": preset.own,
        "description": plan.description if plan else "",
        "servers": plan.servers if plan else [],
        "seconds": span,
        "problem": preset.problem,
    }
