"""The route to a machine: its jump hosts, from a profile and ~/.ssh/config."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import asyncssh

from workbench.errors import BadInput
from workbench.machines.profiles import Profile, load_profile, profile_names


@dataclass(frozen=True)
class Hop:
    """One machine on the route. Empty and 0: from ~/.ssh/config."""

    name: str
    """Its name in messages: the profile's, or the address."""
    address: str
    port: int = 0
    user: str = ""
    auth: str = "auto"
    key: str = ""
    ssh_config: bool = True


def route(profile: Profile) -> list[Hop]:
    """Return the machines on the route to a profile's, which comes last. Raises BadInput for a
    loop."""
    hops = [_hop(profile)]
    jump = profile.jump or _proxy_jump(hops[0])
    while jump and jump != "none":
        texts = [text.strip() for text in jump.split(",")]
        known = profile_names()
        via = [load_profile(text) if text in known else None for text in texts]
        before = [
            _hop(other) if other and other.connector == "ssh" else _jump(text, profile)
            for text, other in zip(texts, via, strict=True)
        ]
        if {hop.address for hop in before} & {hop.address for hop in hops}:
            if not profile.jump:  # "Host *" in ~/.ssh/config is not meant for the jump host itself.
                return hops
            raise BadInput(f"'{profile.name}' has a loop of jump hosts: {jump}.")
        hops = [*before, *hops]
        jump = (via[0].jump if via[0] else "") or _proxy_jump(hops[0])
    return hops


def _hop(profile: Profile) -> Hop:
    return Hop(
        profile.name,
        profile.address,
        profile.port,
        profile.user,
        profile.auth,
        str(Path(profile.key).expanduser()) if profile.key else "",
        profile.ssh_config,
    )


def _jump(text: str, profile: Profile) -> Hop:
    """Parse [user@]host[:port]."""
    user, _, place = text.rpartition("@")
    host, colon, port = place.rpartition(":")
    if not colon or not port.isdigit() or (":" in host and not host.startswith("[")):
        host, port = place, "0"
    host = host.strip("[]")
    return Hop(host, host, int(port), user, ssh_config=profile.ssh_config)


def config_of(hop: Hop) -> list[str] | None:
    path = Path("~/.ssh/config").expanduser()
    return [str(path)] if hop.ssh_config and path.is_file() else None


def _proxy_jump(hop: Hop) -> str:
    config = config_of(hop)
    if not config:
        return ""
    try:
        options = asyncssh.SSHClientConnectionOptions(
            host=hop.address, config=config, client_keys=None, known_hosts=b""
        )
    except (asyncssh.ConfigParseError, OSError, ValueError) as error:
        raise BadInput(f"{config[0]} cannot be used: {error}.") from None
    return options.tunnel if isinstance(options.tunnel, str) else ""
