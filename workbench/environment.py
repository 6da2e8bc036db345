"""Secrets in the environment of this program, which the programs that it starts do not inherit."""

from __future__ import annotations

import os

PREFIX = "PONGBENCH_SECRET_"
"""Of variables with secrets of plans."""

_taken: dict[str, str] = {}


def take_secrets() -> None:
    """Move the secrets out of the environment, before the program starts others."""
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        _taken[name] = os.environ.pop(name)


def secret(name: str) -> str:
    """Return the secret of that name; empty: it is not in the environment."""
    variable = f"{PREFIX}{name}"
    return os.environ.get(variable) or _taken.get(variable, "")


def keep(name: str, value: str) -> None:
    """Know a secret of that name until this program ends."""
    _taken[f"{PREFIX}{name}"] = value
