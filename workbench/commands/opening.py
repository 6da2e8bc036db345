"""Opening the session given to a command, and options shared by several commands."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.errors import ExitCode
from workbench.sessions import NewerSession, Session, read_session
from workbench.terminal import to_stderr


def add_session_arguments(parser: argparse.ArgumentParser, *, newer: bool = True) -> None:
    """Add FILE, and --newer if wanted, for `open_session`."""
    parser.add_argument("session", type=Path, metavar="FILE", help="a session file")
    if newer:
        add_newer(parser)
    else:
        parser.set_defaults(newer=False)


def add_newer(parser: argparse.ArgumentParser) -> None:
    """Add --newer."""
    parser.add_argument(
        "--newer",
        action="store_true",
        help="open a session of a newer version as far as it is understood",
    )


def add_servers(parser: argparse.ArgumentParser) -> None:
    """Add --server."""
    parser.add_argument(
        "--server", action="append", metavar="ID", help="only this server (may be repeated)"
    )


def open_session(arguments: argparse.Namespace) -> Session:
    """The session to show; missing or omitted parts are reported on stderr.

    Raises BadInput.
    """
    try:
        session = read_session(arguments.session, newer=arguments.newer)
    except NewerSession as error:
        raise NewerSession(f"{str(error).removesuffix('.')} (--newer).") from None
    # Raises if there is nothing to show.
    _ = session.start
    for note in session.notes:
        to_stderr(note)
    if session.damage:
        to_stderr(f"{session.damage} Only the part before it is shown.")
    elif session.interrupted:
        to_stderr("The recording ends before the run did; this is the recorded part.")
    return session


def exit_code(session: Session) -> ExitCode:
    """The exit code of a command that has shown a session."""
    return ExitCode.BAD_INPUT if session.damage else ExitCode.DONE
