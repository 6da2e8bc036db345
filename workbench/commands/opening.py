"""Opening the session a command is given, and options that several commands have."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.errors import ExitCode
from workbench.sessions import NewerSession, Session, read_session
from workbench.terminal import to_stderr


def add_session_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE and --newer, for `open_session`."""
    parser.add_argument("session", type=Path, metavar="FILE", help="a session file")
    add_newer(parser)


def add_newer(parser: argparse.ArgumentParser) -> None:
    """--newer."""
    parser.add_argument(
        "--newer",
        action="store_true",
        help="open a session of a newer version as far as it is understood",
    )


def add_servers(parser: argparse.ArgumentParser) -> None:
    """--server."""
    parser.add_argument(
        "--server", action="append", metavar="ID", help="only this server (may be repeated)"
    )


def open_session(arguments: argparse.Namespace) -> Session:
    """The session to show; what is missing or was left out is reported on stderr.

    Raises BadInput.
    """
    try:
        session = read_session(arguments.session, newer=arguments.newer)
    except NewerSession as error:
        raise NewerSession(f"{str(error).removesuffix('.')} (--newer).") from None
    # Raises where there is nothing to show.
    _ = session.start
    for note in session.notes:
        to_stderr(note)
    if session.damage:
        to_stderr(f"{session.damage} Only the part before it is shown.")
    elif session.interrupted:
        to_stderr("The recording ends before the run did; this is the recorded part.")
    return session


def exit_code(session: Session) -> ExitCode:
    """Of a command that has shown all there is."""
    return ExitCode.BAD_INPUT if session.damage else ExitCode.DONE
