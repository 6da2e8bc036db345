"""`pongbench replay`: play a session back, or print its documents as recorded."""

from __future__ import annotations

import argparse
import asyncio
import sys

from workbench.analysis.summary import summarise
from workbench.commands.console import ConsoleView
from workbench.commands.shared import add, add_flag, add_session, exit_code, open_session
from workbench.dispatcher import Consumer
from workbench.documents import AnyDocument
from workbench.results.render.terminal import print_summary
from workbench.sessions import SessionSource
from workbench.sessions.format import encode
from workbench.sessions.source import AS_FAST_AS_POSSIBLE, FASTEST
from workbench.terminal import write


def add_options(parser: argparse.ArgumentParser) -> None:
    add_session(parser)
    add(parser, "--newer")
    parser.add_argument(
        "--speed",
        type=_speed,
        metavar="N",
        help=f"playback speed, 1 to {FASTEST}, or max (default: 1; with --json: max)",
    )
    add_flag(parser, "--json", "print the recorded documents as JSON Lines")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    session = open_session(arguments)
    if arguments.json:
        speed = arguments.speed or AS_FAST_AS_POSSIBLE
        asyncio.run(_play(session.documents, speed, _print_json))
    else:
        documents = session.completed()
        with ConsoleView() as view:
            asyncio.run(_play(documents, arguments.speed or 1.0, view))
        print_summary(summarise(documents))
    return exit_code(session)


async def _play(documents: list[AnyDocument], speed: float, consumer: Consumer) -> None:
    async for document in SessionSource(documents, speed=speed):
        consumer(document)


def _print_json(document: AnyDocument) -> None:
    write(encode(document).decode() + "\n")
    sys.stdout.flush()


def _speed(text: str) -> float:
    if text == "max":
        return AS_FAST_AS_POSSIBLE
    try:
        speed = float(text.removesuffix("x"))
    except ValueError:
        speed = 0.0
    if not 1 <= speed <= FASTEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a speed from 1 to {FASTEST}, or max")
    return speed
