"""Passes files to the desktop: the trash and the file manager. For the engine's thread."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QFile

from workbench.errors import PongbenchError


def trash(paths: Iterable[Path]) -> str:
    """Move files to the trash. Returns one sentence about those that could not be moved; empty: all
    were.
    """
    left = [path for path in paths if not _moved(path)]
    if not left:
        return ""
    which = left[0].name if len(left) == 1 else f"{len(left)} sessions"
    return f"{which} could not be moved to the trash. Location: {left[0].parent}."


def _moved(path: Path) -> bool:
    moved = QFile.moveToTrash(str(path))
    return bool(moved[0] if isinstance(moved, tuple) else moved)


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
