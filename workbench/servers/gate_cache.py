"""Results of the wire gate, kept between starts of this program.

Keyed by the content of the server's files: a changed server counts as never tested.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
from pathlib import Path

import msgspec

from workbench import paths, stores
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import GateResult


class Measured(msgspec.Struct, frozen=True):
    """One result of the gate."""

    gate: GateResult
    when_utc: str
    """ISO 8601 with a trailing Z."""
    version: str = ""
    """The framework's version."""


def remember(entry: ServerEntry, gate: GateResult, version: str = "", machine: str = "") -> None:
    """Save a result. `machine`: a profile's name; empty: this computer, or the one used. A cache
    that cannot be written is no error."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = _path(entry, machine)
    with contextlib.suppress(OSError):
        stores.write(path, msgspec.json.encode(Measured(gate, now, version)))


def recall(entry: ServerEntry, machine: str = "") -> Measured | None:
    """Return the last result for the server with its present files; None: never tested."""
    try:
        return msgspec.json.decode(_path(entry, machine).read_bytes(), type=Measured)
    except (OSError, msgspec.DecodeError):
        return None


def _path(entry: ServerEntry, machine: str) -> Path:
    content = hashlib.sha256(msgspec.json.encode(sorted(entry.files().items()))).hexdigest()
    where = f"@{machine}" if machine else ""
    return paths.cache_dir() / "gates" / f"{entry.id}-{content[:16]}{where}.json"
