"""What the benchmarks of 2009 and 2010 stated of a server, and what is known today."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import spreadsheet
from workbench.errors import BadInput, why
from workbench.servers.entry import ServerEntry
from workbench.servers.facts import NOT_FOUND, Fact, In2009, In2010, Today

THEN_2009, THEN_2010, NOW = "2009, as published", "2010, as published", "Today"
NOT_STATED = "Not stated"
"""The value of a column of then that the text leaves open."""

_TITLES = {
    "comet": "Comet, WebSocket",
    "documentation_parts": "Guide, reference",
    "epoll": "epoll",
    "http11": "HTTP/1.1",
    "production": "Production use",
    "socket": "TCP socket",
    "tls": "TLS",
    "twitter": "Twitter",
    "wsgi": "WSGI",
}
FEATURES = tuple(dict.fromkeys((*In2010.__struct_fields__, *Today.__struct_fields__)))
"""In the order of the tables."""


def title(name: str) -> str:
    """Return the label of a feature: "Thread pool" for `thread_pool`."""
    return _TITLES.get(name, name.replace("_", " ").capitalize())


def then(row: In2009 | In2010 | None, name: str) -> str:
    """Return a cell of a table of then; empty: the table has no such row or column."""
    if row is None or name not in row.__struct_fields__:
        return ""
    cell: str = getattr(row, name)
    return cell or NOT_STATED


def now(entry: ServerEntry, name: str) -> Fact | None:
    """Return what is known today. Version, HTTP/1.1 and flavour belong to the contestants of 2010:
    what the entry pins, what the wire gate saw, and the style."""
    if name in Today.__struct_fields__ or (name == "flavour" and entry.in_2010):
        fact: Fact | None = getattr(entry.today, "style" if name == "flavour" else name)
        return fact
    if entry.in_2010 is None:
        return None
    if name == "version":
        return _version(entry)
    if entry.seen is None:
        return Fact(value=NOT_FOUND, source="no check of the catalogue is recorded")
    return Fact(value="Yes" if entry.seen.keep_alive else "No", source=entry.seen.source)


def _version(entry: ServerEntry) -> Fact | None:
    if entry.seen and entry.seen.version:
        return Fact(value=entry.seen.version, source=entry.seen.source)
    if pin := entry.pinned_version:
        return Fact(value=pin, source=f"pinned in {entry.requirements}")
    if source := entry.source_at:
        return Fact(value=source.short, source="the commit of its entry", at=source.git)
    released: Fact | None = entry.today.released
    return released


@dataclass(frozen=True)
class Feature:
    """One feature of one server; empty or None: unknown, or no column of that table."""

    name: str
    in_2009: str
    in_2010: str
    today: Fact | None


def features(entry: ServerEntry) -> Iterator[Feature]:
    """Yield what is known about a server, by feature."""
    for name in FEATURES:
        published = then(entry.in_2009, name), then(entry.in_2010, name)
        today = now(entry, name)
        if any(published) or today:
            yield Feature(name, *published, today)


def write(path: Path, entries: Sequence[ServerEntry]) -> None:
    """Write the table as CSV. Raises BadInput."""
    try:
        path.write_text(as_csv(entries), encoding="utf-8", newline="")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {why(error)}.") from None


COLUMNS = (
    *("id", "name", "feature", "in_2009", "in_2010", "today", "source", "inferred", "address"),
    "seen",
)


def as_csv(entries: Sequence[ServerEntry]) -> str:
    """Return a line for each known feature of each server, with the source of today's value."""
    return spreadsheet.as_csv(
        COLUMNS,
        (
            {
                "id": entry.id,
                "name": entry.name,
                "feature": title(each.name),
                "in_2009": each.in_2009,
                "in_2010": each.in_2010,
                "today": each.today.value if each.today else "",
                "source": each.today.source if each.today else "",
                "inferred": "yes" if each.today and each.today.inferred else "",
                "address": each.today.at if each.today else "",
                "seen": each.today.seen if each.today else "",
            }
            for entry in entries
            for each in features(entry)
        ),
    )
