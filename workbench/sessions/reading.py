"""Opening a session: whole, cut anywhere, damaged, hand-edited, from another version."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec

from workbench.documents import (
    VERSION,
    WINDOW_US,
    AnyDocument,
    Counts,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.errors import BadInput
from workbench.sessions.format import HEADER, decode
from workbench.yamlio import convert, loads_yaml, read_bytes

MOST_BYTES = 512 << 20
"""Of a session; a full sweep of nine servers stays under 60 MB."""

_MOST_NODES = 1_000_000
_KINDS = {kind.__struct_config__.tag for kind in get_args(AnyDocument)}
_SEPARATOR = re.compile(rb"^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"


class NewerSession(BadInput):
    """A session of a later version, which `read_session(..., newer=True)` opens in part."""


@dataclass
class Session:
    """A session as it was read."""

    name: str
    """For messages."""
    documents: list[AnyDocument] = field(default_factory=list)
    """Exactly those recorded, in their order."""
    torn: bool = False
    """The last document was cut off; it is left out."""
    damage: str = ""
    """A sentence about the first document that cannot be read; what follows it is left out."""
    notes: list[str] = field(default_factory=list)
    """Sentences about documents left out because this version does not know them."""

    @property
    def start(self) -> RunStart:
        """Raises BadInput when the session was cut before its first document was complete."""
        if self.documents and isinstance(self.documents[0], RunStart):
            return self.documents[0]
        raise BadInput(
            self.damage or f"session {self.name} was cut off before anything was recorded."
        )

    @property
    def interrupted(self) -> bool:
        """The run did not get to its end, not even to a failed one."""
        return not any(isinstance(document, RunStop) for document in self.documents[-1:])

    def completed(self) -> list[AnyDocument]:
        """For everyone who draws, counts or judges; see `completed`."""
        return list(completed(self.documents))


def is_session(path: Path) -> bool:
    """Does the file begin like a session? False as well when it cannot be read."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(64).removeprefix(_BOM).startswith(HEADER.encode())
    except (OSError, ValueError):
        return False


def read_session(path: Path, *, newer: bool = False) -> Session:
    """Everything that is whole in a session file, whatever happened to it.

    `newer` opens what this version understands of a later version's session. Raises BadInput for
    a file that cannot be read, is no session, or is from a newer version.
    """
    data = read_bytes(path, what="session", most_bytes=MOST_BYTES)
    if not _begins_as_session(data):
        raise BadInput(f"{path} is not a session: it does not begin with {HEADER!r}.")
    session = Session(name=str(path))
    unknown: Counter[str] = Counter()
    for piece in _pieces(data.removeprefix(_BOM)):
        if not piece.text.startswith(b" {") and _is_blank(piece.text):
            continue
        if not piece.whole:
            session.torn = True
            break
        try:
            document = _document(piece, session, newer)
        except _UnknownKind as kind:
            unknown[str(kind)] += 1
        except _Damaged as damage:
            session.damage = str(damage)
            break
        else:
            session.documents.append(document)
    session.notes = [
        f"{count:,} documents of the unknown kind {kind!r} were left out;"
        " a newer Pongbench may know it."
        for kind, count in unknown.items()
    ]
    return session


def completed(documents: Iterable[AnyDocument]) -> Iterator[AnyDocument]:
    """`documents`, and for a point that was begun and never ended a `PointStop` that says so.

    It stands where the point was left: at the end, or before the next `PointStart` or `RunStop`.
    It is not complete, is inconclusive, adds up the point's windows, and judges nothing. A point
    the engine itself had to break off has a `PointStop` of the same form, so that nobody needs to
    tell the two apart.
    """
    open_point: _OpenPoint | None = None
    for document in documents:
        if open_point and isinstance(document, PointStart | RunStop):
            yield open_point.stop()
            open_point = None
        yield document
        match document:
            case PointStart():
                open_point = _OpenPoint(document)
            case Window() if open_point:
                open_point.windows.append(document)
            case PointStop():
                open_point = None
            case _:
                pass
    if open_point:
        yield open_point.stop()


