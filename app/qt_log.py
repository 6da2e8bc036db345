"""Writes Qt's messages to the log."""

from __future__ import annotations

import logging
import os
import sys

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from workbench.errors import ExitCode

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.WARNING,  # Qt's critical messages seldom are errors
}


_log = logging.getLogger("qt")
_early: list[tuple[int, str]] = []
"""Messages from before the application exists: if it never does, they are the cause."""
_begun = False


def install() -> None:
    """Collect messages. Call it before the application is created, and `begin` afterwards."""
    qInstallMessageHandler(_on_message)


def begin() -> None:
    """Write the messages collected so far to the log, once the application exists."""
    global _begun  # noqa: PLW0603 - as there is one message handler
    _begun = True
    for level, text in _early:
        _log.log(level, "%s", text)


def _on_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    if kind is QtMsgType.QtFatalMsg:
        _leave(_early[0][1] if _early and not _begun else text)
    if _begun:
        _log.getChild(context.category or "default").log(_LEVELS[kind], "%s", text)
    else:
        _early.append((_LEVELS[kind], text))


def _leave(text: str) -> None:
    """Exit without a core file where Qt would abort, for example because there is no display.
    Processes that were started on machines end by themselves.
    """
    from workbench.terminal import to_stderr  # noqa: PLC0415 - nothing else needs it here

    reason = text.partition("\n")[0].strip().rstrip(".")
    to_stderr(
        f"The window cannot be opened. Qt: {reason}. Check DISPLAY and the libraries listed in "
        "README (`make run` installs them). The commands in `pongbench --help` need no window."
    )
    sys.stderr.flush()
    os._exit(ExitCode.FAILED)
