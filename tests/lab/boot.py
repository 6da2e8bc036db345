"""The first process of a host of the lab: makes its file system, starts sshd, reaps.

Started in namespaces of its own. Argument: one JSON object {name, base, config, upper, address,
interface}. It prints "waiting" and continues when a line arrives: by then its end of the cable
is there. Then it prints "up". Its stdin ends with whoever started it, and the host ends with that.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

DEVICES = {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}


def main() -> None:
    host = json.loads(sys.argv[1])
    run("mount", "--make-rprivate", "/")
    say("waiting")
    sys.stdin.readline()
    for command in (
        ("link", "set", "lo", "up"),
        ("link", "set", host["interface"], "name", "eth0"),
        ("addr", "add", f"{host['address']}/24", "dev", "eth0"),
        ("addr", "add", f"{host['address6']}/64", "dev", "eth0", "nodad"),
        ("link", "set", "eth0", "up"),
    ):
        run("ip", *command)
    socket.sethostname(host["name"])
    enter(make_root(host))
    start_sshd()
    say("up")
    # From here on it only reaps processes and waits for the end of the lab.
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    while sys.stdin.readline():
        pass
    os.kill(-1, signal.SIGKILL)


def make_root(host: dict[str, str]) -> Path:
    upper = Path(host["upper"])
    for part in ("files", "work", "root"):
        (upper / part).mkdir(exist_ok=True)
    root = upper / "root"
    layers = f"lowerdir={host['config']}:{host['base']}"
    layers += f",upperdir={upper}/files,workdir={upper}/work"
    run("mount", "-t", "overlay", "overlay", "-o", layers, str(root))
    run("mount", "-t", "proc", "proc", f"{root}/proc")
    run("mount", "-t", "sysfs", "sysfs", f"{root}/sys")
    for folder, options in (
        ("dev", "mode=755"),
        ("run", "mode=755,size=32m"),
        ("tmp", "mode=1777,size=64m"),
    ):
        run("mount", "-t", "tmpfs", "-o", options, "tmpfs", f"{root}/{folder}")
    os.umask(0)
    for name, minor in DEVICES.items():
        os.mknod(root / "dev" / name, 0o20666, os.makedev(1, minor))
    os.mknod(root / "dev/tty", 0o20666, os.makedev(5, 0))
    os.umask(0o022)
    for name in ("pts", "shm"):
        (root / "dev" / name).mkdir()
    run("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666", "devpts", f"{root}/dev/pts")
    run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", f"{root}/dev/shm")
    (root / "dev/ptmx").symlink_to("pts/ptmx")
    for name, number in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (root / "dev" / name).symlink_to(f"/proc/self/fd{number}")
    return root


def enter(root: Path) -> None:
    """The host's root becomes ours, and what was there before is out of sight."""
    os.chdir(root)
    run("pivot_root", ".", "mnt")
    os.chdir("/")
    run("umount", "-l", "/mnt")


def start_sshd() -> None:
    Path("/run/sshd").mkdir(mode=0o755)
    run("/usr/sbin/sshd", "-E", "/run/sshd.log")


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def run(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
