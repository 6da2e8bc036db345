"""The uv included with Pongbench, which fetches packages and builds runtimes."""

from __future__ import annotations

import sys

from workbench import paths
from workbench.errors import PongbenchError


def uv_binary() -> str:
    """Return its path. Raises PongbenchError when it is missing."""
    import uv  # noqa: PLC0415  only a build needs it

    if getattr(sys, "frozen", False):
        return str(paths.SHIPPED / "bin" / "uv")
    try:
        return str(uv.find_uv_bin())
    except FileNotFoundError:
        raise PongbenchError(
            "uv, which builds the runtimes, is missing; install Pongbench again."
        ) from None
