"""Machine profiles, one YAML file each, never with a secret; the user's own take precedence."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from workbench import formatting, paths, stores, trash
from workbench.config.yaml import convert, dumped, load_yaml
from workbench.errors import BadInput
from workbench.messages.base import Stated
from workbench.messages.notes import notice
from workbench.trash import Trashed

_HOST = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,252}")


@dataclass(frozen=True)
class Endpoint:
    host: str
    """A name or an address, without brackets."""
    port: int = 0
    user: str = ""

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host and self.port else self.host
        return f"{user}{host}:{self.port}" if self.port else user + host

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """Raises ValueError for what is none."""
        whole = re.sub(r"^ssh://(.*?)/?$", r"\1", text.strip(), flags=re.IGNORECASE)
        user, at, place = whole.rpartition("@")
        if at and not user:
            raise ValueError(text)
        if place.count(":") > 1 and not place.startswith("["):
            return cls(_ipv6(place), user=user)
        found = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[\]]+))(?::([0-9]{1,5}))?", place)
        if not found or (found[2] and not _HOST.fullmatch(found[2])):
            raise ValueError(text)
        port = int(found[3] or 0)
        if found[3] and not 0 < port < 65536:
            raise ValueError(text)
        return cls(_ipv6(found[1]) if found[1] else found[2], port, user)


def is_link_local(host: str) -> bool:
    """Return whether it is an address that each machine knows by another interface's name."""
    try:
        return ipaddress.ip_address(host).is_link_local
    except ValueError:
        return False


def _ipv6(text: str) -> str:
    ipaddress.IPv6Address(text)
    return text


Role: TypeAlias = Literal["target", "client"]
Auth: TypeAlias = Literal["auto", "agent", "key", "password"]
Sudo: TypeAlias = Literal["no", "passwordless", "password"]
Cores: TypeAlias = (
    Literal["auto"]
    | Annotated[list[Annotated[int, msgspec.Meta(ge=0, le=4095)]], msgspec.Meta(min_length=1)]
)
Port: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=65535)]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_USER = re.compile(r"[^\s@:/'\"\\-][^\s:/'\"]{0,63}(?<![@\\])")
"""Users of a domain are `CORP\\bob` or `bob@corp.example`."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Of the command line in another encoding."""
_OTHER_ADDRESS = (
    "the other machines of a run cannot reach it by that name. Give a global address or one of its"
    " own network (fd00::1, 10.0.0.1)"
)


class Cpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which cores the servers and the agents run on; see `place`."""

    server: Cores = "auto"
    agent: Cores = "auto"


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to reach a machine and what it may be used for. All but the first fields: SSH only."""

    name: str
    description: str = ""
    connector: Literal["local", "ssh"] = "local"
    roles: Annotated[list[Role], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: ["target", "client"]
    )
    cpus: Cpus = Cpus()

    address: str = ""
    """A name, an IP address or a Host of ~/.ssh/config."""
    port: Port = 0
    """0: from ~/.ssh/config, or 22."""
    user: str = ""
    """Empty: from ~/.ssh/config, or the user who runs Pongbench."""
    auth: Auth = "auto"
    """auto: agent and keys as with `ssh`, then a password."""
    key: str = ""
    """A private key file; it may have a passphrase."""
    jump: str = ""
    """Jump hosts: names of profiles or [user@]host[:port], separated by commas."""
    ssh_config: bool = True

    sudo: Sudo = "no"
    tuning: bool = False
    """Whether kernel settings may be changed for the duration of a run."""
    work_dir: str = "~/.cache/pongbench"
    """The only directory that stays there. Runs use subdirectories and remove them."""
    python: str = ""
    """Its command there; empty: the first found that is 3.10 or later."""
    reach: str = ""
    """Where the other machines reach servers here; empty: the address SSH connected to."""
    bind: str = ""
    """The address servers listen on; empty: the one SSH connected to."""

    @property
    def reached(self) -> str:
        if self.connector == "local":
            return "this computer"
        via = f" via {self.jump}" if self.jump else ""
        return f"{Endpoint(self.address, self.port, self.user)}{via}"


