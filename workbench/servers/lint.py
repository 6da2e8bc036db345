"""Problems in a server's files while they are edited, with their lines."""

from __future__ import annotations

import ast
import re
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import BadInput
from workbench.formatting import capital
from workbench.servers.entry_reading import load_entry

_PLACED = re.compile(r",? line (?P<line>\d+)(?:, column \d+)?:? (?P<said>.*)", re.DOTALL)
_KEYED = re.compile(r", (?P<key>[^:]+): (?P<said>.*)", re.DOTALL)
_REQUIREMENT = re.compile(r"line (?P<line>\d+) of (?P<file>\S+) (?P<said>.*)", re.DOTALL)
_RUNTIME = re.compile(r"^runtime:\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """One problem."""

    file: str
    line: int
    """0: the whole file."""
    sentence: str


def proofread(id: str, texts: Mapping[str, str], others: Iterable[str] = ()) -> list[Fault]:
    """Return the problems of a folder with the files `texts`, by relative name.

    `others`: names of existing files that are not to be read.
    """
    faults = syntax(texts)
    with tempfile.TemporaryDirectory(prefix="pongbench-") as place:
        folder = Path(place, id)
        for name in (*others, *texts):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts.get(name, ""), encoding="utf-8")
        folder.mkdir(exist_ok=True)
        try:
            load_entry(folder)
        except BadInput as error:
            faults.insert(0, _placed(str(error), folder, texts))
    return faults


def syntax(texts: Mapping[str, str]) -> list[Fault]:
    """Return what Python cannot read of the files of a folder."""
    return [fault for name, text in texts.items() for fault in _python(name, text, texts)]


def _python(name: str, text: str, texts: Mapping[str, str]) -> Iterator[Fault]:
    """Check the syntax of the Python version that runs this program."""
    runtime = _RUNTIME.search(texts.get("server.yaml", ""))
    if not name.endswith(".py") or (runtime and runtime[1] != "python"):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        text = (error.msg or "invalid syntax").rstrip(".")
        yield Fault(name, error.lineno or 0, f"Syntax error: {text}.")
    except (ValueError, RecursionError, MemoryError):
        yield Fault(name, 0, "Python cannot read this file.")


def _placed(message: str, folder: Path, texts: Mapping[str, str]) -> Fault:
    """Return a problem of a file, shown beside its line."""
    path = f"server {folder / 'server.yaml'}"
    rest = message.removeprefix(path)
    if rest == message:
        return Fault("server.yaml", 0, message.replace(f"{folder}/", ""))
    if match := _PLACED.fullmatch(rest):
        return Fault("server.yaml", int(match["line"]), capital(match["said"]))
    if match := _KEYED.fullmatch(rest):
        if inner := _REQUIREMENT.fullmatch(match["said"]):
            text = f"It {inner['said']}"
            return Fault(inner["file"], int(inner["line"]), text.replace("It is no", "This is no"))
        line = _line_of(match["key"], texts.get("server.yaml", ""))
        return Fault("server.yaml", line, f"{match['key']}: {match['said']}")
    text = capital(rest.lstrip(": "))
    unknown = re.match(r"Unknown key '([^']+)'", text)
    line = _line_of(unknown[1], texts.get("server.yaml", "")) if unknown else 0
    return Fault("server.yaml", line, text)


def _line_of(key: str, text: str) -> int:
    """Return the line of a top-level key; 0: not found."""
    first = re.split(r"[.\[]", key)[0]
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"{re.escape(first)}\s*:", line):
            return number
    return 0
