"""The root file system of every host in the lab: Debian 12 with sshd, sudo and Python, no more.

Made once by debootstrap and kept in .tools/lab; hosts lay a file system of their own over it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / ".tools" / "lab"
BASE = TOOLS / "bookworm"
PACKAGES = "python3,openssh-server,sudo"
MIRROR = "http://deb.debian.org/debian"
PROGRAMS = ("ip", "unshare", "mount", "umount", "ssh-keygen", "apt-get", "dpkg-deb")


class NoLab(Exception):
    """Why there can be no lab here, in one sentence."""


def check() -> None:
    """Raises NoLab where hosts cannot be made."""
    if os.geteuid() != 0:
        raise NoLab("The lab's hosts need root.")
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        raise NoLab(f"The lab needs {', '.join(missing)}.")
    unshared = ["unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "true"]
    done = subprocess.run(unshared, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoLab(f"No namespaces can be made here: {done.stderr.strip()}.")


def base() -> Path:
    """The base, made if need be; that takes a minute and the network, once."""
    TOOLS.mkdir(parents=True, exist_ok=True)
    with (TOOLS / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not BASE.is_dir():
            part = TOOLS / "part"
            shutil.rmtree(part, ignore_errors=True)
            _debootstrap(part)
            part.rename(BASE)
    return BASE


def _debootstrap(target: Path) -> None:
    """With Debian's own, unpacked beside it; it is not installed. What it mounts is seen by nobody
    else, and gone with it when it is killed."""
    program = TOOLS / "debootstrap"
    if not program.is_dir():
        with tempfile.TemporaryDirectory(dir=TOOLS) as part:
            _download(Path(part), "debootstrap")
            (Path(part) / "files").rename(program)
    _run(
        [
            *("unshare", "--mount", "--fork", "--kill-child"),
            str(program / "usr/sbin/debootstrap"),
            "--variant=minbase",
            f"--include={PACKAGES}",
            "bookworm",
            str(target),
            MIRROR,
        ],
        env={**os.environ, "DEBOOTSTRAP_DIR": str(program / "usr/share/debootstrap")},
    )
    shutil.rmtree(target / "var/cache/apt", ignore_errors=True)
    shutil.rmtree(target / "var/lib/apt/lists", ignore_errors=True)
    for key in (target / "etc/ssh").glob("ssh_host_*"):
        key.unlink()


def nft() -> Path:
    """A folder with nft and the libraries it needs, to be run from here; fetched once."""
    needs = ("libnftables1", "libnftnl11", "libmnl0", "libjansson4", "libxtables12", "libgmp10")
    return _program("nft", "sbin", "nftables", *needs, "libedit2", "libbsd0", "libmd0")


def _program(name: str, where: str, *packages: str) -> Path:
    folder = TOOLS / name
    with (TOOLS / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=TOOLS) as part:
                _fetch(Path(part), name, where, packages)
                (Path(part) / name).rename(folder)
    return folder


def _fetch(part: Path, name: str, where: str, packages: tuple[str, ...]) -> None:
    _download(part, *packages)
    program = part / "files/usr" / where / name
    (libraries,) = {path.parent for path in part.glob("files/usr/lib/*/*.so.*")}
    also = {path.parent for path in part.glob("files/lib/*/*.so.*")}
    listed = subprocess.run(
        ["ldd", str(program)],
        env={**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, (libraries, *also)))},
        capture_output=True,
        text=True,
        check=True,
    )
    whole = part / name
    whole.mkdir()
    for file in (str(program), *re.findall(r"(/\S+) \(0x", listed.stdout)):
        shutil.copy(file, whole)


def _download(folder: Path, *packages: str) -> None:
    """Packages of Debian, unpacked in `folder`/files; nothing is installed."""
    apt = ["apt-get", "-qq", "-o=APT::Sandbox::User=", "download", *packages]
    _run(["apt-get", "-qq", "update"], check=False)
    _run(apt, cwd=folder)
    for package in folder.glob("*.deb"):
        _run(["dpkg-deb", "--extract", str(package), str(folder / "files")])


def _run(
    command: list[str],
    *,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    check: bool = True,
) -> None:
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, stdin=None
    )
    if check and done.returncode:
        tail = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NoLab(f"The lab's base cannot be made: {' '.join(tail)}.")
