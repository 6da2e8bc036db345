"""The catalogue: every server that can be compared, shipped or the user's own."""

from __future__ import annotations

import contextlib
import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from workbench import paths, stores
from workbench.errors import BadInput
from workbench.servers.address import Contact, Running, is_address, parse
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import is_id, load_entry
from workbench.servers.sources import complete


@dataclass(frozen=True)
class Broken:
    """A folder whose server is invalid."""

    id: str
    folder: Path
    problem: str
    """One sentence."""


@dataclass(frozen=True)
class Catalogue:
    """Entries by id. A broken folder never hides the others: it is listed in `broken`."""

    entries: dict[str, ServerEntry] = field(default_factory=dict)
    broken: dict[str, Broken] = field(default_factory=dict)

    @classmethod
    def load(cls, extra_dirs: Sequence[Path] | None = None) -> Catalogue:
        """Load the shipped servers, then `extra_dirs` (None: the user's own folder of servers)."""
        catalogue = cls()
        catalogue._add(paths.RESOURCES / "servers", shipped=True)
        for folder in [paths.data_dir() / "servers"] if extra_dirs is None else extra_dirs:
            catalogue._add(folder, shipped=False)
        return catalogue

    def __getitem__(self, id: str) -> ServerEntry:
        """Return an entry, a variant of one (`variant_of`), or what stands for a running
        server whose address `id` is. Raises BadInput when it does not exist, or is broken."""
        if is_address(id):
            return entry_of(id)
        if entry := variant_of(self.entries, id):
            return entry
        if (version := versions() / id) and is_id(id) and version.is_dir():
            stores.used(version)
            return load_entry(version)
        if id in self.broken:
            raise BadInput(self.broken[id].problem)
        close = difflib.get_close_matches(id, self.entries, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "`pongbench catalogue` lists them all."
        raise BadInput(f"There is no server {id!r} in the catalogue. {hint}")

    def find(self, id_or_folder: str) -> ServerEntry:
        """Find a server by id, or by the path of its folder (anything with a slash). Raises
        BadInput for the address of a running one, which has no entry to show or check."""
        if is_address(id_or_folder):
            raise BadInput(
                f"{parse(id_or_folder).text} is running already and not in the catalogue;"
                " `pongbench run` measures it."
            )
        if "/" in id_or_folder:
            return load_entry(Path(id_or_folder))
        return self[id_or_folder]

    def __contains__(self, id: object) -> bool:
        # Not by the entry itself: to ask is not to use it, and a broken one says why when it is.
        if not isinstance(id, str):
            return False
        with contextlib.suppress(BadInput):
            known = parse(id) if is_address(id) else variant_of(self.entries, id)
            return known is not None or (is_id(id) and (versions() / id).is_dir())
        return False

    def __iter__(self) -> Iterator[ServerEntry]:
        return iter(self.entries.values())

    def contestants(self) -> list[ServerEntry]:
        """Return all that can be compared, without our own tools."""
        return [entry for entry in self if entry.family != "tool"]

    def _add(self, parent: Path, *, shipped: bool) -> None:
        try:
            folders = sorted(p for p in parent.iterdir() if p.is_dir() and p.name[0] not in "._")
        except FileNotFoundError:
            return
        except OSError as error:
            problem = f"The folder of servers {parent} cannot be read: {error.strerror}."
            self.broken[str(parent)] = Broken(str(parent), parent, problem)
            return
        for folder in folders:
            id = folder.name
            try:
                if id in self.entries and not self.entries[id].unavailable:
                    raise BadInput(
                        f"There are two servers {id!r}: {self.entries[id].folder} is used, {folder}"
                        " is not; rename the second folder."
                    )
                self.entries[id] = load_entry(folder, shipped=shipped)
            except BadInput as error:
                # The id of a shipped server always refers to that server.
                self.broken[id if id not in self.entries else str(folder)] = Broken(
                    id, folder, str(error)
                )


def versions() -> Path:
    """Return the folder of versions of the user's services, which no list shows; see `services`."""
    return paths.cache_dir() / "versions"


def entry_of(text: str, about: Running | None = None) -> ServerEntry:
    """Return what stands for a running server beside the catalogue's. `about`: what a plan says of
    it. Raises BadInput for an invalid address."""
    address, about = parse(text), about or Running()
    return ServerEntry(
        id=text,
        folder=Path(),
        name=about.name or address.label,
        family="running",
        runtime="none",
        description="A server that is running already.",
        language="",
        protocols=address.protocols,
        path=address.path,
        tls=[] if address.tls else None,
        running=Contact(address, about.process, about.insecure),
    )


def _relisted(ids: Sequence[str], entries: Iterable[ServerEntry], *, published: bool) -> list[str]:
    """Replace servers by their other listing, where one can run, with its source at hand."""
    able = {entry.id: entry for entry in entries if complete(entry)}
    pairs = [(id, entry.improves) for id, entry in able.items() if entry.improves in able]
    others = dict(pairs) if published else {old: new for new, old in pairs}
    return list(dict.fromkeys(others.get(id, id) for id in ids))


as_published = functools.partial(_relisted, published=True)
as_improved = functools.partial(_relisted, published=False)


MOST = 64
COUNTS = (1, 2, 4)
"""Of workers, for the scaling over cores."""
PROGRAM = "workers.py"
"""Of `resources/apps`: runs a program several times on one port."""

_VARIANT = re.compile(r"(?P<server>.+)-(?P<workers>[1-9][0-9]?)w")


def variant_id(server: str, workers: int) -> str:
    return server if workers == 1 else f"{server}-{workers}w"


def variant_of(entries: Mapping[str, ServerEntry], id: str) -> ServerEntry | None:
    """Return the entry of an id, which may be that of a variant; None: none. Raises BadInput if the
    server cannot run in that number of processes."""
    if id in entries or not (match := _VARIANT.fullmatch(id)):
        return entries.get(id)
    entry, workers = entries.get(match["server"]), int(match["workers"])
    return entry and _in_workers(entry, workers)


def in_counts(ids: Sequence[str], entries: Iterable[ServerEntry]) -> list[str]:
    """Replace each server that can run in several processes by its variants of `COUNTS`."""
    able = {entry.id for entry in entries if entry.workers}
    pairs = ((id, count) for id in ids for count in (COUNTS if id in able else [1]))
    return list(dict.fromkeys(variant_id(id, count) for id, count in pairs))


def _in_workers(entry: ServerEntry, workers: int) -> ServerEntry:
    if not entry.workers:
        raise BadInput(
            f"{entry.name} cannot be started in several processes; its entry has no `workers`."
        )
    if not 2 <= workers <= MOST:
        raise BadInput(f"{entry.name} runs in 1 to {MOST} processes, not in {workers}.")
    count, shared = str(workers), entry.shared
    if entry.workers == "reuse-port":
        python, *program = entry.command
        command, shared = [python, PROGRAM, count, *program], [*shared, PROGRAM]
        how = (
            "Each of its processes has a listening socket and a backlog of its own (SO_REUSEPORT)."
        )
    else:
        added = [part.replace("{workers}", count) for part in entry.workers]
        command, how = [*entry.command, *added], "It starts its processes itself."
    return msgspec.structs.replace(
        entry,
        id=variant_id(entry.id, workers),
        name=f"{entry.name}, {workers} workers",
        command=command,
        shared=shared,
        processes=workers,
        unequal=[*entry.unequal, how],
        improves="",
        seen=None,
    )
