"""Shows files in the desktop's file manager. For the engine's thread."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path

from workbench.errors import PongbenchError


async def reveal(path: Path) -> None:
    """Show a file in the file manager. Raises PongbenchError when there is none."""
    for command in _commands(path):
        with contextlib.suppress(OSError):
            process = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
            )
            if await process.wait() == 0 or sys.platform == "win32":
                return
    raise PongbenchError(f"No file manager was found. The file is {path}.")


def _commands(path: Path) -> list[list[str]]:
    if sys.platform == "win32":
        return [["explorer", f"/select,{path}"]]
    if sys.platform == "darwin":
        return [["open", "-R", str(path)]]
    shown = [
        *("gdbus", "call", "--session", "--dest", "org.freedesktop.FileManager1"),
        *("--object-path", "/org/freedesktop/FileManager1"),
        *("--method", "org.freedesktop.FileManager1.ShowItems", f"['{path.as_uri()}']", ""),
    ]
    return [shown, ["xdg-open", str(path.parent)]]
