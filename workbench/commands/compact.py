"""`pongbench compact`: write a session of an earlier version again, in the format of today."""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec import ValidationError

from workbench.commands.shared import add_output, add_session, exit_code, open_session
from workbench.documents import VERSION, AnyDocument, PointStop, Window
from workbench.errors import BadInput, why
from workbench.formatting import size
from workbench.sessions.columns import encode_all
from workbench.sessions.format import checked, compact
from workbench.terminal import say


def add_options(parser: argparse.ArgumentParser) -> None:
    add_session(parser)
    add_output(parser, "default: NAME-compact.pong.yaml")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Write the documents that can be read; the file itself stays as it is. Raises BadInput."""
    source: Path = arguments.session
    name, dot, ending = source.name.partition(".")
    path = arguments.output or source.with_name(f"{name}-compact{dot}{ending}")
    session = open_session(arguments)
    if session.start.v == VERSION:
        say(f"{source} is already compact; nothing was written.")
        return exit_code(session)
    documents = [_checked(compact(each), source) for each in session.documents]
    try:
        with path.open("xb") as file:
            file.writelines(encode_all(documents))
    except FileExistsError:
        raise BadInput(f"{path} already exists, and sessions are never overwritten.") from None
    except OSError as error:
        raise BadInput(f"No session can be written to {path}: {why(error)}.") from None
    before, after = (size(each.stat().st_size) for each in (source, path))
    say(f"{path}: {after} instead of {before}.")
    return exit_code(session)


def _checked(document: AnyDocument, source: Path) -> AnyDocument:
    """Return it if it can be read again: sums were never compared with counts. Raises BadInput."""
    try:
        checked(document)
    except ValidationError as error:
        point = document.point if isinstance(document, Window | PointStop) else 0
        text, _, place = str(error).partition(" - at `$.")
        raise BadInput(
            f"{source}, point {point}, {place.rstrip('`')}: {text[:1].lower()}{text[1:]}, so it"
            " stays as it is. Nothing was written."
        ) from None
    return document
