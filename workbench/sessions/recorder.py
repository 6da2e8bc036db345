"""Writing a session while it happens."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench import paths, stores
from workbench.analysis.over_time import Thinner
from workbench.axis import RATE
from workbench.documents import AnyDocument, PointStart, PointStop, RunStart, RunStop, Window
from workbench.errors import BadInput, PongbenchError, why
from workbench.messages.notes import notice
from workbench.sessions.columns import Lines
from workbench.sessions.format import encode_line

try:
    import fcntl
except ImportError:  # On Windows a lock would keep readers out.
    fcntl = None  # type: ignore[assignment]

_FULL = {errno.ENOSPC, errno.EDQUOT}


class Recorder:
    """Appends documents to a new file, each record atomically.

    A document is passed to the kernel before the call returns, so that it survives this program;
    windows and samples wait up to ten seconds, and never beyond their point, for others of their
    record (`columns`). All is synced to disk at the end of every point, and the file's name from
    the first document on. The file is created with that, and never replaces an existing one. Where
    it is deleted or moved away, the next document finds out, and the session is written again.

    Raises BadInput at once when the file could not be created, PongbenchError from the first
    document that cannot be written. After that only a `RunStop` is still tried, silently.
    """

    def __init__(
        self,
        path: Path,
        *,
        or_beside: bool = False,
        emit: Callable[[AnyDocument], None] = lambda document: None,
    ) -> None:
        """Open for recording. `or_beside`: if another program creates a file of this name before
        the first document, a number is added to the name; `path` is the file in use. `emit` takes
        the note that the session was written again."""
        self.path, self._or_beside, self._emit = path, or_beside, emit
        self._size = 0
        self._names: dict[str, str] = {}
        self._axis = RATE
        self._windows = Thinner(0.0)
        self._lines = Lines()
        self._upto = ""
        self._broken: PongbenchError | None = None
        self._torn = False
        self._file = self._links = -1
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
            if self._size and self._is_lost():
                lost = self.path
                self._write_again()
                # The last document of a session ends it.
                if not isinstance(document, RunStart | RunStop):
                    again = notice("written-again", lost=str(lost), path=str(self.path))
                    self._emit(again.note(document.t_us))
            for each in self._thinned(document):
                encoded = self._encode(each)
                if self._size == 0:
                    self._open()
                if encoded:
                    self._append(encoded)
            if isinstance(document, RunStart | PointStop | RunStop):
                self._sync(names=isinstance(document, RunStart))
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
            if self._broken is None:
                self._append(self._lines.rest())
        self._close()

    def _close(self) -> None:
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

    def _open(self) -> None:
        self._file = self._make()
        claim(self._file)
        self._links = os.fstat(self._file).st_nlink

    def _is_lost(self) -> bool:
        """Return whether the file is gone from its place, perhaps with another one there."""
        try:
            self.path.stat()
        except OSError:
            return True
        return os.fstat(self._file).st_nlink < self._links

    def _write_again(self) -> None:
        """Copy what was recorded into a new file: in its place, else where sessions are by default,
        else where temporary files are. Raises PongbenchError."""
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            lost, content = self.path, file.read(self._size)
        self._close()
        self._or_beside = True
        default, temporary = paths.data_dir() / "sessions", Path(tempfile.gettempdir())
        for folder in (lost.parent, default, temporary):
            self.path, self._size = folder / lost.name, 0
            try:
                self._folders = _with_new_names(self.path)
                stores.make_folder(folder)
                self._open()
                self._append(content)
                self._sync(names=True)
            except OSError as error:
                reason = why(error)
                if self._file >= 0:
                    self._close()
                    self.path.unlink()
            else:
                return
        self._size = 0
        self._broken = PongbenchError(
            f"The session file {lost} was deleted or moved, and it cannot be written again:"
            f" {reason}."
        )
        raise self._broken

    def _sync(self, *, names: bool) -> None:
        os.fsync(self._file)
        for folder in self._folders if names else ():
            _sync_names(folder)

    def _make(self) -> int:
        # Readable, so that it can be written again when it is deleted.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
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
        return self._lines.take(document)

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
        if os.fstat(self._file).st_size < self._size:
            self._torn = True
            raise OSError(errno.EIO, "another program has cut the file short")

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
    """Return the folders with new entries: the file's own, and the parents of new ones."""
    path = path.absolute()
    new = itertools.takewhile(lambda folder: not folder.exists(), path.parents)
    return [path.parent, *(folder.parent for folder in new)]


def _sync_names(folder: Path) -> None:
    """Sync a folder's entries against power loss. Only POSIX has this, not on every file system,
    nor for a folder without read permission."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):
        listing = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(listing)
        finally:
            os.close(listing)


def _exists_message(path: Path, error: FileExistsError) -> str:
    if Path(error.filename) != path:
        return f"{error.filename} is a file, not a directory; choose another place for the session."
    if path.is_dir():
        return f"{path} is a directory; give the name of a file for the session."
    return f"{path} already exists, and sessions are never overwritten; choose another name."


# The lock on the file during a recording; the kernel releases it when the program dies.

_STILL_WRITTEN_S = 15.0
"""A run writes at least once a second."""


def claim(file: int) -> None:
    """Lock the file as long as this descriptor is open, where the file system has locks."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_claimed(path: Path) -> bool:
    """Return whether the file is being recorded; without locks: whether it was just written to."""
    try:
        if fcntl is None:
            return time.time() - path.stat().st_mtime < _STILL_WRITTEN_S
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False