def load_profile(name: str) -> Profile:
    """Load a profile. Raises BadInput when it does not exist or is invalid."""
    path = _files().get(name)
    if path is None:
        close = difflib.get_close_matches(name, _files(), n=1)
        there = formatting.known(list(_files()), "profile")
        hint = f"Did you mean '{close[0]}'?" if close else there
        raise BadInput(f"There is no machine profile '{name}'. {hint}")
    data = load_yaml(path, what="profile")
    values = spelled_out(data) if isinstance(data, dict) else data
    profile = convert(values, Profile, name=str(path), what="profile")
    check(profile, name=str(path))
    if profile.name != name:
        raise BadInput(
            f"profile {path}, name: expected {name!r} like the file, got {profile.name!r}."
        )
    return profile


def check(profile: Profile, *, name: str = "") -> None:
    """Check rules of several keys. Raises BadInput. `name`: of the file, for the message."""

    def invalid(key: str, what: str, beside: str = "") -> BadInput:
        where = f"profile {name or profile.name}, {key}"
        return BadInput(f"{where}: {what}", key=key, complaint=beside or what)

    for key in profile.__struct_fields__:
        text = getattr(profile, key)
        if isinstance(text, str) and _SURROGATE.search(text):
            raise invalid(key, "these bytes are no text in UTF-8.")
    if not _NAME.fullmatch(profile.name):
        raise invalid("name", "use letters, digits, dots, dashes and underscores, 63 at most.")
    if profile.connector == "local":
        for key in ("address", "user", "key", "jump"):
            if getattr(profile, key):
                raise invalid(key, "this is for `connector: ssh`; add that, or leave it out.")
        return
    if not profile.address:
        give = "give a name, an IP address or an SSH alias."
        raise invalid("address", f"the key is missing; {give}", give)
    _check_places(profile, invalid)
    if profile.user and not _USER.fullmatch(profile.user):
        raise invalid("user", f"{profile.user!r} is not a user name.")
    if profile.auth == "key" and not profile.key:
        raise invalid("key", "`auth: key` needs the file of a private key.")
    if profile.jump == profile.name:
        raise invalid("jump", "a machine cannot be reached through itself.")
    if not profile.work_dir.startswith(("/", "~/")):
        raise invalid("work_dir", "give a whole path, beginning with / or ~/.")


def _check_places(profile: Profile, invalid: Callable[[str, str], BadInput]) -> None:
    for key in ("address", "reach", "bind"):
        if value := getattr(profile, key):
            try:
                found = Endpoint.parse(value)
            except ValueError:
                give = "give a name or an IP address."
                raise invalid(key, f"{value!r} is not an address; {give}") from None
            if is_link_local(found.host):
                raise invalid(key, f"{value} is a link-local address; {_OTHER_ADDRESS}.")
            if found.host != value:
                raise invalid(
                    key, f"{value!r} is more than an address; write `{key}: {found.host}`."
                )
    for jump in profile.jump.split(",") if profile.jump else ():
        try:
            Endpoint.parse(jump)
        except ValueError:
            give = "give a machine listed here, or [user@]host[:port]."
            raise invalid("jump", f"{jump.strip()!r} is not a jump host; {give}") from None


