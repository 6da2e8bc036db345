"""Opening a session: complete, truncated, damaged, edited by hand, or from another version."""

from __future__ import annotations

import contextlib
import gc
import io
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple, get_args

import msgspec

from workbench.analysis.over_time import merge_windows, seconds
from workbench.axis import RATE, Axis
from workbench.config.schema_errors import complaint
from workbench.config.yaml import loads_yaml, opened
from workbench.converting import convert
from workbench.documents import (
    VERSION,
    AnyDocument,
    Counts,
    Histograms,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.errors import BadInput, why
from workbench.messages.reasons import reason
from workbench.sessions import columns
from workbench.sessions.columns import Record
from workbench.sessions.format import AT_ONCE, HEADER, UNREADABLE, Packed, are_sound, checked
from workbench.sessions.source import time_us

MOST_BYTES = 512 << 20
"""The largest session file; five passes of nine servers at 87 rates are 90 MB."""

_MOST_NODES = 1_000_000
_KINDS = {kind.__struct_config__.tag for kind in get_args(AnyDocument)} | columns.KINDS
# A leading newline is found far faster than `^`, and the header has one before any separator.
_SEPARATOR = re.compile(rb"\n(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
_BOM = b"\xef\xbb\xbf"


class NewerSession(BadInput):
    """A session of a later version, which `read_session(..., newer=True)` opens in part."""


@dataclass
class Session:
    """The content of a session file."""

    name: str
    """The file's name, for messages."""
    documents: list[AnyDocument] = field(default_factory=list)
    """The recorded documents in order, presentable."""
    damage: str = ""
    """A sentence about the first document that cannot be read; what follows it is left out."""
    notes: list[str] = field(default_factory=list)
    """Sentences about unknown documents, left out."""

    @property
    def start(self) -> RunStart:
        """The first document. Raises BadInput when the session was cut before it was complete."""
        if self.documents and isinstance(self.documents[0], RunStart):
            return self.documents[0]
        raise BadInput(
            self.damage or f"session {self.name} was cut off before anything was recorded."
        )

    @property
    def interrupted(self) -> bool:
        """The run did not reach its end, not even a failed one."""
        return not any(isinstance(document, RunStop) for document in self.documents[-1:])

    def completed(self) -> list[AnyDocument]:
        """The documents for drawing, counting and judging; see `completed`."""
        return list(completed(self.documents))


def completed(documents: Iterable[AnyDocument]) -> Iterator[AnyDocument]:
    """Return `documents`, with a `PointStop` for a point that was started and never ended.

    It is inserted where the point was left: at the end, or before the next `PointStart` or
    `RunStop`. It is incomplete and inconclusive, and sums up the point's windows: times to 7 %, as
    their histograms are. A point that the engine itself broke off has a `PointStop` of the same
    form, so they need not be distinguished.
    """
    start: PointStart | None = None
    windows: list[Window] = []
    axis = RATE
    for document in documents:
        if start and isinstance(document, PointStart | RunStop):
            yield _cut_off(start, windows, axis)
            start = None
        yield document
        match document:
            case RunStart():
                axis = document.axis or RATE
            case PointStart():
                start, windows = document, []
            case Window() if start:
                windows.append(document)
            case PointStop():
                start = None
            case _:
                pass
    if start:
        yield _cut_off(start, windows, axis)


def _cut_off(start: PointStart, windows: Sequence[Window], axis: Axis) -> PointStop:
    empty = Window(t_us=0, point=0, index=0, due=0, sent=0, late=0, established=0, replies=0)
    whole, cut = merge_windows(windows or [empty]), reason("recording-cut")
    lost = sum(whole.errors.values())
    ended = whole.replies + lost
    scheduled = [window for window in windows if window.phase != "drain"] or windows
    measured = [window for window in scheduled if window.phase == "measure"] or scheduled

    def per_s(windows: Sequence[Window], calls: int) -> float:
        """In the unit of the session's axis, where that is a rate."""
        each = start.calls_per_connection if axis.of_connections else 1
        return round(calls / each / seconds(windows), 3) if windows else 0.0

    return PointStop(
        t_us=windows[-1].t_us + windows[-1].length_us if windows else start.t_us,
        **start.identity,
        complete=False,
        seconds=seconds(windows),
        counts=Counts(
            scheduled=whole.due,
            unsent=0,
            sent=whole.sent,
            late=whole.late,
            established=whole.established,
            succeeded=whole.replies,
            errors=whole.errors,
            in_flight=whole.due - ended,
        ),
        offered_per_s=0.0 if start.concurrency else per_s(scheduled, whole.due),
        replies_per_s=per_s(measured, sum(window.replies for window in measured)),
        errors_pct=round(100 * lost / ended, 4) if ended else 0.0,
        latency_us=whole.latency_us,
        service_us=whole.service_us,
        histograms=Histograms(latency=whole.latency, service=whole.service),
        verdict="inconclusive",
        reasons=[cut.text()],
        findings=[cut.record()],
    )


def is_session(path: Path) -> bool:
    """Return whether the file begins like a session; False when it cannot be read."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(64).removeprefix(_BOM).startswith(HEADER.encode())
    except (OSError, ValueError):
        return False


def read_session(path: Path, *, newer: bool = False) -> Session:
    """Return all complete documents of a session file, in whatever state it is.

    `newer` opens what this version understands of a later version's session. Raises BadInput for a
    file that cannot be read, is no session, or is from a newer version.
    """
    with opened(path, what="session", most_bytes=MOST_BYTES) as file, uncollected():
        if not file.read(64).strip() and not file.read(1):
            raise BadInput(f"session {path} is empty: nothing was recorded. Choose another file.")
        file.seek(0)
        # What is open cannot be moved to the trash on Windows.
        whole = io.BytesIO(file.read()) if sys.platform == "win32" else file
        return _parse(whole, str(path), newer)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Suspend garbage collection: looking for some among many documents takes a third longer. Not
    in other threads than the main one, which may have turned it off for all when this ends."""
    if not gc.isenabled() or threading.current_thread() is not threading.main_thread():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def parse_session(data: bytes, *, name: str, newer: bool = False) -> Session:
    """Parse a file's content, as `read_session` does."""
    return _parse(io.BytesIO(data), name, newer)


def _parse(file: BinaryIO, name: str, newer: bool) -> Session:
    if not _begins_as_session(file.read(64)):
        raise BadInput(
            f"{name} is not a session: it does not begin with {HEADER!r}. Choose a file that a run "
            "has recorded; a plan belongs on the Plan page or to `pongbench run`."
        )
    session = Session(name)
    order = Order(session.documents)
    file.seek(0)
    begin, line = 0, 1
    for text in file:
        if text.startswith(b"--- {"):
            break
        begin, line = begin + len(text), line + 1
    records = None
    if file.seek(0, io.SEEK_END) > begin:
        file.seek(begin)
        records = _decode_lines(file)
    if records is not None:
        file.seek(0)
        # Including the `---` that ends the first document.
        _read(file.read(begin + 3).removeprefix(_BOM), session, newer, order)
    if records is None or not session.documents:
        file.seek(0)
        session = Session(name)
        _read(file.read().removeprefix(_BOM), session, newer, Order(session.documents))
    elif not session.damage:
        for at, record in enumerate(records, line):
            if problem := order.add(record):
                session.damage = _disorder(name, at, problem)
                break
    return session


class Follower:
    """The documents of a session's file while it is written, or of one that is complete. Windows
    and samples of a point come up to ten seconds late, and before its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rest = b""
        """Read, and not yet a whole document."""
        self._at = 0
        self._begun = False

    def read(self) -> list[AnyDocument]:
        """Return what was added since; nothing before there is a file. Raises BadInput, also where
        a line that was added is damaged."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._at)
                added = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadInput(f"{self._path} cannot be read: {why(error)}.") from None
        self._at += len(added)
        self._rest += added
        whole, newline, rest = self._rest.rpartition(b"\n")
        if not self._begun:
            # It may have been edited by hand; what is added by a run has a line for each record.
            found = parse_session(whole + newline, name=str(self._path)).documents
            if found:
                self._rest, self._begun = rest, True
            return found
        self._rest = rest
        records = _decode_lines(io.BytesIO(whole + newline))
        if records is None:
            raise BadInput(f"{self._path} cannot be followed: a line that was added is damaged.")
        return [d for each in records for d in (each if isinstance(each, list) else [each])]


def _decode_lines(lines: Iterable[bytes]) -> list[Record] | None:
    """Decode all records but the first, a line of JSON each; None: read them one by one. Takes them
    from a file, as the text of a large session has the size of its documents."""
    records: list[Record] = []
    packed: Packed = []
    try:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            if not line.startswith(b"--- {"):
                return None
            records.append(columns.decode_line(memoryview(line)[4:], packed))
            if len(packed) >= AT_ONCE:
                if not are_sound(packed):
                    return None
                packed.clear()
    except UNREADABLE:
        return None
    sound = are_sound(packed) and RunStart not in map(type, records)
    return records if sound else None


def _disorder(name: str, line: int, problem: str) -> str:
    return f"session {name}, line {line}: documents are out of order, {problem}."


def _read(data: bytes, session: Session, newer: bool, order: Order) -> None:
    """Add complete documents to the session, one by one."""
    unknown: Counter[str] = Counter()
    for piece in _pieces(data):
        if not piece.text.startswith(b" {") and _is_blank(piece.text):
            continue
        if not piece.whole:
            break
        try:
            record = _record(piece, session, newer)
            if problem := order.add(record):
                raise _Damaged(_disorder(session.name, piece.line, problem))
        except _UnknownKind as kind:
            unknown[str(kind)] += 1
        except _Damaged as damage:
            session.damage = str(damage)
            break
    session.notes = [
        f"{count:,} documents of the unknown kind {kind!r} were left out;"
        " a newer Pongbench may know it."
        for kind, count in unknown.items()
    ]


class _Piece(NamedTuple):
    line: int
    """Its first line, from 1."""
    text: bytes
    """The text without its separator."""
    whole: bool


class _Damaged(Exception):
    """A sentence."""


class _UnknownKind(Exception):
    """The kind."""


def _begins_as_session(data: bytes) -> bool:
    """Return whether it begins as a session, or is cut off in its very first line."""
    header = HEADER.encode()
    first = data[: len(header) + 4].removeprefix(_BOM)[: len(header) + 1]
    return header.startswith(first) or (first[:-1] == header and first[-1:] in b"\r\n")


def _pieces(data: bytes) -> Iterator[_Piece]:
    """Yield the documents' texts: complete with their line's end or the next separator."""
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
    """Return whether a mapping begins and, as far as visible, ends on this line."""
    return line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")


def _is_blank(text: bytes) -> bool:
    return all(not line or line.startswith(b"#") for line in map(bytes.strip, text.splitlines()))


def _record(piece: _Piece, session: Session, newer: bool) -> Record:
    try:
        record = columns.decode_line(piece.text.lstrip())
    except UNREADABLE:
        record = _edited(piece, session.name, newer)
    if isinstance(record, RunStart):
        _check_version(record.v, session.name, newer)
    if isinstance(record, RunStart) == bool(session.documents):
        text = "a second run begins" if session.documents else "this is no run_start"
        raise _Damaged(f"session {session.name}, line {piece.line}: {text}; a session is one run.")
    return record


def _edited(piece: _Piece, name: str, newer: bool) -> Record:
    """Decode a record in YAML's block style, such as the `RunStart` or one edited by hand."""
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
            if kind in columns.KINDS:
                return columns.from_columns(data)
        return checked(convert(data, AnyDocument))
    except msgspec.ValidationError as error:
        where = f"session {name}, line {piece.line}"
        key, text = complaint(str(error), data, AnyDocument)
        raise _Damaged(f"{where}, {key}: {text}" if key else f"{where}: {text}") from None
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


class Order:
    """Puts documents in order, on which drawing, counting and replaying rely, and checks it."""

    def __init__(self, documents: list[AnyDocument]) -> None:
        self._documents = documents
        self._begun = 0
        """Number of documents up to the last one that begins or ends a point."""
        self._open: int | None = None
        """The number of the point that is under way."""
        self._points: set[int] = set()
        self._begun_us: int | None = None
        """When the last point began; the next cannot before."""
        self._window_us = 0
        """The same of windows within a point. They are planned times, of which those of a point
        that ended early may lie behind the next one's beginning."""
        self._over = False

    def add(self, record: Record) -> str:
        """Add documents at their times. Return what is out of order, as the rest of a sentence."""
        if isinstance(record, list):
            if problem := next(filter(None, map(self._problem, record)), ""):
                return problem
            self._documents[self._begun :] = sorted(
                [*self._documents[self._begun :], *record],
                key=lambda each: (time_us(each), not isinstance(each, Window)),
            )
            return ""
        if problem := self._problem(record):
            return problem
        self._documents.append(record)
        if isinstance(record, PointStart | PointStop):
            self._begun = len(self._documents)
        return ""

    def _problem(self, document: AnyDocument) -> str:
        """Return what is out of order, as the rest of a sentence; empty: nothing."""
        match document:
            case PointStart() | Window() | PointStop() if self._over:
                return "the run has already ended"
            case RunStop():  # Again where the recorder failed at the first.
                self._over = True
            case PointStart() if document.point in self._points:
                return f"point {document.point} begins a second time"
            case PointStart():
                self._points.add(document.point)
                self._open = document.point
                before_us, self._begun_us = self._begun_us, document.t_us
                self._window_us = document.t_us
                return _backwards(before_us, document.t_us)
            case Window() | PointStop() if document.point != self._open:
                return f"point {document.point} is not under way"
            case Window():
                before_us, self._window_us = self._window_us, document.t_us
                return _backwards(before_us, document.t_us)
            case PointStop():
                self._open = None
            case _:
                pass
        return ""


def _backwards(before_us: int | None, t_us: int) -> str:
    if before_us is None or t_us >= before_us:
        return ""
    return f"time runs backwards by {(before_us - t_us) / 1e6:.3f} s"
