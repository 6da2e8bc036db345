"""Machine profiles: one YAML file a machine, the user's own before the shipped ones.

A profile never holds a secret.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec

from workbench import paths
from workbench.errors import BadInput
from workbench.yamlio import convert, load_yaml

Role: TypeAlias = Literal["target", "client"]
Cores: TypeAlias = (
    Literal["auto"]
    | Annotated[list[Annotated[int, msgspec.Meta(ge=0, le=4095)]], msgspec.Meta(min_length=1)]
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class Cpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which cores the servers and the agents run on; see `machines.placement`."""

    server: Cores = "auto"
    agent: Cores = "auto"


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to reach a machine and what it may be used for."""

    name: str
    description: str = ""
    connector: Literal["local"] = "local"
    roles: Annotated[list[Role], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: ["target", "client"]
    )
    cpus: Cpus = Cpus()


def load_profile(name: str) -> Profile:
    """Raises BadInput: no such profile, or what is wrong in its file."""
    path = _files().get(name)
    if path is None:
        close = difflib.get_close_matches(name, _files(), n=1)
        hint = f" Did you mean '{close[0]}'?" if close else f" There are {', '.join(_files())}."
        raise BadInput(f"There is no machine profile '{name}'.{hint}")
    profile = convert(load_yaml(path, what="profile"), Profile, name=str(path), what="profile")
    if profile.name != name:
        raise BadInput(
            f"profile {path}, name: expected {name!r} like the file, got {profile.name!r}."
        )
    return profile


def profile_names() -> list[str]:
    """Of all profiles there are, good or bad."""
    return list(_files())


def _files() -> dict[str, Path]:
    """Profiles by name; the user's own hide shipped ones."""
    folders = (paths.PROFILES, paths.config_dir() / "profiles")
    found = {path.stem: path for folder in folders for path in folder.glob("*.yaml")}
    return {name: found[name] for name in sorted(found) if _NAME.fullmatch(name)}
