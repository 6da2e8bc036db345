"""The program's own log, latest entry last; Qt's messages go there too."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from workbench.errors import ExitCode
from workbench.terminal import to_stderr
from workbench.untrusted import SafeFormatter, safe

MOST = 2000
"""The number of lines kept."""
FROM_OTHERS = logging.WARNING
"""The lowest level kept of other packages: asyncssh alone reports every channel."""


@dataclass(frozen=True)
class Line:
    """One thing that happened."""

    at: datetime
    """Local time."""
    level: int
    source: str
    """The logger's name."""
    text: str
    """One sentence, where the cause is known."""
    details: str = ""
    """The traceback, for whoever fixes the error."""

    @property
    def tone(self) -> str:
        """Return its colour, a field of `Theme`; bad: an error that nobody handled."""
        return _LEVELS.get(self.level, _NOTE)[1]

    def __str__(self) -> str:
        word = _LEVELS.get(self.level, _NOTE)[0]
        head = f"{self.at:%H:%M:%S}  {word:7}  {self.source}: {self.text}"
        return "\n    ".join([head, *self.details.splitlines()])


_NOTE = ("note", "soft")
_LEVELS = {
    logging.DEBUG: ("detail", "muted"),
    logging.WARNING: ("warning", "warn"),
    logging.ERROR: ("error", "bad"),
    logging.CRITICAL: ("error", "bad"),
}
"""The word and the tone of each level; all others: a note."""


class LogBook(logging.Handler):
    """Keeps the last lines and informs one listener. Lines may come from any thread."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.listener: Callable[[Line], object] = lambda line: None
        """Called in the thread that logs."""
        self._lines: deque[Line] = deque(maxlen=MOST)

    def lines(self) -> list[Line]:
        with self.lock or threading.RLock():
            return list(self._lines)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            details = ""
            if record.exc_info and record.exc_info[1] is not None:
                details = _FORMAT.formatException(record.exc_info)
            at = datetime.fromtimestamp(record.created).astimezone()
            line = Line(at, record.levelno, record.name, safe(record.getMessage()), safe(details))
            self._lines.append(line)
            self.listener(line)
        except Exception:
            self.handleError(record)

    def install(self) -> None:
        """Record our own messages, warnings of other modules, unhandled exceptions, and Qt's
        messages: install it before the application is created.
        """
        qInstallMessageHandler(_on_message)
        root = logging.getLogger()
        root.addHandler(self)
        root.setLevel(FROM_OTHERS)
        for ours in ("app", "workbench"):
            logging.getLogger(ours).setLevel(logging.INFO)
        # A window that was started in a terminal prints warnings and errors there.
        shown = logging.StreamHandler()
        shown.setLevel(logging.WARNING)
        shown.setFormatter(SafeFormatter())
        root.addHandler(shown)
        logging.captureWarnings(True)
        sys.excepthook = _note
        sys.unraisablehook = lambda seen: _note(seen.exc_type, seen.exc_value, seen.exc_traceback)
        threading.excepthook = lambda seen: _note(seen.exc_type, seen.exc_value, seen.exc_traceback)


_FORMAT = logging.Formatter()
_log = logging.getLogger("app")


def _note(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, /
) -> None:
    """No traceback dialog, and nothing lost."""
    if error is None or issubclass(kind, SystemExit | KeyboardInterrupt):
        return
    text = f"{kind.__name__}: {error}".rstrip(": ")
    _log.error("Unexpected error: %s.", text, exc_info=(kind, error, trace))


_QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.WARNING,  # Qt's critical messages seldom are errors
}


_qt = logging.getLogger("qt")


_early: list[tuple[int, str]] = []
"""Qt's messages from before the application exists: if it never does, the first is the cause."""
_begun = False


def begin_qt() -> None:
    """Log what Qt said until now, once the application exists."""
    global _begun  # noqa: PLW0603 - as there is one message handler
    _begun = True
    for level, text in _early:
        _qt.log(level, "%s", text)


def _on_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    if kind is QtMsgType.QtFatalMsg:
        _leave(text if _begun or not _early else _early[0][1])
    if _begun:
        _qt.getChild(context.category or "default").log(_QT_LEVELS[kind], "%s", text)
    else:
        _early.append((_QT_LEVELS[kind], text))


def _leave(text: str) -> None:
    """Exit without a core file where Qt would abort, for example because there is no display."""
    reason = text.partition("\n")[0].strip().rstrip(".")
    to_stderr(
        f"The window cannot be opened. Qt: {reason}. Check DISPLAY and the libraries listed in "
        "README (`make run` installs them). The commands in `pongbench --help` need no window."
    )
    sys.stderr.flush()
    os._exit(ExitCode.FAILED)