def spelled_out(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with an address like bob@10.0.0.1:2222 as address, user and port. Raises
    BadInput when user or port are given as well, and differ."""
    spelled = dict(values)
    if values.get("connector", "ssh") == "ssh" and isinstance(values.get("address"), str):
        try:
            found = Endpoint.parse(values["address"])
        except ValueError:
            return spelled  # `check` says so.
        spelled["address"] = found.host
        for key, value in (("user", found.user), ("port", found.port)):
            if value and values.get(key) not in (None, "", 0, value):
                raise BadInput(
                    f"The address {values['address']} has the {key} {value}, but {key} is"
                    f" {values[key]}; leave one out.",
                    key="address",
                    complaint=f"its {key} is not {values[key]}, as given below.",
                )
            if value:
                spelled[key] = value
    return spelled


def profile_names() -> list[str]:
    """Return the names of all profiles, valid or not."""
    return list(_files())


def is_own(name: str) -> bool:
    """Return whether the profile is the user's own, and so can be changed and removed."""
    path = _files().get(name)
    return path is not None and path.parent == folder()


def path_of(name: str) -> Path:
    """Return the path of the user's own profile of this name, existing or not."""
    return folder() / f"{name}.yaml"


def make_profile(values: dict[str, Any]) -> Profile:
    """Build a checked profile from plain data; see `spelled_out`. Raises BadInput with the key."""
    values = spelled_out(values)
    name = str(values.get("name", ""))
    profile = convert(values, Profile, name=name, what="profile")
    check(profile)
    return profile


def save_profile(profile: Profile, *, replace: bool = True) -> Path:
    """Save a profile among the user's own, atomically. Raises BadInput or PongbenchError."""
    check(profile)
    with _writing(profile.name):
        if not replace and profile.name in _files():
            raise BadInput(
                f"There is a machine profile '{profile.name}' already; choose another name."
            )
        return _write(profile)


def change_profile(name: str, values: Mapping[str, Any]) -> Path:
    """Change values of a profile; concurrent changes of other values are kept, as are the parts of
    `cpus` that are not given. Raises BadInput or PongbenchError."""
    with _writing(name):
        before = msgspec.to_builtins(load_profile(name))
        changed = spelled_out(values)
        if "cpus" in changed:
            changed["cpus"] = {**before.get("cpus", {}), **changed["cpus"]}
        return _write(make_profile({**before, **changed}))


def duplicate_profile(name: str, new: str) -> Path:
    """Copy a profile. Raises BadInput when there is none, or the new name is taken or invalid."""
    copy = msgspec.structs.replace(load_profile(name), name=new)
    return save_profile(copy, replace=False)


def remove_profile(name: str) -> Trashed:
    """Move a profile to the trash. Raises BadInput for one that is not the user's own."""
    with _writing(name):
        if not is_own(name):
            load_profile(name)
            raise BadInput(f"'{name}' is shipped with Pongbench and cannot be removed.")
        return trash.discard([path_of(name)])


def folder() -> Path:
    """Return the folder of the user's own profiles; it may not exist yet."""
    return paths.config_dir() / "profiles"


def _writing(name: str) -> AbstractContextManager[None]:
    return stores.changing(folder(), f"{path_of(name)} cannot be written")


def _write(profile: Profile) -> Path:
    path = path_of(profile.name)
    stores.write(path, dumped(msgspec.to_builtins(profile), width=100))
    return path


def _files() -> dict[str, Path]:
    """Return the profiles by name; the user's own hide shipped ones."""
    folders = (paths.PROFILES, folder())
    found = {path.stem: path for folder in folders for path in folder.glob("*.yaml")}
    return {name: found[name] for name in sorted(found) if _NAME.fullmatch(name)}


@dataclass(frozen=True)
class Placement:
    """Cores by number, the same for every server of a run."""

    server: tuple[int, ...]
    agents: tuple[int, ...]
    shared: Stated | None = None


_BOTH: Sequence[Role] = ("target", "client")


def cores_in(text: str) -> str | list[int]:
    """Return the cores that a text names, such as "2, 4-7"; a text that names none as it is."""
    cores: list[int] = []
    for part in filter(None, re.split(r"[,\s]+", text)):
        found = re.fullmatch(r"(\d{1,4})(?:[-–](\d{1,4}))?", part)
        named = range(int(found[1]), int(found[2] or found[1]) + 1) if found else ()
        if not named:
            return text
        cores += named
    return cores or text


def place(
    cpus: Cpus, allowed: Sequence[int], *, machine: str, roles: Sequence[Role] = _BOTH
) -> Placement:
    """Place server and agents, or those of one role, on a machine. `auto`: the server gets the
    first allowed core that was not given to the agents, as it would without them, and the agents
    get all others; when none is left they share. Raises BadInput for a core that is not allowed."""
    targets, clients = "target" in roles, "client" in roles
    server = _given(cpus.server, allowed, "server", machine) if targets else ()
    agents = _given(cpus.agent, allowed, "agent", machine) if clients else ()
    if targets:
        server = server or tuple(n for n in allowed if n not in agents)[:1] or tuple(allowed[:1])
    if clients:
        agents = agents or tuple(n for n in allowed if n not in server) or server
    shared = sorted(set(server) & set(agents))
    said = notice("shared-cores", machine=machine, cores=shared) if shared else None
    return Placement(server, agents, said)


def _given(cores: Cores, allowed: Sequence[int], who: str, machine: str) -> tuple[int, ...]:
    if cores == "auto":
        return ()
    for core in cores:
        if core not in allowed:
            there = ", ".join(map(str, allowed))
            raise BadInput(
                f"profile {machine}, cpus.{who}: there is no core {core} to use; there are {there}."
            )
    return tuple(dict.fromkeys(cores))
