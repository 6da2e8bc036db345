"""The hosts that ~/.ssh/config names, as templates for profiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.machines.sshconfigfile import Invalid, delimited, words

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
            key, rest = delimited(line.strip())
            key, values = key.lower(), words(rest)
        except Invalid:
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
