"""How root privileges are obtained on a machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.machines.base import Machine
from workbench.machines.profiles import Profile
from workbench.machines.runner_client import whoami
from workbench.machines.secrets import Ask, Question, never_ask

Sudo: TypeAlias = Literal["none", "root", "nopasswd", "password"]
"""How root privileges are obtained: not at all, as root, by sudo without or with a password."""


@dataclass(frozen=True)
class Rights:
    """Root privileges on a machine."""

    sudo: Sudo
    question: Question | None = None
    """For sudo's password; see `machines.secrets`."""
    ask: Ask = never_ask
    options: Sequence[str] = ()
    """The tuner's state directory; see its docstring."""

    @classmethod
    def on(cls, machine: Machine, profile: Profile, ask: Ask = never_ask) -> Rights:
        """Return the privileges that the profile allows."""
        user = getattr(getattr(machine, "survey", None), "user", "")
        if user == "root" or (machine.is_local and os.geteuid() == 0):
            return cls("root")
        if profile.sudo == "passwordless":
            return cls("nopasswd")
        if profile.sudo == "no":
            return cls("none")
        account = f"{user or whoami()}@{profile.address or profile.name}"
        text = f"Password for sudo on {profile.name} ({account})"
        return cls("password", Question(profile.name, "sudo", account, text), ask)
