"""Sets kernel settings of this host for the duration of a run, and restores them in any case.

A single file, standard library, Python 3.10; runs as root, usually under sudo.

    tuner.py [--state DIR] [--settings DIR]            until stdin ends, then restores everything
    tuner.py [--state DIR] [--settings DIR] --restore  restore what a crash left changed

In, JSON lines:
    {"op": "apply", "settings": {KEY: VALUE}, "holder": TEXT, "lease_s": S, "nofile": [PID, N]}
        once; nofile, optional, raises the hard descriptor limit of a process and of the children
        it starts from then on
    {"op": "hb"}        within every lease
    {"op": "restore"}   restore everything and exit
Out, JSON lines:
    {"ev": "ready"}               it is running as root
    {"ev": "busy", "holder"}      the settings of another run are in force; the program exits
    {"ev": "applied", "settings": [{"key", "old", "wanted", "got", "problem"}], "nofile": TEXT}
    {"ev": "restored", "settings": [{"key", "value", "problem"}]}
    {"ev": "fatal", "text"}

A dead man's switch: the end of stdin, a missed lease, SIGTERM and SIGHUP restore. Two processes
watch each other, so that the death of one restores as well; after the death of both, `--restore`
does. Old values are written to a journal before they are changed. A value that another program has
changed in the meantime is kept. The journal is in /run: a reboot clears both it and the settings.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
STATE = "/run/pongbench"
SETTINGS = "/proc/sys"


class Ended(Exception):
    """A signal requested the end."""


class Tuning:
    """Kernel settings by their sysctl names, and a journal of the values to restore:
    {key: {"old", "ours"}}, `ours` null while it is being written. The lock must be held."""

    def __init__(self, settings: str, state: str) -> None:
        self.root, self.state = Path(settings), Path(state)
        self.journal = self.state / "journal.json"

    def path(self, key: str) -> Path:
        parts = key.split(".")
        if not all(part.replace("_", "").replace("-", "").isalnum() for part in parts):
            raise ValueError(f"{key!r} is no name of a setting")
        return self.root.joinpath(*parts)

    def read(self, key: str) -> str:
        return " ".join(self.path(key).read_text().split())

    def write(self, key: str, value: str) -> None:
        with self.path(key).open("w") as file:
            file.write(value)

    def load(self) -> dict[str, dict[str, Any]]:
        try:
            return dict(json.loads(self.journal.read_text()))
        except FileNotFoundError:
            return {}

    def save(self, entries: dict[str, dict[str, Any]]) -> None:
        if not entries:
            self.journal.unlink(missing_ok=True)
            return
        new = self.journal.with_suffix(".new")
        try:
            with new.open("w") as file:
                os.fchmod(file.fileno(), 0o644)  # Users who may not tune may read what is tuned.
                json.dump(entries, file)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.journal)
        except OSError:
            new.unlink(missing_ok=True)
            raise

    def apply(self, wanted: dict[str, str]) -> list[dict[str, Any]]:
        """Journal, write and read back each setting. Returns one answer per setting."""
        entries, answers = self.load(), []
        for key, raw in wanted.items():
            value = " ".join(str(raw).split())
            answer: dict[str, Any] = {"key": key, "old": None, "wanted": value, "got": None}
            answers.append(answer)
            problem = ""
            try:
                old = answer["old"] = self.read(key)
                if old != value:
                    self.save({**entries, key: {"old": old, "ours": None}})
                    entries[key] = {"old": old, "ours": None}
                    try:
                        self.write(key, value)
                    finally:
                        answer["got"] = self.read(key)
                        entries[key]["ours"] = answer["got"]
                        if answer["got"] == old:
                            del entries[key]
                        self.save(entries)
                answer["got"] = self.read(key)
            except FileNotFoundError:
                problem = "absent"
            except (OSError, ValueError) as error:
                problem = _words(error)
            answer["problem"] = problem
        return answers

    def restore(self) -> list[dict[str, str]]:
        """Restore what the journal holds; one answer per setting."""
        entries, answers = self.load(), []
        for key, entry in list(entries.items()):
            problem = value = ""
            try:
                value = self.read(key)
                if value in (entry["ours"], entry["old"]) or entry["ours"] is None:
                    if value != entry["old"]:
                        self.write(key, entry["old"])
                        value = self.read(key)
                else:
                    problem = "changed by another program"
                del entries[key]
            except FileNotFoundError:
                problem = "absent"
                del entries[key]
            except (OSError, ValueError) as error:
                problem = _words(error)  # It stays in the journal.
            answers.append({"key": key, "value": value, "problem": problem})
        with contextlib.suppress(OSError):  # The older journal has all that is needed, and more.
            self.save(entries)
        return answers

    def finish(self) -> None:
        answers = self.restore()
        self.leave()
        emit({"ev": "restored", "settings": answers})

    def leave(self) -> None:
        """Remove the state directory where nothing is left to restore."""
        if not self.journal.exists():
            (self.state / "lock").unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.state.rmdir()

    def lock(self, holder: str) -> int | None:
        """Take the lock. None: another program holds it, which was reported."""
        path = self.state / "lock"
        while True:
            self.state.mkdir(mode=0o755, exist_ok=True)
            self.state.chmod(0o755)  # Whatever umask sudo set.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                emit({"ev": "busy", "holder": os.read(descriptor, 500).decode("utf-8", "replace")})
                os.close(descriptor)
                return None
            with contextlib.suppress(FileNotFoundError):
                if os.fstat(descriptor).st_ino == path.stat().st_ino:
                    try:
                        os.ftruncate(descriptor, 0)
                        os.pwrite(descriptor, holder.encode(), 0)
                    except OSError:  # Without free space there is no journal to restore either.
                        self.leave()
                        raise
                    return descriptor
            os.close(descriptor)  # Its last holder removed it at this moment.


def raise_nofile(pid: int, limit: int) -> str:
    """Raise a process's hard descriptor limit. Returns what failed; empty: nothing."""
    try:
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < limit:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, limit))
    except (OSError, ValueError) as error:
        return _words(error)
    return ""


