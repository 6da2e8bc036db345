"""Results of a check, written into the entries, and the table that the documentation has of them.

`python -m workbench.servers.recording docs/servers.md` brings the table up to date (`make docs`).
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from workbench import doc_table
from workbench.errors import BadInput, why
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked
from workbench.servers.entry import Seen, ServerEntry
from workbench.servers.gate import PIPELINED

BEGIN, END = "<!-- servers as checked, made by `make docs` -->", "<!-- end of the servers -->"
HEAD = (
    *("Server", "Version", "Bytes", "Keep-alive", "Pipelined", "Processes", "Threads"),
    *("At rest, MB", "Cold start, s", "Warm start, s"),
)
NONE = "–"
"""In the table: it has none."""
_LINE = re.compile(r"^seen: \{.*\}$", re.MULTILINE)


def record(checked: Checked) -> bool:
    """Write what was seen of a server that passed into its `server.yaml`; False: it did not pass.
    Raises BadInput."""
    seen = seen_of(checked)
    if seen:
        write(checked.entry, seen)
    return seen is not None


def lately(entry: ServerEntry) -> bool:
    """Return whether its results were recorded on this computer today or yesterday (UTC)."""
    if entry.seen is None or entry.seen.warm_start_s is None:
        return False
    today = datetime.now(UTC)
    return entry.seen.source in (source(today), source(today - timedelta(days=1)))


def seen_of(checked: Checked) -> Seen | None:
    """Return what is worth keeping of a check on this computer; None: it did not pass."""
    gate, deployment = checked.gate, checked.deployment
    if checked.status != "passed" or gate is None or deployment is None:
        return None
    warm_s = checked.warm_start_s
    return Seen(
        keep_alive=gate.keep_alive,
        pipelining=gate.pipelining,
        bytes=gate.bytes_on_wire,
        processes=gate.processes,
        threads=gate.threads,
        memory_mb=round(gate.rss_bytes / 1e6),
        version=version_of(checked.entry, deployment.version),
        cold_start_s=round(deployment.ready_s, 2),
        warm_start_s=None if warm_s is None else round(warm_s, 2),
        source=source(datetime.now(UTC)),
    )


def version_of(entry: ServerEntry, version: str) -> str:
    """Return 6.6.1 of "tornado 6.6.1", and all of "go 1.26.8", which is not the server's."""
    if entry.framework in entry.programs:
        return version
    last = version.rpartition(" ")[2]
    return last if last[:1].isdigit() else ""


def source(when: datetime) -> str:
    """Return what `seen` gives as its source."""
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.platform())
    return f"catalogue check on {system}, {os.cpu_count()} cores, {when:%Y-%m-%d}"


def write(entry: ServerEntry, seen: Seen) -> None:
    """Write it into the entry's `server.yaml`. Raises BadInput."""
    path = entry.folder / "server.yaml"
    values = {name: value for name, value in msgspec.to_builtins(seen).items() if value is not None}
    line = ", ".join(f"{name}: {json.dumps(value)}" for name, value in values.items())
    text, times = _LINE.subn(lambda _: f"seen: {{{line}}}", path.read_text("utf-8"))
    try:
        path.write_text(text if times else f"{text.rstrip()}\nseen: {{{line}}}\n", "utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {why(error)}.") from None


def table(entries: Iterable[ServerEntry]) -> str:
    """Return what was seen of the servers, as a table of Markdown."""
    rows = [_row(entry, entry.seen) for entry in entries if entry.seen]
    lines = [HEAD, ("---",) * len(HEAD), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(entry: ServerEntry, seen: Seen) -> tuple[str, ...]:
    starts = (seen.cold_start_s, seen.warm_start_s)
    http = any(protocol.startswith("http/") for protocol in entry.protocols)
    return (
        f"`{entry.id}`",
        seen.version or entry.pinned_version if entry.framework or entry.version else NONE,
        NONE if entry.family == "message" else f"{seen.bytes or ''}",
        ("yes" if seen.keep_alive else "no") if http else NONE,
        f"{seen.pipelining} of {PIPELINED}" if seen.keep_alive else NONE,
        f"{seen.processes}",
        f"{seen.threads:,}",
        f"{seen.memory_mb:,.0f}",
        *("" if each is None else f"{each:.2f}" for each in starts),
    )


def written(text: str) -> str:
    """Return a document with the table between the two comments."""
    shown = table(Catalogue.load(extra_dirs=[]).contestants())
    return doc_table.replaced(text, f"\n{shown}\n", BEGIN, END)


if __name__ == "__main__":
    doc_table.main(written)
