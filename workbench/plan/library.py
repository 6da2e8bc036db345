"""Presets: the shipped plans, and the user's own, one YAML file each."""

from __future__ import annotations

import re
import unicodedata
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from workbench import paths, stores, trash
from workbench.analysis.published import source_of, sources
from workbench.config.yaml import dumped
from workbench.errors import BadInput
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.trash import Trashed
from workbench.workloads.options import Workload
from workbench.workloads.pong.declaration import PongWorkload

_SHIPPED = paths.RESOURCES / "plans"
_FIRST = ("quick", "demo", "thorough")
"""Order of the shipped ones, from small to large; the others follow."""


@dataclass(frozen=True)
class Preset:
    """A plan under a name."""

    id: str
    """The argument of `pongbench run`; the file's name."""
    path: Path
    own: bool
    """The user's own: may be changed, renamed and deleted."""
    plan: Plan | None
    problem: str = ""

    @property
    def name(self) -> str:
        return self.plan.name if self.plan else self.id

    @property
    def group(self) -> str:
        """The heading above it in a list; empty: none."""
        if self.own:
            return "Yours"
        found = source_of(self.plan.source) if self.plan else None
        return f"{found[0].year}: {found[0].title}" if found else ""


def presets() -> list[Preset]:
    """Return the shipped presets, then the user's own by name, also unreadable ones."""
    shipped = [_read_once(path) for path in _SHIPPED.glob("*.yaml")]
    own = [_read(path, own=True) for path in own_folder().glob("*.yaml")]
    first = {id_: place for place, id_ in enumerate(_FIRST)}
    asked = [question.id for source in sources() for question in source.questions]

    def rank(preset: Preset) -> tuple[int, int, str]:
        question = preset.plan.source if preset.plan else ""
        place = asked.index(question) + 1 if question in asked else 0
        return place, first.get(preset.id, len(first)), preset.id

    return [*sorted(shipped, key=rank), *sorted(own, key=lambda p: p.name.casefold())]


def shipped(id: str) -> Preset:
    """Return a preset that comes with Pongbench, whatever of that name the user has."""
    return _read_once(_SHIPPED / f"{id}.yaml")


def own_folder() -> Path:
    return paths.data_dir() / "plans"


def save(plan: Plan, name: str, *, over: str = "") -> Preset:
    """Save a plan under a display name. `over`: the id of a user's own one to replace. Raises
    BadInput, also when the name is taken or has no usable characters."""
    name = name.strip()
    kept = msgspec.structs.replace(plan, name=name)
    with _locked():
        path = _path_for(name, over)
        stores.write(path, to_yaml(kept))
    return Preset(path.stem, path, True, kept)


def delete(id: str) -> Trashed:
    """Move one of the user's own to the trash. Raises BadInput."""
    with _locked():
        path = own_folder() / f"{id}.yaml"
        if Path(id).name != id or not path.is_file():
            raise BadInput(f"There is no plan {id!r} of yours any more.")
        return trash.discard([path])


def to_yaml(plan: Plan) -> str:
    """Return a plan as YAML without defaults."""
    data = _unusual(plan)
    if plan.workload == PongWorkload():
        data.pop("workload", None)
    return dumped(_tidy(data), default_flow_style=None, width=96)


def _locked() -> AbstractContextManager[None]:
    """Keep other programs from taking a name between the check and its use."""
    return stores.changing(own_folder(), f"Plans cannot be saved in {own_folder()}", BadInput)


def _unusual(struct: Plan | Workload) -> dict[str, Any]:
    """Return fields that differ from their defaults, as plain data, in their order."""
    data: dict[str, Any] = msgspec.to_builtins(struct)
    return {
        key: _unusual(value) if isinstance(value, Workload) else data[key]
        for field in msgspec.structs.fields(struct)
        for key, value in [(field.encode_name, getattr(struct, field.name))]
        if value != field.default and value not in ([], {})
    }


def _tidy(value: Any) -> Any:
    """Return whole floats as integers: 1000, not 1000.0."""
    match value:
        case dict():
            return {key: _tidy(inner) for key, inner in value.items()}
        case list():
            return [_tidy(inner) for inner in value]
        case float() if value.is_integer():
            return int(value)
    return value


def _read(path: Path, *, own: bool = False) -> Preset:
    try:
        return Preset(path.stem, path, own, load_plan(path))
    except BadInput as error:
        return Preset(path.stem, path, own, None, str(error))


_read_once = cache(_read)


def _path_for(name: str, over: str) -> Path:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    id_ = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-")
    if not id_:
        raise BadInput("A plan needs a name with letters or digits; give it one.")
    path = own_folder() / f"{id_}.yaml"
    if id_ != over and (path.exists() or (_SHIPPED / path.name).exists()):
        whose = "of yours" if path.exists() else "that comes with Pongbench"
        raise BadInput(f"There is a plan {whose} named {id_!r}; choose another name.")
    return path