def emit(event: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # The reader has gone.
        os.write(1, json.dumps(event).encode() + b"\n")


class Lines:
    """Complete lines of stdin, waited for no longer than the lease."""

    def __init__(self) -> None:
        self.waiting = b""

    def next(self, within_s: float) -> dict[str, Any] | None:
        """Return the next line; None: stdin ended, or the lease ran out."""
        until = time.monotonic() + within_s
        while b"\n" not in self.waiting:
            ready, _, _ = select.select([0], [], [], max(0.0, until - time.monotonic()))
            more = os.read(0, 65536) if ready else b""
            if not more:
                return None
            self.waiting += more
        line, _, self.waiting = self.waiting.partition(b"\n")
        return dict(json.loads(line))


def serve(tuning: Tuning, lines: Lines, order: dict[str, Any]) -> None:
    try:
        tuning.restore()  # Left by a crashed run; no other tuner is running.
        emit(
            {
                "ev": "applied",
                "settings": tuning.apply(order["settings"]),
                "nofile": raise_nofile(*order["nofile"]) if order.get("nofile") else "",
            }
        )
        lease_s = float(order.get("lease_s", 4))
        while (line := lines.next(lease_s)) is not None and line.get("op") != "restore":
            pass
    except Ended:
        pass
    finally:
        on_signals(signal.SIG_IGN)
        tuning.finish()


def on_signals(handler: Any) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, handler)


def end(number: int, frame: object) -> None:
    raise Ended


def run(tuning: Tuning) -> None:
    lines = Lines()
    order = lines.next(30.0)
    if order is None or order.get("op") != "apply":
        return
    if tuning.lock(str(order.get("holder", ""))) is None:
        return
    guardian = os.getpid()
    child = os.fork()
    if child:
        os.close(0)
        on_signals(signal.SIG_IGN)  # The child handles its own.
        _, status = os.waitpid(child, 0)
        if status:  # It did not end properly: restore in its place.
            tuning.finish()
        return
    on_signals(end)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGTERM), 0, 0, 0)
    if os.getppid() == guardian:
        serve(tuning, lines, order)
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Pongbench tuner")
    parser.add_argument("--state", default=STATE)
    parser.add_argument("--settings", default=SETTINGS)
    parser.add_argument("--restore", action="store_true")
    arguments = parser.parse_args()
    os.umask(0o022)  # Any user may see that the host is tuned.
    emit({"ev": "ready"})
    tuning = Tuning(arguments.settings, arguments.state)
    try:
        if not arguments.restore:
            run(tuning)
        elif not tuning.journal.exists():
            emit({"ev": "restored", "settings": []})
        elif tuning.lock("clean-up") is not None:
            tuning.finish()
    except (OSError, ValueError) as error:
        emit({"ev": "fatal", "text": _words(error)})
        sys.exit(1)


def _words(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


if __name__ == "__main__":
    main()
