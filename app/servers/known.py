"""What is known about each server of the catalogue, and the plan that compares some. No Qt."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.servers import user_servers
from workbench.servers.catalogue import Broken, Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import Measured, recall
from workbench.servers.readiness import MachineReadiness, Readiness, readiness
from workbench.workloads.registry import MESSAGES, PROTOCOLS, speaking

RUNS, FIRST, NOT = "Ready", "Needs setup", "Unavailable"
KINDS = (RUNS, FIRST, NOT)


@dataclass(frozen=True)
class State:
    """Whether the server runs on this computer, in one or two words."""

    kind: str
    """One of `KINDS`."""
    word: str
    tone: str
    icon: str


@dataclass(frozen=True)
class Known:
    """A server, or a folder that should contain one."""

    id: str
    name: str
    folder: Path
    own: bool
    """The user's own: may be changed and deleted."""
    entry: ServerEntry | None
    """None: the folder cannot be read, and `problem` gives the reason."""
    state: State
    problem: str = ""
    ready: Readiness | None = None
    """None: unavailable or not readable."""
    machine: str = ""
    """The machine that `state`, `ready` and `measured` are about; empty: this computer."""
    measured: Measured | None = None
    """The last result of the wire gate for the present files."""
    last: str = ""
    """What it sustained in the latest session that measured it, for people."""
    last_per_s: float = 0.0
    texts: dict[str, str] = field(default_factory=dict)
    """Its files, by relative name; shared ones last."""

    @property
    def key(self) -> str:
        """Return a key that identifies it, also among broken ones with the same id."""
        return str(self.folder)

    @property
    def family(self) -> str:
        return self.entry.family if self.entry else ""

    @property
    def source(self) -> str:
        """Return the file to show first."""
        wanted = [self.entry.source] if self.entry else []
        return next((n for n in (*wanted, "server.yaml", *self.texts) if n in self.texts), "")

    @property
    def runs(self) -> bool:
        """Whether it can be tested."""
        return self.entry is not None and self.entry.unavailable is None

    @property
    def copyable(self) -> bool:
        """Whether it can be copied to the user's folder."""
        return self.runs and bool(self.source)

    @property
    def comparable(self) -> bool:
        """Whether a plan can measure it."""
        return self.runs and self.entry is not None and MESSAGES not in self.entry.protocols


def load(machine: str = "", there: MachineReadiness | None = None) -> list[Known]:
    """Return all servers by name, shipped ones and the user's own. Reads the disk. `machine`: the
    machine for tests, empty: this computer; `there`: the findings about it.
    """
    catalogue = Catalogue.load()
    known = [_known(entry, machine, there) for entry in catalogue.contestants()]
    known += [_broken(broken) for broken in catalogue.broken.values()]
    return sorted(known, key=lambda each: (each.name.casefold(), each.key))


def _known(entry: ServerEntry, machine: str, there: MachineReadiness | None) -> Known:
    texts = user_servers.read(entry.folder)
    for path in entry.shared_paths:
        if (text := user_servers.text_of(path)) is not None:
            texts[path.name] = text
    found = ready = None
    state = _UNAVAILABLE
    if not entry.unavailable:
        found = recall(entry, machine)
        ready = readiness(entry, there) if there or not machine else None
        state = _state(ready, found) if ready or found else _NOT_EXAMINED
    # Its author may have saved it unfinished; those of the catalogue were tested.
    python = not entry.shipped and not found and entry.runtime == "python"
    fault = next(_syntax_errors(texts), "") if python else ""
    if fault:
        state = _SYNTAX
    return Known(
        id=entry.id,
        name=entry.name,
        folder=entry.folder,
        own=not entry.shipped,
        entry=entry,
        state=state,
        problem=fault,
        machine=machine,
        ready=ready,
        measured=found,
        texts=texts,
    )


def _syntax_errors(texts: Mapping[str, str]) -> Iterator[str]:
    """Yield what the Python that runs this program cannot read of a folder's files."""
    for name, text in texts.items():
        if not name.endswith(".py"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(text)
        except SyntaxError as error:
            said = (error.msg or "invalid syntax").rstrip(".")
            yield f"{name}, line {error.lineno or 0}: Syntax error: {said}."
        except (ValueError, RecursionError, MemoryError):
            yield f"{name}: Python cannot read this file."


def _broken(broken: Broken) -> Known:
    texts = user_servers.read(broken.folder)
    return Known(
        id=broken.id,
        name=broken.id,
        folder=broken.folder,
        own=broken.folder.parent == user_servers.folder(),
        entry=None,
        state=State(NOT, "Invalid files", "bad", "circle-x"),
        problem=broken.problem,
        texts=texts,
    )


FAILED = State(NOT, "Test failed", "bad", "triangle-alert")
_SYNTAX = State(NOT, "Syntax error", "bad", "circle-x")
_UNAVAILABLE = State(NOT, "Unavailable", "muted", "circle-x")
_NOT_EXAMINED = State(FIRST, "Not checked", "muted", "circle-question-mark")


def _state(ready: Readiness | None, found: Measured | None) -> State:
    if found is not None and not found.gate.passed:
        return FAILED
    if ready is not None and ready.state == "to fetch":
        return State(FIRST, f"Needs {' and '.join(ready.programs)}", "warn", "download")
    if ready is not None and ready.state == "to make":
        return State(FIRST, "Installed on first run", "soft", "download")
    if found is None:
        return State(RUNS, "Ready, not tested", "soft", "circle-question-mark")
    return State(RUNS, "Ready", "ok", "circle-check")


def plan_for(servers: Sequence[Known]) -> Plan:
    """The demo's rates with the first protocol all of them speak. Raises BadInput when the demo
    is not there."""
    plan = load_plan("demo")
    entries = [known.entry for known in servers if known.entry is not None]
    spoken = [p for p in PROTOCOLS if all(p in entry.protocols for entry in entries)]
    name, workload = plan.name, plan.workload
    if spoken and spoken[0] != workload.protocol:
        workload = speaking(workload, spoken[0])
        name = "Replies over HTTP"
    paths = {entry.path for entry in entries}
    if len(paths) == 1 and "path" in workload.own:
        workload = msgspec.structs.replace(workload, path=paths.pop())
    ids = [known.id for known in servers]
    return msgspec.structs.replace(plan, name=name, description="", servers=ids, workload=workload)
