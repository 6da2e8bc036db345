"""The route to a machine: its jump hosts, from a profile and ~/.ssh/config."""

from __future__ import annotations

from dataclasses import dataclass

from workbench import paths
from workbench.errors import BadInput
from workbench.machines.endpoints import Endpoint
from workbench.machines.profiles import Profile, load_profile, profile_names
from workbench.machines.sshconfig import Settings, settings_for


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


def route(profile: Profile) -> list[tuple[Hop, Settings]]:
    """Return the machines on the route to a profile's, which comes last, with their settings.

    Raises BadInput for a loop, and PongbenchError for a configuration that cannot be used.
    """
    hops = [_set(_hop(profile))]
    jump = profile.jump or hops[0][1].jump
    while jump and jump != "none":
        texts = [text.strip() for text in jump.split(",")]
        known = profile_names()
        via = [load_profile(text) if text in known else None for text in texts]
        before = [
            _hop(other) if other and other.connector == "ssh" else _jump(text, profile)
            for text, other in zip(texts, via, strict=True)
        ]
        if {hop.address for hop in before} & {hop.address for hop, _ in hops}:
            if not profile.jump:  # "Host *" in ~/.ssh/config is not meant for the jump host itself.
                return hops
            raise BadInput(f"'{profile.name}' has a loop of jump hosts: {jump}.")
        hops = [*map(_set, before), *hops]
        jump = (via[0].jump if via[0] else "") or hops[0][1].jump
    return hops


def _set(hop: Hop) -> tuple[Hop, Settings]:
    return hop, settings_for(
        hop.name, hop.address, user=hop.user, port=hop.port, use=hop.ssh_config
    )


def _hop(profile: Profile) -> Hop:
    return Hop(
        profile.name,
        profile.address,
        profile.port,
        profile.user,
        profile.auth,
        str(paths.expanded(profile.key)) if profile.key else "",
        profile.ssh_config,
    )


def _jump(text: str, profile: Profile) -> Hop:
    try:
        found = Endpoint.parse(text)
    except ValueError:
        raise BadInput(
            f"'{profile.name}' is reached through {text!r}, which is not [user@]host[:port]."
        ) from None
    return Hop(found.host, found.host, found.port, found.user, ssh_config=profile.ssh_config)
