"""All output to the terminal, with control characters in untrusted text escaped."""

from __future__ import annotations

import codecs
import contextlib
import json
import logging
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOWrapper
from traceback import format_exception
from types import TracebackType
from typing import IO, Any, TextIO, TypeAlias

import msgspec
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from workbench import paths
from workbench.untrusted import SafeFormatter, indented, visible

_COMMAND = re.compile(r"(?<![\w/.-])(?<!# )pongbench (?=[a-z-])")
"""But not in the first line of sessions."""


def say(text: str = "", *, to: TextIO | None = None) -> None:
    """Print a line, on stdout by default; what follows a newline in it is indented."""
    print(indented(as_called(text)), file=to or sys.stdout)


def as_called(text: str) -> str:
    """Return a text whose commands work as they are written, where the user is."""
    command = paths.command() if "pongbench " in text else "pongbench"
    return text if command == "pongbench" else _COMMAND.sub(lambda _: f"{command} ", text)


def to_stderr(text: str) -> None:
    say(f"pongbench: {text}", to=sys.stderr)


def write(text: str) -> None:
    sys.stdout.write(visible(text))


def write_json(data: object) -> None:
    """Print one JSON object on stdout. What stdout has no characters for is escaped, as are the
    bytes of paths that are no text."""
    try:
        text = msgspec.json.encode(data).decode()
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(data), separators=(",", ":"))
    write(text + "\n")


class Terminal(Console):
    """A console that prints texts without markup; a closed pipe is no error (see `cli.main`)."""

    def __init__(self, *, piped: int = 0, **options: Any) -> None:
        """`piped`: columns in a file or a pipe, unless COLUMNS says how many; 0: 80."""
        super().__init__(markup=False, emoji=False, highlight=False, **options)
        if piped and not self.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
            self.width = piped

    def say(self, text: str, style: str = "") -> None:
        """Print a sentence in one line, however long; what follows a newline in it is indented."""
        # A style passed to print() would colour a live table as well.
        self.print(Text(indented(as_called(text)), style=style), soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Unheard(Terminal):
    """Continues after its reader has closed the pipe, because the run is still recorded."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        mute(self.file)


def mute(file: IO[str]) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, file.fileno())
    os.close(null)


_INSTEAD = {
    **{"≥": ">=", "≤": "<=", "±": "+/-", "×": "x", "→": "->", "←": "<-", "…": "..."},
    **{"–": "-", "—": "-", "−": "-", "·": ".", "•": "*", "µ": "u", "μ": "u"},
    **{"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "\u202f": " "},
    **dict.fromkeys("─━═", "-"),
    **dict.fromkeys("│┃║", "|"),
    **dict.fromkeys("█▇▆▅▄▃▂▁▏▎▍▌▋▊▉", "#"),
}
"""For what a locale that is not UTF-8 has no characters."""


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """An error handler for codecs: characters that look alike, or "?"; bytes of paths as \\xe9."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(map(_alike, text)), error.end


def _alike(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    return _INSTEAD.get(char) or plain or "?"


def guard() -> None:
    """Print whatever the locale; send uncaught exceptions and logs to stderr, escaped."""
    codecs.register_error("pongbench.replaced", _replaced)
    # A console of Windows takes every character, and a file there is to be read elsewhere, too.
    windows = sys.platform == "win32"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            if windows:
                stream.reconfigure(encoding="utf-8", newline="\n")
            stream.reconfigure(errors="pongbench.replaced")
    sys.excepthook = _show
    shown = logging.StreamHandler()
    shown.setLevel(logging.WARNING)
    shown.setFormatter(SafeFormatter())
    # Otherwise logging would use a handler of its own.
    logging.lastResort = shown


def _show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    with contextlib.suppress(OSError):
        say("".join(format_exception(kind, error, traceback)).rstrip(), to=sys.stderr)


Cell: TypeAlias = "str | Text"

_BETWEEN, _EDGES = 3, 2
"""Columns of the terminal that `box.SIMPLE_HEAD` takes."""

FOLDED = 24
"""Minimum width of a column that folds its text."""


def fitting(
    titles: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    width: int,
    *,
    spare: Sequence[str],
    folds: str = "",
    styles: Sequence[str] = (),
    least: Mapping[str, int] | None = None,
    words: bool = False,
) -> Table:
    """A table at most `width` wide. As many columns of `spare` (titles, the least important first)
    are left out as necessary. The first column is aligned left, the others right unless they hold
    `words`; `folds` is the one whose text may continue on the next line. `styles` are those of the
    rows. `least`: minimum widths, so that no column comes and goes while a table is updated."""
    least = least or {}
    needs = {
        title: max([cell_len(title), least.get(title, 0), *(cell_len(str(row[n])) for row in rows)])
        for n, title in enumerate(titles)
    }
    if folds in needs:
        needs[folds] = min(needs[folds], FOLDED)
    for title in spare:
        if sum(needs.values()) + _BETWEEN * (len(needs) - 1) + _EDGES <= width:
            break
        needs.pop(title, None)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    kept = [n for n, title in enumerate(titles) if title in needs]
    for n in kept:
        if titles[n] == folds:
            table.add_column(folds, overflow="fold")
        else:
            left = words or n == 0
            table.add_column(
                titles[n],
                justify="left" if left else "right",
                no_wrap=True,
                # Measuring thousands of rows again would take a quarter of the time of all.
                width=None if least else needs[titles[n]],
            )
    for row, style in zip(rows, [*styles, *[""] * len(rows)], strict=False):
        table.add_row(*(row[n] for n in kept), style=style)
    return table
