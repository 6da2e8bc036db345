"""The interpreter of a bundle as a runtime, for servers that need only the standard library or
gevent: a comparison then runs without an installed Python."""

from __future__ import annotations

import contextlib
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from workbench import paths
from workbench.machines.base import Machine
from workbench.machines.local import LocalMachine
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes import Runtime

OFFERED = ("gevent", "greenlet", "zope-event", "zope-interface", "cffi", "pycparser")
"""Packages included with the load agent, by normalised name; the last two on Windows only."""


def bundled_runtime(machine: Machine, entry: ServerEntry) -> Runtime | None:
    """Return the runtime; None: not frozen, another machine, or the server needs other packages."""
    if not getattr(sys, "frozen", False) or not isinstance(machine, LocalMachine):
        return None
    wanted = entry.pinned
    if not set(wanted) <= set(OFFERED):
        return None
    packages = {}
    for name in wanted:
        with contextlib.suppress(PackageNotFoundError):
            packages[name] = version(name)
    return Runtime(
        placeholders={"python": paths.PYTHON, "venv": str(paths.SHIPPED)},
        name=f"CPython {platform.python_version()}, Pongbench's own",
        packages=packages,
    )
