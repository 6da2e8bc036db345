"""`pongbench plans`: the shipped plans by the benchmark they repeat, and the user's own."""

from __future__ import annotations

import argparse
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.text import Text

from workbench import formatting
from workbench.errors import BadInput, ExitCode
from workbench.machines.facts import here
from workbench.plan.budget import assess
from workbench.plan.library import Preset, presets
from workbench.servers.catalogue import Catalogue
from workbench.terminal import Cell, Terminal, fitting, say, write_json
from workbench.untrusted import one_line

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

WIDEST = 120
"""Columns in a file or a pipe."""


def add_parser(subparsers: Subparsers) -> None:
    """Add `plans` to the commands."""
    parser = subparsers.add_parser("plans", help="what can be run, and how long it takes here")
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """List all plans; those that cannot be read with the reason."""
    found, spans = presets(), _Spans()
    if arguments.json:
        write_json({"plans": [_record(preset, spans(preset)) for preset in found]})
        return ExitCode.DONE
    console = Terminal(piped=WIDEST)
    for group, listed in groupby(found, key=lambda preset: preset.group):
        rows: list[list[Cell]] = [
            [
                Text(one_line(preset.id)),
                Text(one_line(preset.name)),
                str(len(preset.plan.servers)),
                _takes(spans(preset)),
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
    return ExitCode.DONE


class _Spans:
    """How long plans take on this computer."""

    def __init__(self) -> None:
        self._catalogue = Catalogue.load()
        self._facts = here()

    def __call__(self, preset: Preset) -> tuple[float, float] | None:
        """Seconds, fewest and most; None: unknown, because a server is missing."""
        if not preset.plan:
            return None
        try:
            entries = [self._catalogue[server] for server in preset.plan.servers]
        except BadInput:
            return None
        return assess(preset.plan, entries, self._facts, loopback=True).duration_s


def _takes(span_s: tuple[float, float] | None) -> str:
    return "?" if span_s is None else formatting.time_span(span_s)


def _record(preset: Preset, span_s: tuple[float, float] | None) -> dict[str, Any]:
    plan = preset.plan
    return {
        "id": preset.id,
        "name": preset.name,
        "group": preset.group,
        "own": preset.own,
        "description": plan.description if plan else "",
        "servers": plan.servers if plan else [],
        "seconds": span_s,
        "problem": preset.problem,
    }
