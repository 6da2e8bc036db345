"""Profiles a server.

Task: {method, pid, delay_s, seconds, rate, program, recording}; `program`: that of py-spy,
`recording`: the file of a JVM, in its working directory. Says `part` {data}: base64 of a compressed
piece of what the profiler wrote, one file after another, each ended by `file` {}; ready: {version,
from_s, to_s}.

Methods: py-spy and perf sample the server from outside. signal asks its own runtime (Node) by
SIGUSR2, once to begin and once to end. clock only tells when it was sampled, for a runtime that
samples all the time; flight-recorder then ends the server, which writes its recording.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
import signal
import time
import zlib
from pathlib import Path
from typing import Any

from . import Failed, last_line, ran, say

MOST_BYTES = 64 << 20
"""Of all files together."""
PIECE = 256 << 10
WRITTEN_WITHIN_S = 20.0
DENIED = "denied" if os.geteuid() else "denied-to-root"


def run(task: dict[str, Any]) -> dict[str, Any]:
    try:
        found, version = METHODS[task["method"]](task)
    except OSError as error:
        denied = isinstance(error, PermissionError)
        raise Failed(DENIED if denied else "failed", str(error)) from None
    for content in found:
        packed = base64.b64encode(zlib.compress(content[:MOST_BYTES])).decode()
        for begin in range(0, len(packed), PIECE):
            say(event="part", data=packed[begin : begin + PIECE])
        say(event="file")
    return {"version": version, **task.get("times", {})}


# -- from outside


def py_spy(task: dict[str, Any]) -> tuple[list[bytes], str]:
    time.sleep(task["delay_s"])
    output = os.path.join(task["work"], "py-spy.txt")
    program = task["program"]
    options = [f"--duration={round(task['seconds'])}", f"--rate={task['rate']}"]
    options += ["--subprocesses", "--nolineno", "--format=raw", f"--output={output}"]
    # Whoever is stopped while it waits in a system call has to run again to go on waiting, and on a
    # busy machine is then seen ready to run: accept and select get a third of the samples.
    options.append("--nonblocking")
    done = ran([program, "record", f"--pid={task['pid']}", *options], seconds=task["seconds"])
    if done.returncode:
        # Of processes that it may not trace it says only that there are none of Python.
        asked = ran([program, "dump", "--nonblocking", f"--pid={task['pid']}"], seconds=0)
        denied = "permission denied" in f"{done.stderr}{asked.stderr}".lower()
        first = (done.stderr.strip().splitlines() or ["no output"])[0]
        raise Failed(DENIED if denied else "failed", first.removeprefix("Error: "))
    return [Path(output).read_bytes()], ran([program, "--version"], seconds=0).stdout.split()[-1]


def perf(task: dict[str, Any]) -> tuple[list[bytes], str]:
    program = shutil.which("perf", path=f"{os.environ.get('PATH', '')}:/usr/bin:/usr/sbin")
    if not program:
        raise Failed("absent", "perf")
    time.sleep(task["delay_s"])
    output = os.path.join(task["work"], "perf.data")
    pids = ",".join(map(str, tree(task["pid"])))
    # A software clock: virtual machines often count no cycles. Only root may see into the kernel.
    event = "cpu-clock" if os.geteuid() == 0 else "cpu-clock:u"
    options = ["-q", f"-F{task['rate']}", "-e", event, "-g", "-p", pids, "-o", output]
    asleep = ["--", "sleep", str(task["seconds"])]
    done = ran([program, "record", *options, *asleep], seconds=task["seconds"])
    if done.returncode:
        said = done.stderr
        denied = re.search(r"perf_event_paranoid|permission|not permitted", said, re.IGNORECASE)
        lines = [line for line in said.splitlines() if line.strip(" -")]
        raise Failed(DENIED if denied else "failed", lines[-1] if lines else "no output")
    # Root does not trust a file that belongs to someone else; this one is ours.
    shown = ran([program, "script", "-f", "-i", output, "-F", "comm,ip,sym,dso"], seconds=60)
    version = re.search(r"\d+(\.\d+)+", ran([program, "--version"], seconds=0).stdout)
    return [shown.stdout.encode()], version[0] if version else ""


# -- from inside


def by_signal(task: dict[str, Any]) -> tuple[list[bytes], str]:
    time.sleep(task["delay_s"])
    asked = {pid: temporary(pid) for pid in tree(task["pid"]) if listens(pid)}
    if not asked:
        raise Failed("failed", "none of its processes takes SIGUSR2")
    for pid in asked:
        os.kill(pid, signal.SIGUSR2)
    time.sleep(task["seconds"])
    for pid in asked:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR2)
    files = [Path(folder, f"profile-{pid}") for pid, folder in asked.items()]
    until(lambda: all(file.exists() for file in files))
    found = [file.read_bytes() for file in files if file.exists()]
    if not any(found):
        raise Failed("failed", "it wrote no profile")
    return found, ""


def clock(task: dict[str, Any]) -> tuple[list[bytes], str]:
    time.sleep(task["delay_s"])
    begin = time.time()
    time.sleep(task["seconds"])
    task["times"] = {"from_s": begin, "to_s": time.time()}
    return [], ""


def flight_recorder(task: dict[str, Any]) -> tuple[list[bytes], str]:
    pids = [pid for pid in tree(task["pid"]) if program_of(pid) == "java"]
    if not pids:
        raise Failed("failed", "it is no process of java")
    pid = pids[0]
    recording = os.path.join(os.readlink(f"/proc/{pid}/cwd"), task["recording"])
    reader = os.path.join(os.path.dirname(os.readlink(f"/proc/{pid}/exe")), "jfr")
    if not os.access(reader, os.X_OK):
        raise Failed("absent", "jfr")
    os.kill(pid, signal.SIGTERM)
    if not until(lambda: ended(pid)):
        raise Failed("failed", "it did not end, so it wrote no recording")
    if not os.path.exists(recording):
        raise Failed("failed", "it wrote no recording")
    # Times of day are printed in the machine's own time zone.
    env = {"TZ": "UTC"}
    asked = ["--events", "jdk.ExecutionSample", "--stack-depth", "64"]
    done = ran([reader, "print", *asked, recording], env, seconds=120)
    if done.returncode:
        raise Failed("failed", last_line(done.stderr))
    version = re.search(r"\d+(\.\d+)*", ran([reader, "--version"], env, seconds=0).stdout)
    return [done.stdout.encode()], version[0] if version else ""


METHODS = {
    "py-spy": py_spy,
    "perf": perf,
    "signal": by_signal,
    "clock": clock,
    "flight-recorder": flight_recorder,
}


# -- processes


def tree(root: int) -> list[int]:
    """Return a process and all below it."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in b"ZX"
    except OSError:
        return True


def program_of(pid: int) -> str:
    """Return the name of the file it runs; empty: it is not known."""
    with contextlib.suppress(OSError):
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    return ""


def listens(pid: int) -> bool:
    """Return whether our file (`resources/apps`) was loaded into it; SIGUSR2 would end another
    program, or change what it does."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as status:
        caught = next((line for line in status if line.startswith("SigCgt:")), "SigCgt: 0")
        catches = int(caught.split()[1], 16) >> (signal.SIGUSR2 - 1) & 1
        return bool(catches) and program_of(pid) == "node"
    return False


def temporary(pid: int) -> str:
    """Return the directory for its temporary files."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        for pair in file.read().split(b"\0"):
            name, _, value = pair.partition(b"=")
            if name == b"TMPDIR":
                return value.decode()
    return "/tmp"


def until(condition: Any, seconds: float = WRITTEN_WITHIN_S) -> bool:
    """Wait until something holds; return whether it does."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
