"""What is known about a server, for people: sentences, and facts by name."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formatting import number_of
from workbench.messages.plans import more_rights
from workbench.servers.entry import Seen, ServerEntry
from workbench.servers.gate import GateResult, Measured
from workbench.servers.programs import PROGRAMS
from workbench.workloads.registry import ALL_FAMILIES, able, short


def remarks(entry: ServerEntry) -> Iterator[tuple[str, str, str]]:
    """Yield sentences with what each is (empty: a description) and its tone."""
    yield "", entry.description, ""
    yield from (("", note, "soft") for note in entry.notes)
    yield "Known fault", entry.fault, "warn"
    if gone := entry.unavailable:
        yield "Unavailable", gone.reason, "warn"
        yield "Last checked", gone.tried, "muted"
        yield "Closest maintained alternative", gone.instead and f"{gone.instead}.", "soft"
    for each in more_rights(entry.name, entry.rights):
        yield "Privileges", each.text(), "warn"
    yield from (("Not comparable", sentence, "warn") for sentence in entry.differences)
    yield from (("Not comparable over TLS", sentence, "warn") for sentence in entry.tls_unequal)


def facts(entry: ServerEntry, found: Measured | None) -> list[tuple[str, str]]:
    """Return how it runs. `found`: what the wire gate measured last."""
    kind = [
        ("Family", ALL_FAMILIES.get(entry.family, "")),
        ("Style", entry.style),
        ("Language", entry.language),
    ]
    place = [("Folder", str(entry.folder))]
    if entry.unavailable:
        return [*kind, *place]
    runtime = {"none": "", "python": "Python 3"}.get(entry.runtime, f"Python {entry.runtime[6:]}")
    programs = (PROGRAMS[name].title for name in entry.programs)
    source = entry.source_at
    return [
        *kind,
        ("Needs", ", ".join(filter(None, (runtime, *programs)))),
        ("Version", version(entry, found) or entry.pinned_version),
        ("Source", f"{source.git}, {source.short}, {source.licence}" if source else ""),
        ("Workers requested", f"{entry.processes:,}" if entry.processes > 1 else ""),
        ("Processes seen", _seen(entry.seen) if not found and entry.seen else ""),
        ("Protocols", ", ".join(map(short, entry.protocols))),
        ("Warm-up", f"{entry.warm_up_s:g} s of calls" if entry.warm_up_s else ""),
        ("Closes first", f"the {entry.closes_first}"),
        ("Command", " ".join(entry.command)),
        *place,
    ]


def version(entry: ServerEntry, found: Measured | None) -> str:
    """Return the version measured here, or else the one in the catalogue entry: 6.6.1."""
    if found is None:
        return entry.seen.version.rpartition(" ")[2] if entry.seen else ""
    last = found.version.rpartition(" ")[2]
    return "stdlib" if last == "library" else last


def measured(found: Measured) -> list[tuple[str, str]]:
    """Return what the wire gate measured."""
    gate = found.gate
    return [
        ("Last tested", f"{found.when_utc[:10]}, {found.when_utc[11:16]} UTC"),
        ("Result", " ".join(gate.sentences)),
        ("Usable for", ", ".join(able(gate)) if gate.passed else ""),
        ("Response size", f"{gate.bytes_on_wire:,} bytes" if gate.passed else ""),
        ("Processes seen", _seen(gate) if gate.passed else ""),
    ]


def _seen(found: GateResult | Seen) -> str:
    """Return "40, with 80 threads and 921 MB", including the processes that start and watch the
    workers.
    """
    if not found.processes:
        return ""
    threads = number_of(found.threads, "threads")
    memory = f" and {found.rss_bytes / 1e6:,.0f}\u00a0MB" if found.rss_bytes else ""
    return f"{found.processes:,}, with {threads}{memory}"
