"""The results of a session without its windows and samples, which are nearly all of its size."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from workbench.config.yaml import read_bytes
from workbench.documents import AnyDocument, PointStop
from workbench.formatting import number_of
from workbench.sessions.format import UNREADABLE, Packed, are_sound, decode
from workbench.sessions.reading import MOST_BYTES, parse_session, read_session

_WANTED = re.compile(rb'\n--- (\{"kind":"(?:point_stop|note|run_stop)".*)(?=\n)')
_BLOCK_BYTES = 1 << 18
_lines = msgspec.json.Decoder(msgspec.Raw)


def skim(path: Path) -> list[AnyDocument]:
    """Return its `RunStart`, `PointStop`s, `Note`s and `RunStop`, as far as they are complete.

    A file that the recorder did not write is read as a whole, one of a newer version as far as this
    one understands it. Raises BadInput.
    """
    data = read_bytes(path, what="session", most_bytes=MOST_BYTES)
    head = data.find(b"\n--- {")
    if head < 0 or not _is_sound(data, head + 1):
        return _read_wanted(path)
    packed: Packed = []
    documents: list[AnyDocument] = [
        parse_session(data[: head + 5], name=str(path), newer=True).start
    ]
    try:
        documents += [decode(line[1], packed) for line in _WANTED.finditer(data, head)]
    except UNREADABLE:
        return _read_wanted(path)
    return documents if are_sound(packed) else _read_wanted(path)


def damage(path: Path) -> str:
    """Describe a session's damage, for a list; empty: none. Raises BadInput."""
    data = read_bytes(path, what="session", most_bytes=MOST_BYTES)
    head = data.find(b"\n--- {")
    if head >= 0 and _is_sound(data, head + 1):
        return ""
    session = read_session(path, newer=True)
    if not session.damage:
        return ""
    points = [d for d in session.documents if isinstance(d, PointStop) and d.judged]
    there, planned = len({point.server for point in points}), len(session.start.servers)
    if not points:
        left = "no point"
    elif planned > 1:
        left = f"{there} of {planned} servers"
    else:
        left = number_of(len(points), "points")
    return f"Damaged: {left} can be shown. Another copy of the file may be whole."


def _is_sound(data: bytes, begin: int) -> bool:
    """Return whether every line from there on is as the recorder writes it, except for a truncated
    last one. Works in blocks, so that other threads get their turn."""
    while (end := data.rfind(b"\n", begin, begin + _BLOCK_BYTES) + 1) or (
        end := data.find(b"\n", begin) + 1
    ):
        block = data[begin:end]
        if block.count(b"\n--- {") + block.startswith(b"--- {") != block.count(b"\n"):
            return False
        try:
            block.decode()
            _lines.decode_lines(block[4:].replace(b"\n--- ", b"\n"))
        except UNREADABLE:
            return False
        begin = end
    return True


def _read_wanted(path: Path) -> list[AnyDocument]:
    session = read_session(path, newer=True)
    return [session.start, *session.completed()[1:]]
