"""Plans to begin from: those shipped, and the user's own, one YAML file each."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from workbench import paths
from workbench.errors import BadInput, why
from workbench.plans import Plan, Workload, load_plan

_FIRST = ("quick", "demo", "thorough")
"""Of the shipped ones, in the order in which people grow; the others follow."""


@dataclass(frozen=True)
class Preset:
    """A plan under a name."""

    id: str
    """What `pongbench run` takes; the file's name."""
    path: Path
    own: bool
    """The user's: may be changed, renamed and deleted."""
    plan: Plan | None
    problem: str = ""
    """Why there is no plan, one sentence."""

    @property
    def name(self) -> str:
        return self.plan.name if self.plan else self.id


def presets() -> list[Preset]:
    """The shipped ones, then the user's own by name. One that cannot be read hides no other."""
    shipped = [_read(path, own=False) for path in (paths.RESOURCES / "plans").glob("*.yaml")]
    own = [_read(path, own=True) for path in own_folder().glob("*.yaml")]
    rank = {id_: place for place, id_ in enumerate(_FIRST)}
    return [
        *sorted(shipped, key=lambda p: (rank.get(p.id, len(rank)), p.id)),
        *sorted(own, key=lambda p: p.name.casefold()),
    ]


def own_folder() -> Path:
    return paths.data_dir() / "plans"


def save(plan: Plan, name: str, *, over: str = "") -> Preset:
    """Keep a plan under a name for people. `over`: the id of an own one to be replaced.

    Raises BadInput when the name is taken or says nothing, or the file cannot be written.
    """
    name = name.strip()
    path = _path_for(name, over)
    kept = msgspec.structs.replace(plan, name=name)
    _write(path, to_yaml(kept))
    return Preset(path.stem, path, True, kept)


def rename(id: str, name: str) -> Preset:
    """Give one of the user's own another name. Raises BadInput."""
    old = _own(id)
    made = save(load_plan(old), name, over=id)
    if made.path != old:
        _remove(old)
    return made


def delete(id: str) -> None:
    """Remove one of the user's own. Raises BadInput."""
    _remove(_own(id))


def to_yaml(plan: Plan) -> str:
    """A plan as a person would write it: what is usual is left out."""
    data = _unusual(plan)
    if plan.workload == Workload():
        data.pop("workload", None)
    return yaml.safe_dump(
        _tidy(data), sort_keys=False, allow_unicode=True, default_flow_style=None, width=96
    )


def _unusual(struct: Plan | Workload) -> dict[str, Any]:
    """Fields that differ from their defaults, as plain data, in their order."""
    data: dict[str, Any] = msgspec.to_builtins(struct)
    usual = {field.name: field.default for field in msgspec.structs.fields(struct)}
    return {
        name: _unusual(value) if isinstance(value, Workload) else data[name]
        for name, value in msgspec.structs.asdict(struct).items()
        if value != usual[name] and value != []
    }


def _tidy(value: Any) -> Any:
    """1000 and not 1000.0."""
    match value:
        case dict():
            return {key: _tidy(inner) for key, inner in value.items()}
        case list():
            return [_tidy(inner) for inner in value]
        case float() if value.is_integer():
            return int(value)
    return value


def _read(path: Path, *, own: bool) -> Preset:
    try:
        return Preset(path.stem, path, own, load_plan(path))
    except BadInput as error:
        return Preset(path.stem, path, own, None, str(error))


def _path_for(name: str, over: str) -> Path:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    id_ = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-")
    if not id_:
        raise BadInput("A plan needs a name with letters or digits; give it one.")
    path = own_folder() / f"{id_}.yaml"
    shipped = paths.RESOURCES / "plans" / path.name
    if id_ != over and (path.exists() or shipped.exists()):
        whose = "of yours" if path.exists() else "that comes with Pongbench"
        raise BadInput(f"There is a plan {whose} named {id_!r}; choose another name.")
    return path


def _own(id: str) -> Path:
    path = own_folder() / f"{id}.yaml"
    if Path(id).name != id or not path.is_file():
        raise BadInput(f"There is no plan {id!r} of yours any more.")
    return path


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise BadInput(f"The plan {path} cannot be deleted: {why(error)}.") from None


def _write(path: Path, text: str) -> None:
    """As a whole, or not at all."""
    part = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=".plan-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(part).replace(path)
    except OSError as error:
        if part:
            with contextlib.suppress(OSError):
                Path(part).unlink()
        raise BadInput(f"The plan {path} cannot be written: {why(error)}.") from None
