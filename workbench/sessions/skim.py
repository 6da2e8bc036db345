"""What a session came to, without its windows and samples, which are nearly all of its size."""

from __future__ import annotations

from pathlib import Path

from workbench.documents import AnyDocument
from workbench.sessions.format import UNREADABLE, decode
from workbench.sessions.reading import MOST_BYTES, parse_session, read_session
from workbench.yamlio import read_bytes

_WANTED = (b"point_stop", b"note", b"run_stop")


def skim(path: Path) -> list[AnyDocument]:
    """Its `RunStart`, `PointStop`s, `Note`s and `RunStop`, as far as it is whole.

    A file that is not as the recorder writes it is read as a whole, one of a newer version as far
    as this one understands it. Raises BadInput.
    """
    data = read_bytes(path, what="session", most_bytes=MOST_BYTES)
    head = data.find(b"\n--- {")
    if head < 0:
        return _wanted(path)
    documents: list[AnyDocument] = [
        parse_session(data[: head + 5], name=str(path), newer=True).start
    ]
    try:
        for kind in _WANTED:
            documents += _of_kind(data, kind, head)
    except UNREADABLE:
        return _wanted(path)
    return documents


def _of_kind(data: bytes, kind: bytes, begin: int) -> list[AnyDocument]:
    """In their order. Raises `UNREADABLE`."""
    found, opening = [], b'\n--- {"kind":"' + kind + b'"'
    at = data.find(opening, begin)
    while at >= 0:
        end = data.find(b"\n", at + 1)
        if end < 0:
            break
        found.append(decode(data[at + 4 : end]))
        at = data.find(opening, end)
    return found


def _wanted(path: Path) -> list[AnyDocument]:
    session = read_session(path, newer=True)
    return [session.start, *session.completed()[1:]]
