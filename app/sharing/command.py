"""`pongbench share`: a session on a page for spectators."""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import sys
import threading
from contextlib import suppress
from pathlib import Path

from workbench.errors import BadInput, ExitCode
from workbench.terminal import say, write_json

_TOKEN_BYTES = 9
"""Random, of the key in the link: too many to guess."""


def add_share(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Serve a read-only page of a session: charts, ranking and answer, live while it is"
        " recorded. Whoever has the link may look; it is not encrypted. Ctrl-C ends it."
    )
    parser.add_argument("session", type=Path, help="a session's file, complete or being recorded")
    parser.add_argument(
        "--address", default="127.0.0.1", help="address of this computer (default: 127.0.0.1)"
    )
    parser.add_argument("--port", type=int, default=0, help="port (default: a free one)")
    parser.add_argument("--json", action="store_true", help="print the link as a JSON object")
    parser.add_argument("--while-open", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; with `--while-open` until the standard input is closed, so that it ends
    with the program that started it."""
    import segno  # noqa: PLC0415 - not for other commands

    from app.sharing.spectators import Stage, link, listen, serve  # noqa: PLC0415

    if not arguments.while_open and not arguments.session.is_file():
        raise BadInput(f"There is no session file {arguments.session}.")
    stage = Stage(arguments.session)
    stage.renew()  # What is no session is refused before there is a link.
    try:
        sock = listen(arguments.address, arguments.port)
    except BadInput as error:
        if not arguments.json:
            raise
        write_json({"problem": str(error)})
        return error.exit_code
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    url = link(sock, token)
    if hasattr(os, "nice"):
        os.nice(19)  # It shares the computer with what is measured.
    if arguments.json:
        write_json({"link": url})
        sys.stdout.flush()
    else:
        say(f"Spectators: {url}")
        if sys.stdout.isatty():
            segno.make(url).terminal(compact=True)
        say("Whoever has this link may look. It is not encrypted. Ctrl-C ends it.")

    async def until_closed() -> None:
        ended = asyncio.Event()
        if arguments.while_open:
            loop = asyncio.get_running_loop()

            def wait() -> None:
                while os.read(0, 1024):
                    pass
                with suppress(RuntimeError):  # It has ended by itself.
                    loop.call_soon_threadsafe(ended.set)

            threading.Thread(target=wait, daemon=True).start()
        await serve(stage, sock, token, ended)

    try:
        with sock:
            asyncio.run(until_closed())
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE
