"""Runs on a machine: unpacks a tar stream from stdin into a run's directory, or through it into the
work directory.

A single file for the standard library of Python 3.10 or later. Arguments: a nonce, the run
directory, the target (relative to it), and a destination (empty, or absolute: the target is renamed
to it when it is complete; a complete one already there is kept). Output: the nonce on a line of its
own, then {"path"} or {"error"}. It gives up when nothing arrives for several seconds, or when the
run has ended, because its directory has been removed then.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import sys
import tarfile
import time

SILENCE_S = 4.0


class Stream:
    """stdin as a file, with a time limit."""

    def read(self, size: int) -> bytes:
        deadline = time.monotonic() + SILENCE_S
        while not select.select([0], [], [], 0.5)[0]:
            if os.stat(".").st_nlink == 0:
                raise OSError(0, "the run is over")
            if time.monotonic() > deadline:
                raise OSError(0, "nothing came any more")
        return os.read(0, size)


def main() -> None:
    nonce, run_dir, target, place = sys.argv[1:]
    os.umask(0o022 if place else 0o077)
    try:
        os.chdir(run_dir)  # Relative from here on, so that a removed run stays removed.
        answer = {"path": receive(target, place) or os.path.join(run_dir, target)}
    except (OSError, tarfile.TarError, EOFError) as error:
        text = getattr(error, "strerror", None) or str(error)
        name = getattr(error, "filename", None)
        answer = {"error": f"{text}: {name}" if name else text}
    os.write(1, f"\n{nonce}\n{json.dumps(answer)}\n".encode())


def receive(target: str, place: str) -> str:
    with tarfile.open(fileobj=Stream(), mode="r|*") as archive:  # type: ignore[call-overload]
        if hasattr(tarfile, "fully_trusted_filter"):
            archive.extraction_filter = tarfile.fully_trusted_filter
        for member in archive:
            member.name = os.path.normpath(os.path.join(target, member.name))
            member.uid, member.gid = os.getuid(), os.getgid()
            # Not left to tarfile, because other processes may create them concurrently.
            os.makedirs(os.path.dirname(member.name) or ".", exist_ok=True)
            archive.extract(member, ".", set_attrs=not member.isdir())
    if not place:
        return ""
    os.makedirs(os.path.dirname(place), exist_ok=True)
    try:
        os.rename(target, place)
    except OSError:
        if os.path.exists(os.path.join(place, ".whole")):
            shutil.rmtree(target, ignore_errors=True)  # Another process was faster.
        else:
            shutil.rmtree(place, ignore_errors=True)  # It was partly removed.
            os.rename(target, place)
    return place


if __name__ == "__main__":
    main()
