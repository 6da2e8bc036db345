"""The command line, without Qt; the app adds the commands that need it."""

from __future__ import annotations

import argparse
import difflib
import errno
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from workbench import __version__, environment, paths, stores
from workbench.errors import BadInput, ExitCode, PongbenchError, why
from workbench.terminal import guard, mute, to_stderr

AddOptions: TypeAlias = Callable[[argparse.ArgumentParser], None]
"""Adds the options of a command, and its `handler`, which returns an exit code, or None for 0."""

COMMANDS = {
    "plans": "what can be run, and how long it takes here",
    "run": "run a plan, or repeat a session; Ctrl-C stops, twice aborts",
    "versions": "branches, tags and commits of your service against each other",
    "bring": "make a plan of a curl command, a HAR, a Postman collection or an OpenAPI file",
    "replay": "play a session back as it happened",
    "summary": "what every server of a session sustained, and every point's verdict",
    "compare": "servers of several sessions side by side, and what differs between them",
    "compact": "write a session of an earlier version into a new, smaller file",
    "query": "SQL over many sessions (needs DuckDB)",
    "catalogue": "the servers that can be compared",
    "machines": "the machines that offer load and run servers",
}
"""Each is a file of `commands`."""
_OF_THE_APP = {
    "report": "a session as HTML, PNG, SVG or PDF, its points as CSV, a distribution as .hgrm",
    "share": "show a session to spectators on a read-only page, live while it is recorded",
}

_NO_NUMBER = re.compile(r"invalid (?:int|float) value: ('.*')")


def main(
    argv: Sequence[str] | None = None, *, more: Mapping[str, Callable[[], AddOptions]] | None = None
) -> int:
    """Run one command; `more` adds commands, by name. Returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    _open_standard_files()
    guard()
    environment.take_secrets()
    try:
        _check_file(words)
        arguments = parser(words, more or {}).parse_args(words)
        if warning := stores.close_folders():
            to_stderr(warning)
        code: int = arguments.handler(arguments) or ExitCode.DONE
        sys.stdout.flush()
        return code
    except PongbenchError as error:
        to_stderr(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe; otherwise the interpreter would report an error at exit.
        mute(sys.stdout)
        return ExitCode.DONE
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        mute(sys.stdout)
        to_stderr(f"The output cannot be written: {why(error)}. Redirect it elsewhere.")
        return ExitCode.FAILED


def _check_file(words: Sequence[str]) -> None:
    """Check for a session file in place of a command. Raises BadInput."""
    # No command contains a dot or a slash.
    if len(words) != 1 or words[0].startswith("-") or not {".", "/", "\\"} & set(words[0]):
        return
    if Path(words[0]).is_dir():
        raise BadInput(f"{words[0]} is a directory; give a session file.")
    if not Path(words[0]).exists():
        raise BadInput(f"There is no session file {words[0]}.")


def _open_standard_files() -> None:
    """Open closed standard streams, so that no session file gets their descriptor and with it the
    output. A new file gets the lowest free number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Never closed.
            file = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, file)


class _Parser(argparse.ArgumentParser):
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Take repeated words that follow an option, too: argparse leaves them."""
        found, rest = super().parse_known_args(args, namespace)
        repeated = next((each for each in self._actions if each.nargs in ("*", "+")), None)
        if rest and repeated and not any(word.startswith("-") for word in rest):
            words = [self._get_value(repeated, word) for word in rest]
            setattr(found, repeated.dest, [*getattr(found, repeated.dest), *words])
            rest = []
        return found, rest

    def error(self, message: str) -> NoReturn:
        message = message.replace("invalid choice:", "there is no")
        message = _NO_NUMBER.sub(r"\1 is not a number", message)
        if wrong := re.search(r"there is no '(.*)' \(choose from (.*)\)", message):
            likely = difflib.get_close_matches(wrong[1], re.findall(r"[\w./-]+", wrong[2]), 1, 0.5)
            if likely:
                message += f". Did you mean '{likely[0]}'?"
                raise BadInput(message)
        wrong = re.match(r"unrecognized arguments: (--[\w-]+)", message)
        if wrong and (likely := difflib.get_close_matches(wrong[1], list(_options(self)), 1)):
            raise BadInput(f"there is no {wrong[1]!r}. Did you mean {likely[0]!r}?")
        raise BadInput(f"{message}. See `{self.prog} --help`.")


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield its options, and those of the commands below it."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _options(below)


EXAMPLES = {
    "run": "pongbench run demo --server tornado --server gevent -o mine.pong.yaml",
    "versions": "pongbench versions . --of main --of my-branch",
    "bring": "pongbench bring shop.har --host shop.example -o shop.yaml",
    "replay": "pongbench replay mine.pong.yaml --speed 4",
    "summary": "pongbench summary mine.pong.yaml",
    "compare": "pongbench compare before.pong.yaml after.pong.yaml",
    "compact": "pongbench compact mine.pong.yaml",
    "query": "pongbench query 'SELECT server, sustained FROM servers'",
    "catalogue": "pongbench catalogue show tornado",
    "catalogue show": "pongbench catalogue show tornado",
    "catalogue features": "pongbench catalogue features tornado gevent --csv",
    "catalogue check": "pongbench catalogue check tornado",
    "catalogue new": "pongbench catalogue new 'My server' --like gevent",
    "catalogue lock": "pongbench catalogue lock my-server",
    "machines": "pongbench machines check target",
    "machines show": "pongbench machines show target",
    "machines add": "pongbench machines add target --address 192.0.2.7 --user bench",
    "machines edit": "pongbench machines edit target --sudo passwordless",
    "machines duplicate": "pongbench machines duplicate target client",
    "machines remove": "pongbench machines remove target",
    "machines trust": "pongbench machines trust target --fingerprint SHA256:...",
    "machines check": "pongbench machines check target",
    "machines tune": "pongbench machines tune target --preview piel-2010",
    "machines clean": "pongbench machines clean target --cache",
    "report": "pongbench report mine.pong.yaml -o mine.html",
    "share": "pongbench share mine.pong.yaml",
}
"""Of commands and actions, for their help; of others, their names are one."""


def parser(
    words: Sequence[str], more: Mapping[str, Callable[[], AddOptions]]
) -> argparse.ArgumentParser:
    """Return the parser of the command that the words begin with; of all, if they do not."""
    whole = _Parser(
        prog=paths.command(),
        description="Measures which server sustains which rate. Without a command: open"
        " the window; with a session file in its place: open the window with that session.",
    )
    whole.add_argument("--version", action="version", version=f"pongbench {__version__}")
    commands = whole.add_subparsers(metavar="COMMAND", required=True)
    known = {**COMMANDS, **{name: _OF_THE_APP[name] for name in more if name in _OF_THE_APP}}
    for name in [words[0]] if words and words[0] in known else known:
        command = commands.add_parser(name, help=known[name])
        (more[name]() if name in more else _options_of(name))(command)
        _show_example(command, name)
    return whole


def _show_example(command: argparse.ArgumentParser, name: str) -> None:
    command.epilog = f"example: {EXAMPLES.get(name, f'pongbench {name}')}"
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, below in action.choices.items():
                _show_example(below, f"{name} {word}")


def _options_of(name: str) -> AddOptions:
    """Of a module of `commands`; one command is imported, not all."""
    found: AddOptions = importlib.import_module(f"workbench.commands.{name}").add_options
    return found
