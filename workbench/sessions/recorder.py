"""Writing a session while it happens."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Sequence
from pathlib import Path

from workbench import stores
from workbench.analysis.windows import Thinner
from workbench.axis import RATE
from workbench.documents import AnyDocument, PointStart, PointStop, RunStart, RunStop, Window
from workbench.errors import BadInput, PongbenchError
from workbench.sessions import claims
from workbench.sessions.format import encode_line, encode_start

_FULL = {errno.ENOSPC, errno.EDQUOT}


class Recorder:
    """Appends every document to a new file, whole or not at all.

    A document is with the kernel before the call returns, so that it survives this program; with
    the disk at the end of every point, and its name there from the first document on. The file is
    made with that, and never one that exists.

    Raises BadInput at once when the file could not be made, PongbenchError from the first document
    that cannot be written. After that only a `RunStop` is still tried, silently.
    """

    def __init__(self, path: Path, *, or_beside: bool = False) -> None:
        """`or_beside`: a file of this name, which another program may still make before the first
        document, is no error: a number is added to the name; `path` tells the one that was made."""
        self.path, self._or_beside = path, or_beside
        self._size = 0
        self._names: dict[str, str] = {}
        self._axis = RATE
        self._windows = Thinner(0.0)
        self._upto = ""
        self._broken: PongbenchError | None = None
        self._torn = False
        self._file = -1
        try:
            self._folders = _with_new_names(path)
            stores.make_folder(path.parent)
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
            # Behind nothing, or behind half a document, it would be no session any more.
            if self._size and not self._torn:
                with contextlib.suppress(OSError):
                    self._append(encode_line(document))
            return
        try:
            for each in self._thinned(document):
                encoded = self._encode(each)
                if self._size == 0:
                    self._file = self._make()
                    claims.claim(self._file)
                self._append(encoded)
            if isinstance(document, RunStart | PointStop | RunStop):
                os.fsync(self._file)
            if isinstance(document, RunStart):
                for folder in self._folders:
                    _sync_names(folder)
        except OSError as error:
            self._broken = self._complaint(error)
            if self._file >= 0 and not self._size:
                # Half a first document is no session.
                with contextlib.suppress(OSError):
                    self.path.unlink()
            raise self._broken from error
        if isinstance(document, PointStop) and document.complete:
            other = document.server if document.purpose == "sweep" else "the null server"
            name = self._names.get(document.server, other)
            self._upto = f"{name}, {self._axis.of(document)}"

    def close(self) -> None:
        """May be called twice."""
        if self._file < 0:
            return
        # What a disk may still refuse now is not part of a whole point.
        with contextlib.suppress(OSError):
            os.close(self._file)
        self._file = -1

    def _thinned(self, document: AnyDocument) -> Sequence[AnyDocument]:
        """Windows of long points are recorded several in one."""
        if isinstance(document, Window):
            return self._windows.take(document)
        if isinstance(document, PointStart):
            self._windows = Thinner(document.seconds)
        elif isinstance(document, PointStop | RunStop):
            return [*self._windows.rest(), document]
        return [document]

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
            self._axis = document.axis or RATE
        if (self._size == 0) != isinstance(document, RunStart):
            raise ValueError("a session begins with its one RunStart")
        return encode_start(document) if isinstance(document, RunStart) else encode_line(document)

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            try:
                os.ftruncate(self._file, self._size)
            except OSError:
                # The reader leaves it out.
                self._torn = True
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
        if not self._size:
            return PongbenchError(f"{cause} Nothing was recorded, and there is no {self.path}.")
        upto = f"is complete up to {self._upto}" if self._upto else "has no complete point yet"
        return PongbenchError(f"{cause} The session {upto} ({self.path}).")


def _beside(path: Path) -> Path:
    """a.pong.yaml is followed by a-2.pong.yaml."""
    name, dot, ending = path.name.partition(".")
    names = (f"{name}-{n}{dot}{ending}" for n in itertools.count(2))
    return next(path.with_name(each) for each in names if not path.with_name(each).exists())


def _with_new_names(path: Path) -> list[Path]:
    """The folders in which a name is new once this file is made: its own, and those that new
    folders are made in."""
    path = path.absolute()
    new = itertools.takewhile(lambda folder: not folder.exists(), path.parents)
    return [path.parent, *(folder.parent for folder in new)]


def _sync_names(folder: Path) -> None:
    """What a folder lists survives a power cut from then on. Only POSIX has such a thing, and not
    every file system, nor for a folder that may only be written. Raises OSError."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        listing = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return
    try:
        os.fsync(listing)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(listing)


def _in_the_way(path: Path, error: FileExistsError) -> str:
    if Path(error.filename) != path:
        return f"{error.filename} is a file, not a directory; choose another place for the session."
    if path.is_dir():
        return f"{path} is a directory; give the name of a file for the session."
    return f"{path} already exists, and sessions are never overwritten; choose another name."
