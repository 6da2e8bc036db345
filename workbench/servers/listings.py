"""Published listings of servers, and the improved ones: as their communities proposed, with a fault
fixed from outside, or as is advised today."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.servers.entry import ServerEntry
from workbench.servers.sources import complete


def as_published(ids: Sequence[str], entries: Iterable[ServerEntry]) -> list[str]:
    """Replace servers by their published listing, where there is one that can run."""
    return _swapped(ids, dict(_pairs(entries)))


def as_improved(ids: Sequence[str], entries: Iterable[ServerEntry]) -> list[str]:
    """Replace servers by their improved listing, where there is one that can run."""
    return _swapped(ids, {old: new for new, old in _pairs(entries)})


def _pairs(entries: Iterable[ServerEntry]) -> list[tuple[str, str]]:
    """Return (improved, published) where both can run, with their source at hand."""
    able = {entry.id: entry for entry in entries if complete(entry)}
    return [(id_, entry.improves) for id_, entry in able.items() if entry.improves in able]


def _swapped(ids: Sequence[str], others: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(others.get(id_, id_) for id_ in ids))
