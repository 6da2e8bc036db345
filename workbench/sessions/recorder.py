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
    """Appends documents to a new file, each atomically.

    A document is passed to the kernel before the call returns, so that it survives this program; it
    is synced to disk at the end of every point, and the file's name from the first document on. The
    file is created with the first document, and never replaces an existing one.

    Raises BadInput at once when the file could not be created, PongbenchError from the first
    document that cannot be written. After that only a `RunStop` is still tried, silently.
    """

    def __init__(self, path: Path, *, or_beside: bool = False) -> None:
        """Open for recording. `or_beside`: if another program creates a file of this name before
        the first document, a number is added to the name; `path` is the file in use."""
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
            # A test: the first document may come hours later, and a crash before it must
            # leave no file.
            os.close(self._make())
            self.path.unlink()
        except FileExistsError as error:
            raise BadInput(_exists_message(path, error)) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BadInput(f"No session can be written to {path}: {reason.lower()}.") from None

    def __call__(self, document: AnyDocument) -> None:
        if self._broken is not None:
            if not isinstance(document, RunStop):
                raise self._broken
            # Without a complete document before it, this would be no session any more.
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
            other = document.server if document.judged else "the null server"
            name = self._names.get(document.server, other)
            self._upto = f"{name}, {self._axis.of(document)}"

    def close(self) -> None:
        """Close the file. May be called twice."""
        if self._file < 0:
            return
        # An error of the disk now does not affect a complete point.
        with contextlib.suppress(OSError):
            os.close(self._file)
        self._file = -1

    def _thinned(self, document: AnyDocument) -> Sequence[AnyDocument]:
        """Merge windows of long points before recording."""
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
            return BadInput(_exists_message(self.path, error))
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
    """Return the next name: a.pong.yaml is followed by a-2.pong.yaml."""
    name, dot, ending = path.name.partition(".")
    names = (f"{name}-{n}{dot}{ending}" for n in itertools.count(2))
    return next(path.with_name(each) for each in names if not path.with_name(each).exists())


def _with_new_names(path: Path) -> list[Path]:
    """Return the folders that get new entries with this file: its own, and the parents of new
    folders."""
    path = path.absolute()
    new = itertools.takewhile(lambda folder: not folder.exists(), path.parents)
    return [path.parent, *(folder.parent for folder in new)]


def _sync_names(folder: Path) -> None:
    """Sync a folder's entries against power loss. Only POSIX has this, not on every file system,
    nor for a folder without read permission. Raises OSError."""
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


def _exists_message(path: Path, error: FileExistsError) -> str:
    if Path(error.filename) != path:
        return f"{error.filename} is a file, not a directory; choose another place for the session."
    if path.is_dir():
        return f"{path} is a directory; give the name of a file for the session."
    return f"{path} already exists, and sessions are never overwritten; choose another name."
