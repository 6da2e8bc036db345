"""Writing a session while it happens."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from pathlib import Path

from workbench.documents import AnyDocument, PointStop, RunStart, RunStop
from workbench.errors import BadInput, PongbenchError
from workbench.sessions import claims
from workbench.sessions.format import encode_line, encode_start
from workbench.wording import offered

_FULL = {errno.ENOSPC, errno.EDQUOT}


class Recorder:
    """Appends every document to a new file, whole or not at all.

    A document is with the kernel before the call returns, so that it survives this program; with
    the disk at the end of every point. The file is made with the first document, and never one
    that exists.

    Raises BadInput at once when the file could not be made, PongbenchError from the first document
    that cannot be written. After that only a `RunStop` is still tried, silently.
    """

    def __init__(self, path: Path, *, or_beside: bool = False) -> None:
        """`or_beside`: a file of this name, which another program may still make before the first
        document, is no error: a number is added to the name; `path` tells the one that was made."""
        self.path, self._or_beside = path, or_beside
        self._size = 0
        self._names: dict[str, str] = {}
        self._upto = ""
        self._broken: PongbenchError | None = None
        self._file = -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # A trial: between here and the first document hours of rehearsal may lie, and whoever
            # is killed in them leaves nothing.
            os.close(self._make())
            self.path.unlink()
        except FileExistsError as error:
            raise BadInput(_in_the_way(path, error)) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BadInput(f"No session can be written to {path}: {reason.lower()}.") from None

    def __call__(self, document: AnyDocument) -> None:
        if self._broken is not None:
            if not isinstance(document, RunStop):
                raise self._broken
            with contextlib.suppress(OSError):
                self._append(encode_line(document))
            return
        try:
            encoded = self._encode(document)
            if self._size == 0:
                self._file = self._make()
                claims.claim(self._file)
            self._append(encoded)
            if isinstance(document, PointStop | RunStop):
                os.fsync(self._file)
        except OSError as error:
            self._broken = self._complaint(error)
            raise self._broken from error
        if isinstance(document, PointStop) and document.complete:
            other = document.server if document.purpose == "sweep" else "the null server"
            name = self._names.get(document.server, other)
            self._upto = f"{name}, {offered(document)}"

    def close(self) -> None:
        """May be called twice."""
        if self._file < 0:
            return
        os.close(self._file)
        self._file = -1

    def _make(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        try:
            return os.open(self.path, flags, 0o666)
        except FileExistsError:
            if not self._or_beside:
                raise
        self.path = _beside(self.path)
        return self._make()

    def _encode(self, document: AnyDocument) -> bytes:
        if isinstance(document, RunStart):
            self._names = {server.id: server.name for server in document.servers}
        if (self._size == 0) != isinstance(document, RunStart):
            raise ValueError("a session begins with its one RunStart")
        return encode_start(document) if isinstance(document, RunStart) else encode_line(document)

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            # Where even this is refused, the reader leaves the torn end out.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(data)

    def _complaint(self, error: OSError) -> PongbenchError:
        if isinstance(error, FileExistsError):
            return BadInput(_in_the_way(self.path, error))
        cause = (
            "The disk is full."
            if error.errno in _FULL
            else f"The session cannot be written: {(error.strerror or str(error)).lower()}."
        )
        upto = f"is complete up to {self._upto}" if self._upto else "holds no whole point yet"
        return PongbenchError(f"{cause} The session {upto} ({self.path}).")


def _beside(path: Path) -> Path:
    """a.pong.yaml is followed by a-2.pong.yaml."""
    name, dot, ending = path.name.partition(".")
    names = (f"{name}-{n}{dot}{ending}" for n in itertools.count(2))
    return next(path.with_name(each) for each in names if not path.with_name(each).exists())


def _in_the_way(path: Path, error: FileExistsError) -> str:
    if Path(error.filename) != path:
        return f"{error.filename} is a file, not a directory; give another place for the session."
    if path.is_dir():
        return f"{path} is a directory; give the name of a file for the session."
    return f"{path} exists already, and sessions are never overwritten; give another name."
