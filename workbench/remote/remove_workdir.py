"""Runs on a machine: removes a directory if it is a work directory, or only reports its size.

A single file for the standard library of Python 3.10 or later. Arguments: a nonce, the directory,
and `look` to remove nothing. Output, after the nonce on a line of its own: {"bytes"} (its size) or
{"error"}.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys

OURS = {
    *("runs", "runtimes", "bundles", "tools", "wheels", "agents", "programs"),
    *("made", "building", "packages", "libraries"),
}
"""What a work directory may contain; other files belong to the user and are kept."""


def main() -> None:
    nonce, folder, *measure = sys.argv[1:]
    try:
        answer: dict[str, object] = {"bytes": size(folder) if measure else remove(folder)}
    except (OSError, ValueError) as error:
        answer = {"error": str(error)}
    os.write(1, f"\n{nonce}\n{json.dumps(answer)}\n".encode())


def remove(folder: str) -> int:
    if not os.path.isdir(folder):
        return 0
    others = sorted(set(os.listdir(folder)) - OURS)
    if others:
        raise ValueError(f"it contains {others[0]!r}, which is not Pongbench's")
    size_before = size(folder)
    for path, names, _ in os.walk(folder):
        for name in names:
            below = os.path.join(path, name)
            if not os.path.islink(below):
                os.chmod(below, 0o700)  # A runtime's directory may lack write permission.
    shutil.rmtree(folder)
    # The parent was created for it, if it holds nothing else.
    above = os.path.dirname(folder)
    if above == os.path.expanduser("~/.cache"):
        with contextlib.suppress(OSError):
            os.rmdir(above)
    return size_before


def size(folder: str) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # A run may be using it.
                total += os.lstat(os.path.join(path, name)).st_size
    return total


if __name__ == "__main__":
    main()
