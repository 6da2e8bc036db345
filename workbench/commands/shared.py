"""What several commands have: options, and the session that they open."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from workbench.errors import ExitCode
from workbench.sessions import NewerSession, Session, read_session
from workbench.terminal import to_stderr

Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_FLAG = {"action": "store_true"}
_OPTIONS: dict[str, dict[str, Any]] = {
    "--json": {**_FLAG, "help": "print one JSON object, nothing else"},
    "--markdown": {**_FLAG, "help": "print Markdown, nothing else"},
    "--brief": {**_FLAG, "help": "report servers, not their points"},
    "--install": {**_FLAG, "help": "allow missing programs to be fetched and unpacked"},
    "--newer": {**_FLAG, "help": "open a session of a newer version as far as it is understood"},
    "--remember": {**_FLAG, "help": "store entered passwords in the system keyring"},
    "--junit": {
        **{"type": Path, "metavar": "FILE"},
        "help": "also write the tests as a file of JUnit",
    },
}


def add(parser: argparse._ActionsContainer, *names: str) -> None:
    """Add options that mean the same in several commands."""
    for name in names:
        parser.add_argument(name, **_OPTIONS[name])


def add_flag(parser: argparse._ActionsContainer, name: str, help: str) -> None:
    parser.add_argument(name, action="store_true", help=help)


def add_many(
    parser: argparse._ActionsContainer, name: str, metavar: str | None, help: str, **more: Any
) -> None:
    help = f"{help} (may be repeated)"
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=help, **more)


def add_output(parser: argparse.ArgumentParser, help: str, metavar: str = "FILE") -> None:
    parser.add_argument("-o", "--output", type=Path, metavar=metavar, help=help)


def add_session(parser: argparse.ArgumentParser) -> None:
    """Add FILE, for `open_session`."""
    parser.add_argument("session", type=Path, metavar="FILE", help="a session file")


def add_action(
    actions: Actions, name: str, handler: Callable[[argparse.Namespace], int | None], help: str
) -> argparse.ArgumentParser:
    """Add an action of a command, such as `show` of `machines`."""
    added = actions.add_parser(name, help=help)
    added.set_defaults(handler=handler)
    return added


def open_session(arguments: argparse.Namespace) -> Session:
    """Return the session to show; missing or omitted parts are reported on stderr. Without --newer
    among the options, newer ones are refused. Raises BadInput."""
    newer = getattr(arguments, "newer", False)
    try:
        session = read_session(arguments.session, newer=newer)
        gc.freeze()  # To look for garbage among its documents takes a seventh of a summary's time.
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
    return ExitCode.BAD_INPUT if session.damage else ExitCode.DONE