@dataclass
class _OpenPoint:
    start: PointStart
    windows: list[Window] = field(default_factory=list)

    def stop(self) -> PointStop:
        start, windows = self.start, self.windows
        errors: Counter[str] = Counter()
        for window in windows:
            errors.update(window.errors)
        due = sum(window.due for window in windows)
        replies = sum(window.replies for window in windows)
        return PointStop(
            t_us=windows[-1].t_us + WINDOW_US if windows else start.t_us,
            point=start.point,
            server=start.server,
            rate_per_s=start.rate_per_s,
            purpose=start.purpose,
            pass_number=start.pass_number,
            complete=False,
            seconds=len(windows) * WINDOW_US / 1e6,
            counts=Counts(
                scheduled=due,
                unsent=0,
                sent=sum(window.sent for window in windows),
                late=sum(window.late for window in windows),
                established=sum(window.established for window in windows),
                succeeded=replies,
                errors=dict(errors),
                in_flight=due - replies - errors.total(),
            ),
            verdict="inconclusive",
            reasons=[
                "The recording ends in the middle of this point; its figures count for nothing."
            ],
        )


class _Piece(NamedTuple):
    line: int
    """Its first, from 1."""
    text: bytes
    """Without its separator."""
    whole: bool


class _Damaged(Exception):
    """A sentence."""


class _UnknownKind(Exception):
    """The kind."""


def _begins_as_session(data: bytes) -> bool:
    """Or is cut off in its very first line."""
    header = HEADER.encode()
    first = data[: len(header) + 4].removeprefix(_BOM)[: len(header) + 1]
    return header.startswith(first) or (first[:-1] == header and first[-1:] in b"\r\n")


def _pieces(data: bytes) -> Iterator[_Piece]:
    """The documents' texts. One on its separator's line is whole with its newline, any other with
    the next separator."""
    line, counted, begin = 1, 0, 0
    for match in _SEPARATOR.finditer(data):
        line += data.count(b"\n", counted, begin)
        counted = begin
        yield _Piece(line, data[begin : match.start()], True)
        begin = match.end()
    line += data.count(b"\n", counted, begin)
    text = data[begin:]
    flow, newline, rest = text.partition(b"\n")
    if not newline or not _is_flow(flow):
        yield _Piece(line, text, False)
        return
    yield _Piece(line, flow, True)
    yield _Piece(line + 1, rest, False)


def _is_flow(line: bytes) -> bool:
    """Does a mapping begin and, as far as one can see, end on this line?"""
    return line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")


def _is_blank(text: bytes) -> bool:
    return all(not line or line.startswith(b"#") for line in map(bytes.strip, text.splitlines()))


def _document(piece: _Piece, session: Session, newer: bool) -> AnyDocument:
    try:
        document = decode(piece.text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        document = _edited(piece, session.name, newer)
    if isinstance(document, RunStart):
        _check_version(document.v, session.name, newer)
    if isinstance(document, RunStart) == bool(session.documents):
        said = "a second run begins" if session.documents else "this is no run_start"
        raise _Damaged(f"session {session.name}, line {piece.line}: {said}; a session is one run.")
    return document


def _edited(piece: _Piece, name: str, newer: bool) -> AnyDocument:
    """A document in YAML's own style, as the `RunStart` is, or as people write it."""
    try:
        text = piece.text.decode()
        data = loads_yaml(
            text, name=name, what="session", first_line=piece.line, most_nodes=_MOST_NODES
        )
        if isinstance(data, dict):
            kind = data.get("kind")
            if kind == "run_start":
                _check_version(data.get("v", 1), name, newer)
            if isinstance(kind, str) and kind not in _KINDS:
                raise _UnknownKind(kind)
        document: AnyDocument = convert(
            data,
            AnyDocument,  # type: ignore[arg-type]
            name=f"{name}, line {piece.line}",
            what="session",
        )
        return document
    except UnicodeDecodeError:
        raise _Damaged(f"session {name}, line {piece.line}: this is not UTF-8 text.") from None
    except NewerSession:
        raise
    except BadInput as error:
        raise _Damaged(str(error)) from None


def _check_version(version: object, name: str, newer: bool) -> None:
    if isinstance(version, int) and version > VERSION and not newer:
        raise NewerSession(
            f"{name} is from a newer Pongbench ({version})."
            " Update, or open what this one understands."
        )
