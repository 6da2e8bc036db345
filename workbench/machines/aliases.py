"""The hosts that ~/.ssh/config names, as templates for profiles; `ssh` alone knows what it says of
them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DEEPEST = 16
"""Maximum depth of included files, as in `ssh`."""


@dataclass(frozen=True)
class Alias:
    """A `Host` that names one machine."""

    name: str
    host: str = ""
    """HostName, if its own lines set it."""
    user: str = ""

    @property
    def where(self) -> str:
        place = self.host or self.name
        return f"{self.user}@{place}" if self.user else place


def aliases(config: Path) -> list[Alias]:
    """Return the aliases in the order of the file and its includes; patterns are skipped. A missing
    or unreadable file has none."""
    found: dict[str, Alias] = {}
    current: list[str] = []
    for key, values in _lines(config, 0):
        if key == "host":
            current = [v for v in values if v and not set(v) & set("*?!")]
            for name in current:
                found.setdefault(name, Alias(name))
        elif key == "match":
            current = []
        elif values:
            for name in current:
                was = found[name]
                if key == "hostname" and not was.host:
                    found[name] = Alias(name, values[0].replace("%h", name), was.user)
                elif key == "user" and not was.user:
                    found[name] = Alias(name, was.host, values[0])
    return list(found.values())


def _lines(path: Path, depth: int) -> Iterator[tuple[str, list[str]]]:
    """Return lower-case keys with their values; comments and invalid lines are skipped."""
    try:
        lines = path.read_text("utf-8", errors="replace").split("\n")
    except OSError:
        return
    for line in lines:
        try:
            key, rest = _delimited(line.strip())
            key, values = key.lower(), _words(rest)
        except ValueError:
            continue
        if not key or key.startswith("#"):
            continue
        if key != "include":
            yield key, values
        elif depth < _DEEPEST:
            for pattern in values:
                yield from _included(pattern, path, depth)


def _included(pattern: str, path: Path, depth: int) -> Iterator[tuple[str, list[str]]]:
    whole = Path(pattern).expanduser()
    top = Path(whole.anchor) if whole.is_absolute() else path.parent
    rest = whole.relative_to(top) if whole.is_absolute() else whole
    for each in sorted(top.glob(str(rest))):
        yield from _lines(each, depth + 1)


def _delimited(text: str) -> tuple[str, str]:
    """Return the first word and what follows it, and one `=`. Raises ValueError."""
    found = re.match(r'([^ \t\r\n"=]*)(?:"([^"]*)("?))?', text)
    assert found
    if found[2] is not None:
        if not found[3]:
            raise ValueError("a quotation mark is missing")
        return found[1] + found[2], text[found.end() :].lstrip(" \t\r\n")
    return found[1], re.sub(r"^[ \t\r\n]*=?[ \t\r\n]*", "", text[found.end() :])


def _words(text: str) -> list[str]:
    """Split values as OpenSSH does: a comment begins with a word, a backslash stays unless it
    stands before a quotation mark, a backslash or a space."""
    found = []
    at = 0
    while at < len(text):
        if text[at] in " \t":
            at += 1
            continue
        if text[at] == "#":
            break
        word, quote = "", ""
        while at < len(text):
            char = text[at]
            after = text[at + 1 : at + 2]
            if char == "\\" and after and (after in "'\"\\" or (after == " " and not quote)):
                word += after
                at += 1
            elif not quote and char in " \t":
                break
            elif not quote and char in "\"'":
                quote = char
            elif char == quote:
                quote = ""
            else:
                word += char
            at += 1
        if quote:
            raise ValueError("a quotation mark is missing")
        found.append(word)
    return found
