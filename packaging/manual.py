"""What a terminal offers beside the program: completion for three shells, and a page of the manual.

All are made from the parser of the command line (`folder`: see `write`).
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import shtab

from app.__main__ import MORE
from workbench import __version__, cli

PLACES = {
    "bash": "bash-completion/completions/pongbench",
    "zsh": "zsh/site-functions/_pongbench",
    "fish": "fish/vendor_completions.d/pongbench.fish",
}
"""By shell, below `share`; of the system or of a user."""
PAGE = "man/man1/pongbench.1.gz"


def write(share: Path) -> None:
    """Write all below a folder `share`."""
    whole = cli.parser([], MORE)
    whole.prog = "pongbench"
    for shell, place in PLACES.items():
        _put(share / place, shtab.complete(whole, shell).encode())
    _put(share / PAGE, gzip.compress("\n".join(_page(whole)).encode(), 9, mtime=0))


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _page(whole: argparse.ArgumentParser) -> Iterator[str]:
    yield f'.TH PONGBENCH 1 "" "Pongbench {__version__}" "User Commands"'
    yield from (".SH NAME", "pongbench \\- which server sustains which rate?", ".SH SYNOPSIS")
    yield from ("pongbench [SESSION | COMMAND ...]", ".SH DESCRIPTION", _text(whole.description))
    for name, command in _commands(whole, "pongbench"):
        command.formatter_class = partial(argparse.HelpFormatter, width=80)  # wherever this runs
        help_ = command.format_help().replace(command.prog, name)
        yield from (f".SH {name.upper()}", ".nf", _text(help_), ".fi")


def _commands(
    parser: argparse.ArgumentParser, name: str
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command with its words, groups before what is in them."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, command in action.choices.items():
                yield f"{name} {word}", command
                yield from _commands(command, f"{name} {word}")


def _text(text: str | None) -> str:
    """As roff shows it unchanged."""
    lines = (text or "").rstrip().replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in lines)
