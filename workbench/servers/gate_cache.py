"""What the wire gate found about servers, remembered between starts.

Kept by the content of the server's files: one that was changed counts as never tried.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
from pathlib import Path

import msgspec

from workbench import paths, stores
from workbench.servers.entry import Protocol, ServerEntry
from workbench.servers.gate import GateResult


class Measured(msgspec.Struct, frozen=True):
    """One visit to the gate."""

    gate: GateResult
    when_utc: str
    """ISO 8601 with a trailing Z."""
    version: str = ""
    """Of the framework."""


def remember(entry: ServerEntry, gate: GateResult, version: str = "", machine: str = "") -> None:
    """Keep a result. `machine`: a profile's name; empty: this computer, or whichever was used. A
    cache that cannot be written is no reason to fail."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = _path(entry, machine)
    with contextlib.suppress(OSError):
        stores.write(path, msgspec.json.encode(Measured(gate, now, version)))


def recall(entry: ServerEntry, machine: str = "") -> Measured | None:
    """The last result for the server as its files are now; None: never tried."""
    try:
        return msgspec.json.decode(_path(entry, machine).read_bytes(), type=Measured)
    except (OSError, msgspec.DecodeError):
        return None


def protocols(entry: ServerEntry) -> list[Protocol]:
    """Those it proved to speak; as long as it was never tried, those it declares."""
    found = recall(entry)
    return found.gate.protocols if found and found.gate.passed else entry.protocols


def _path(entry: ServerEntry, machine: str) -> Path:
    content = hashlib.sha256(msgspec.json.encode(sorted(entry.files().items()))).hexdigest()
    where = f"@{machine}" if machine else ""
    return paths.cache_dir() / "gates" / f"{entry.id}-{content[:16]}{where}.json"
