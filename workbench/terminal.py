"""The terminal: the only way out to it. Whatever is printed, nothing steers it but this program."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterable
from traceback import format_exception
from types import TracebackType
from typing import IO, Any, TextIO

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from workbench.untrusted import SafeFormatter, indented, visible


def say(text: str = "", *, to: TextIO | None = None) -> None:
    """A line, on stdout unless told otherwise; what follows a newline in it is indented."""
    print(indented(text), file=to or sys.stdout)


def to_stderr(text: str) -> None:
    """One line on stderr."""
    say(f"pongbench: {text}", to=sys.stderr)


def write(text: str) -> None:
    """A table of ours, on stdout."""
    sys.stdout.write(visible(text))


def write_json(data: object) -> None:
    """One JSON object, on stdout."""
    write(msgspec.json.encode(data).decode() + "\n")


class Terminal(Console):
    """A console that takes texts as they are, without markup. Its reader may leave: that is no
    failure of ours (`cli.main`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def say(self, text: str, style: str = "") -> None:
        """A sentence in one line, however long; what follows a newline in it is indented."""
        # A style given to print() would colour a live table, too.
        self.print(Text(indented(text), style=style), soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As its base, with what would steer the terminal written out, whoever wrote it."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Unheard(Terminal):
    """Goes on when its reader has left: a run is not over because nobody watches any more."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        mute(self.file)


def mute(file: IO[str]) -> None:
    """Nothing is written to it any more, and nothing complains."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, file.fileno())
    os.close(null)


def guard() -> None:
    """What nobody catches and what others log goes to stderr as everything else."""
    sys.excepthook = _show
    shown = logging.StreamHandler()
    shown.setLevel(logging.WARNING)
    shown.setFormatter(SafeFormatter())
    # Without this, logging would have one of its own.
    logging.lastResort = shown


def _show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    with contextlib.suppress(OSError):
        say("".join(format_exception(kind, error, traceback)).rstrip(), to=sys.stderr)
