"""Kernel settings for the duration of a run: previewed, applied with consent, read back, restored.

`tuner.py` does it on the machine, as root, and puts everything back however the run ends. Here: the
named sets of settings, and what a set would change; `tunertalk` speaks with the tuner.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from workbench import formatting, paths
from workbench.closing import to_the_end
from workbench.config.yaml import convert, load_yaml
from workbench.errors import BadInput
from workbench.machines.base import Machine
from workbench.machines.limits import raised
from workbench.machines.rights import Rights
from workbench.machines.surveyed import LeftTuning
from workbench.machines.tuner_client import AllRestored, Tuner
from workbench.messages.notes import Setting, Tuned

JOURNAL = "/run/pongbench/journal.json"
"""The tuner's state directory; it exists while a machine is tuned, and after a crash."""
_KEY = re.compile(r"[a-z0-9_]+(\.[A-Za-z0-9_-]+)+")
_VALUE = re.compile(r"[0-9]+( [0-9]+)*")


class TuningSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named set of kernel settings."""

    name: str
    description: str = ""
    settings: Annotated[dict[str, int | str], msgspec.Meta(max_length=100)] = {}
    """Exact values by sysctl name, for example net.ipv4.tcp_keepalive_time."""
    at_least: Annotated[dict[str, int | str], msgspec.Meta(max_length=100)] = {}
    """Minimum values: a higher current value is kept. Of a range (two numbers), the first is the
    lower end."""
    nofile: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0
    """Hard descriptor limit for the programs of a run; 0: unchanged."""

    def then(self, key: str, now: str) -> str:
        """Return the value of a setting for the run, from its present one."""
        wanted = " ".join(str((self.settings | self.at_least)[key]).split())
        return _at_least(now, wanted) if key in self.at_least else wanted

    def in_force(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts of a machine (`machines.facts`) as they are with this set."""
        known = facts.get("sysctls", {})
        changed = {
            key: self.then(key, str(known[key]))
            for key in self.settings | self.at_least
            if key in known
        }
        sysctls = {key: int(text) if text.isdigit() else text for key, text in changed.items()}
        return raised({**facts, "sysctls": {**known, **sysctls}}, self.nofile)


class _Entry(msgspec.Struct, frozen=True):
    """An entry of the tuner's journal."""

    old: str
    ours: str | None


@dataclass(frozen=True)
class Change:
    """One setting of one machine, with its present and its planned value."""

    key: str
    now: str
    """Empty: this kernel has no such setting."""
    wanted: str

    @property
    def needed(self) -> bool:
        return bool(self.now) and self.now != self.wanted

    def __str__(self) -> str:
        if not self.now:
            return f"{self.key}: this kernel has no such setting"
        if not self.needed:
            return f"{self.key}: {self.now} already"
        return f"{self.key}: {self.now} -> {self.wanted}"


def set_names() -> list[str]:
    """Return the names that `load_set` knows, sorted."""
    return sorted({path.stem for folder in _folders() for path in folder.glob("*.yaml")})


def load_set(name: str) -> TuningSet:
    """Load a set by its name; the user's own take precedence. Raises BadInput."""
    path = next((f / f"{name}.yaml" for f in _folders() if (f / f"{name}.yaml").is_file()), None)
    if path is None or Path(name).name != name:
        raise BadInput(
            f"There is no set of kernel settings '{name}'. {formatting.known(set_names(), 'set')}"
        )
    found: TuningSet = convert(
        load_yaml(path, what="tuning"), TuningSet, name=str(path), what="tuning"
    )
    for key, value in (found.settings | found.at_least).items():
        if not _KEY.fullmatch(key):
            raise BadInput(f"tuning {path}: {key!r} is no name of a kernel setting.")
        if not _VALUE.fullmatch(str(value)):
            raise BadInput(f"tuning {path}, {key}: expected numbers, got {value!r}.")
    return found


async def preview(machine: Machine, wanted: TuningSet) -> list[Change]:
    """Return what a set would change on a machine; nothing is changed."""
    keys = [*(wanted.settings | wanted.at_least)]
    texts = await machine.read([f"/proc/sys/{key.replace('.', '/')}" for key in keys])
    found = []
    for key, text in zip(keys, texts, strict=True):
        now = " ".join((text or "").split())
        found.append(Change(key, now, wanted.then(key, now)))
    return found


@asynccontextmanager
async def tuned(
    machine: Machine,
    changes: Sequence[Change],
    rights: Rights,
    *,
    nofile: tuple[int, int] | None = None,
    on_restored: Callable[[list[str]], None] = lambda sentences: None,
) -> AsyncIterator[Tuned]:
    """Apply the previewed settings, keep them in force, restore them.

    `nofile`: a process there and its hard descriptor limit. `on_restored` gets a sentence for every
    setting that could not be restored. Raises PongbenchError when root privileges are not
    available, or another program tunes the machine.
    """
    tuner = await Tuner.start(machine, rights)
    try:
        wanted = {change.key: change.wanted for change in changes if change.needed}
        answers = await tuner.apply(wanted, nofile)
        settings = [Setting(**msgspec.structs.asdict(answer)) for answer in answers]
        yield Tuned(machine=machine.name, settings=settings)
    finally:
        on_restored(await to_the_end(tuner.restore()))


async def left_tuned(machine: Machine) -> LeftTuning | None:
    """Return the settings of a run that are in force there. Any user may read them; runs of other
    users are kept out while ours holds the machine."""
    (text,) = await machine.read([JOURNAL])
    if text is None:
        return None
    try:
        entries = msgspec.json.decode(text, type=dict[str, _Entry])
    except msgspec.MsgspecError:
        return LeftTuning(alive=False, settings={})
    return LeftTuning(False, {key: (entry.old, entry.ours or "") for key, entry in entries.items()})


async def restore(machine: Machine, rights: Rights) -> list[str]:
    """Restore what a crash left changed. Returns a sentence for every setting; empty: nothing was
    left."""
    tuner = await Tuner.start(machine, rights, "--restore")
    event = await tuner.answer(AllRestored)
    await tuner.ended()
    return [tuner.sentence(setting) for setting in event.settings]


def _at_least(now: str, wanted: str) -> str:
    """Return the higher of two values, number by number."""
    here, there = [*map(int, now.split())] if _VALUE.fullmatch(now) else [], wanted.split()
    if len(here) != len(there):
        return wanted
    wider = [max(a, int(b)) for a, b in zip(here, there, strict=True)]
    if len(wider) > 1:
        wider[0] = min(here[0], int(there[0]))
    return " ".join(map(str, wider))


def _folders() -> list[Path]:
    return [paths.data_dir() / "tuning", paths.RESOURCES / "tuning"]
