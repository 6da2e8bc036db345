"""Opens the machine of a profile, local or over SSH."""

from __future__ import annotations

from workbench.machines.base import Machine
from workbench.machines.local import open_local
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Ask, never_ask


async def open_machine(
    profile: Profile, ask: Ask = never_ask, *, exclusive: bool = True
) -> Machine:
    """Open a machine. Raises PongbenchError; for SSH see `ssh.open_ssh`."""
    if profile.connector == "local":
        return await open_local(name=profile.name)
    from workbench.machines.ssh import open_ssh  # noqa: PLC0415  slow to import

    return await open_ssh(profile, ask=ask, exclusive=exclusive)
