"""The command line. Free of Qt; commands that need it are handed in by the app."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

from workbench import __version__
from workbench.commands import replay, run, summary
from workbench.errors import BadInput, ExitCode, PongbenchError
from workbench.servers import command as catalogue

AddParser: TypeAlias = "Callable[[Any], None]"
"""Adds a command whose default `handler` takes the arguments and returns an exit code."""

COMMANDS: tuple[AddParser, ...] = (
    run.add_parser,
    replay.add_parser,
    summary.add_parser,
    catalogue.add_parser,
)


def main(argv: Sequence[str] | None = None, *, more: Iterable[AddParser] = ()) -> int:
    """Run one command; `more` adds commands. Returns the exit code."""
    try:
        arguments = _parser(more).parse_args(argv)
        code: int = arguments.handler(arguments)
        sys.stdout.flush()
        return code
    except PongbenchError as error:
        print(f"pongbench: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough; without this the interpreter would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence like any other, in place of the whole usage."""
        message = message.replace("invalid choice:", "there is no")
        raise BadInput(f"{message}. See `{self.prog} --help`.")


def _parser(more: Iterable[AddParser]) -> argparse.ArgumentParser:
    parser = _Parser(prog="pongbench", description="Which server holds up, and until what rate?")
    parser.add_argument("--version", action="version", version=f"pongbench {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add_parser in (*COMMANDS, *more):
        add_parser(commands)
    return parser
