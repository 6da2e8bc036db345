"""The exceptions whose text is written for the user."""

from __future__ import annotations

import enum
import errno
import os
import shutil
from collections.abc import Sequence


class ExitCode(enum.IntEnum):
    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    TEST_FAILED = 3
    """A test of the command line, such as --fail-if, was shown to fail; see `results.criteria`."""
    UNDECIDED = 4
    """None was, but what was measured does not decide one of them."""
    INTERRUPTED = 130


class PongbenchError(Exception):
    """An error during work; `str()` is one sentence: what, where, what to do."""

    exit_code = ExitCode.FAILED

    def __init__(self, sentence: str = "", *, code: str = "") -> None:
        super().__init__(sentence)
        self.code = code
        """For whoever does something else about this error than about others; see `RunStop`."""


class ProgramFailed(PongbenchError):
    """A program failed. `sentence` says so without the `output`, the last lines that it printed."""

    def __init__(self, sentence: str, output: Sequence[str]) -> None:
        self.sentence = sentence
        self.output = list(output)
        lines = [f"{sentence} Last output:", *output] if output else [sentence]
        super().__init__("\n    ".join(lines))


class BadInput(PongbenchError):
    """Invalid input of the user: a plan, a session, a server, an option."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, sentence: str = "", *, key: str = "", complaint: str = "") -> None:
        super().__init__(sentence)
        self.key = key
        """Of a file with keys: the one that is wrong."""
        self.complaint = complaint
        """With `key`: what is wrong with it, for a form that shows it beside the field."""


def why_own(error: OSError) -> str:
    """Return `why` for a file of our own, with the setting that moves it where that helps."""
    places = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR)
    hint = "; set PONGBENCH_HOME to a folder that you may write" if error.errno in places else ""
    return why(error) + hint


def why(error: OSError) -> str:
    """Return why a file could not be written, for use in a sentence: "the disk is full"."""
    if isinstance(error, shutil.Error):
        # The error of a copied tree lists every failed file: from where, to where, why.
        _, _, said = error.args[0][0]
        number = said.removeprefix("[Errno ").partition("]")[0]
        error = (
            OSError(int(number), os.strerror(int(number))) if number.isdigit() else OSError(said)
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    return (error.strerror or str(error)).lower()
