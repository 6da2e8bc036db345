"""The feature table: what the benchmarks of 2009 and 2010 stated of a server, and what is known
today, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import spreadsheet
from workbench.errors import BadInput, why
from workbench.servers.entry import Fact, In2009, In2010, ServerEntry, Today

THEN_2009, THEN_2010, NOW = "2009, as published", "2010, as published", "Today"

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
        feature = Feature(
            name,
            getattr(entry.in_2009 or In2009(), name, ""),
            getattr(entry.in_2010 or In2010(), name, ""),
            getattr(entry.today, name, None),
        )
        if feature.in_2009 or feature.in_2010 or feature.today:
            yield feature


def write(path: Path, entries: Sequence[ServerEntry]) -> None:
    """Write the table as CSV. Raises BadInput."""
    try:
        path.write_text(as_csv(entries), encoding="utf-8", newline="")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {why(error)}.") from None


COLUMNS = ("id", "name", "feature", "in_2009", "in_2010", "today", "source", "address", "seen")


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
                "address": each.today.at if each.today else "",
                "seen": each.today.seen if each.today else "",
            }
            for entry in entries
            for each in features(entry)
        ),
    )
