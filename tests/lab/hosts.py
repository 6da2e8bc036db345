"""Several machines on one: each with its own files, processes, network, clock and OpenSSH.

Hosts are reached at 10.213.N.11 and up, N being the lab's number, so that labs do not disturb each
other. A host ends with the process that made it, whatever happens to that.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from lab.base import base
from lab.configuration import PASSPHRASE, PASSWORD, layer, sshd_config
from lab.snapshots import Snapshot

BOOT = Path(__file__).with_name("boot.py")
DISK_MB = 256
INSIDE = ("-m", "-u", "-i", "-n", "-p", "-T", "-r", "-w", "--")
OWN = ("/usr/sbin/sshd", "sshd:", "boot.py")
"""Processes of a host that are its own: what its command line begins with or contains."""


class Host:
    """One machine. Faults are methods; each has one that ends it."""

    user = "bench"
    port = 0
    """sshd's own."""
    work_dir = "/home/bench/.cache/pongbench"
    host_key = "/etc/ssh/host_key"

    def __init__(self, lab: Lab, number: int) -> None:
        self.lab = lab
        self.number = number
        self.name = f"h{number}"
        self.address = f"10.213.{lab.number}.{10 + number}"
        self.address6 = f"fd13:{lab.number}::{10 + number}"
        self.folder = lab.folder / self.name
        self.known_as = self.address
        self.began_s = number * 100_000
        """So much before this computer, by its own clock."""
        self.cable = f"pb{lab.number}h{number}"
        self.sshd_config = ""
        """Lines that come before ours; in force from `restart_sshd` or `reboot` on."""
        self._boot: subprocess.Popen[str] | None = None
        self.pid = 0
        self.folder.mkdir()
        self.new_host_key()

    # -- its life

    def start(self) -> None:
        """Returns when sshd accepts connections."""
        lab = self.lab
        config = layer(self)
        upper = self.folder / "upper"
        upper.mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"mode=755,size={DISK_MB}m", "tmpfs", str(upper))
        peer = f"{self.cable}p"
        mac = _mac(lab.number, self.number)  # the same after a reboot, as of any machine
        kind = ("type", "veth", "peer", "name", peer, "address", mac)
        _run("ip", "link", "add", self.cable, *kind)
        offset = str(self.began_s)
        what = {
            "name": self.name,
            "base": str(lab.base),
            "config": str(config),
            "upper": str(upper),
            "address": self.address,
            "address6": self.address6,
            "interface": peer,
        }
        with (self.folder / "console").open("w") as console:
            self._boot = subprocess.Popen(
                [
                    *("unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork"),
                    *(("--time", "--monotonic", offset) if _clocks() else ()),
                    *("--kill-child", sys.executable, "-I", "-S", str(BOOT), json.dumps(what)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=console,
                text=True,
                start_new_session=True,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"},
            )
        assert self._boot.stdin and self._boot.stdout
        self._expect(self._boot.stdout, "waiting")
        self.pid = _first_child(self._boot.pid)
        _run("ip", "link", "set", peer, "netns", str(self.pid))
        _run("ip", "link", "set", self.cable, "master", lab.bridge, "up")
        self._boot.stdin.write("go\n")
        self._boot.stdin.flush()
        self._expect(self._boot.stdout, "up")
        accepting(self.address)

    def stop(self) -> None:
        """As if the plug were pulled: no peer is notified."""
        if self._boot is None:
            return
        with contextlib.suppress(subprocess.CalledProcessError):
            _run("ip", "link", "del", self.cable)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._boot.communicate()
        self._boot = None
        _run("umount", "-l", str(self.folder / "upper"))
        (self.folder / "upper").rmdir()

    def reboot(self) -> None:
        """What was written to its disk is lost, too."""
        self.stop()
        self.start()

    def resize(self, megabytes: int) -> None:
        """Change the size of its disk, which is in memory as far as it is used."""
        _run("mount", "-o", f"remount,size={megabytes}m", str(self.folder / "upper"))

    def lose_ipv4(self) -> None:
        """It is reached over IPv6 alone, until `gain_ipv4`."""
        self._in_net("ip", "-4", "addr", "flush", "dev", "eth0")

    def gain_ipv4(self) -> None:
        self._in_net("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")

    # -- faults

    def cut(self) -> None:
        """Pull the cable; both ends notice."""
        _run("ip", "link", "set", self.cable, "down")

    def heal(self) -> None:
        _run("ip", "link", "set", self.cable, "up")

    def black_hole(self) -> None:
        """Packets vanish; nobody notices."""
        _run("ip", "link", "set", self.cable, "nomaster")

    def end_black_hole(self) -> None:
        _run("ip", "link", "set", self.cable, "master", self.lab.bridge)

    def slow(self, rate: str) -> None:
        """The bandwidth towards it: "2mbit"."""
        shape = ("tbf", "rate", rate, "burst", "32kb", "latency", "400ms")
        _run("tc", "qdisc", "replace", "dev", self.cable, "root", *shape)

    def end_slow(self) -> None:
        _run("tc", "qdisc", "del", "dev", self.cable, "root")

    def reset(self, *filter: str) -> None:
        """Kill its TCP connections that `ss` finds by the filter."""
        self._in_net("ss", "-K", *filter)

    def freeze(self) -> None:
        """Freeze every process; the clock continues."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def stop_sshd(self) -> None:
        """Connections that are open stay."""
        self.run("sh", "-c", "kill $(cat /run/sshd.pid)")
        _until(lambda: not Path(f"/proc/{self.pid}/root/run/sshd.pid").exists())

    def start_sshd(self) -> None:
        config = sshd_config(self)
        self.write("/etc/ssh/sshd_config", config)
        self.run("/usr/sbin/sshd", "-E", "/run/sshd.log")
        accepting(self.address)

    def restart_sshd(self) -> None:
        self.stop_sshd()
        self.start_sshd()

    def new_host_key(self) -> None:
        """In force from `restart_sshd` or `reboot` on."""
        key = self.folder / "host_key"
        for path in (key, key.with_suffix(".pub")):
            path.unlink(missing_ok=True)
        keygen(key)
        if self._boot:
            self.write("/etc/ssh/host_key", key.read_text(), mode=0o600)

    def fill(self, folder: str = "/tmp", *, but_pages: int = 0) -> None:
        """No byte is left on that file system, or only a few pages."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self.run("dd", "if=/dev/zero", f"of={folder}/.full", "bs=4k")
        if but_pages:
            self.run("truncate", "-s", f"-{4096 * but_pages}", f"{folder}/.full")

    def end_fill(self, folder: str = "/tmp") -> None:
        self.run("rm", "-f", f"{folder}/.full")

    # -- independent inspection

    def run(self, *command: str) -> str:
        """Run something there as root, past SSH; its output. Raises CalledProcessError."""
        done = subprocess.run(
            ["nsenter", "-t", str(self.pid), *INSIDE, *command],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"},
        )
        return done.stdout

    def write(self, path: str, text: str, *, mode: int = 0o644, owner: int = 0) -> None:
        file = Path(f"/proc/{self.pid}/root{path}")
        file.write_text(text)
        file.chmod(mode)
        os.chown(file, owner, owner)

    def read(self, path: str) -> str:
        return Path(f"/proc/{self.pid}/root{path}").read_text()

    def runs(self) -> list[str]:
        """What is left of runs."""
        return self.find(("/home/bench", "/root"), "-path", "*/runs/*")

    def find(self, folders: Sequence[str], *tests: str) -> list[str]:
        """The lines `find` prints; files may vanish meanwhile."""
        return self.run("find", *folders, "-ignore_readdir_race", *tests).splitlines()

    def snapshot(self) -> Snapshot:
        """Everything a program could leave behind, as it is now."""
        return Snapshot(self)

    def processes(self) -> dict[int, str]:
        """Command lines of all that is not the host's own."""
        found = {}
        for pid in self.pids():
            folder = Path(f"/proc/{pid}")
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                # One that is just dying has no command line any more.
                alive = command and state not in "ZX"
                if alive and not any(own in command for own in OWN):
                    found[pid] = command.strip()
        return found

    def pids(self) -> Iterator[int]:
        """Of all its processes, its own among them."""
        space = Path(f"/proc/{self.pid}/ns/pid").readlink()
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and (folder / "ns/pid").readlink() == space:
                    yield int(folder.name)

    def _signal_all(self, number: int) -> None:
        for _ in range(3):  # those that were being born
            for pid in self.pids():
                with contextlib.suppress(OSError):
                    os.kill(pid, number)

    def _in_net(self, *command: str) -> None:
        _run("nsenter", "-t", str(self.pid), "-n", *command)

    def _expect(self, stream: IO[str], word: str) -> None:
        if stream.readline().strip() != word:
            console = (self.folder / "console").read_text()[-2000:]
            raise RuntimeError(f"{self.name} did not come up: {console}")


class Lab:
    """A bridge with this computer and the hosts on it."""

    def __init__(self) -> None:
        self.base = base()
        self.number, self._lock = _number()
        self.bridge = f"pb{self.number}"
        self.gateway = f"10.213.{self.number}.1"
        self.folder = Path(tempfile.mkdtemp(prefix="pongbench-lab-"))
        self.hosts: list[Host] = []
        self.key = self.folder / "id"
        self.locked_key = self.folder / "id_locked"
        keygen(self.key)
        keygen(self.locked_key, PASSPHRASE)
        self.authorized_keys = "".join(
            path.with_suffix(".pub").read_text() for path in (self.key, self.locked_key)
        )
        openssl = subprocess.run(
            ["openssl", "passwd", "-6", "-salt", "salt", PASSWORD],
            capture_output=True,
            text=True,
            check=True,
        )
        self.password_hash = openssl.stdout.strip()
        _remove_bridge(self.bridge)
        _run("ip", "link", "add", self.bridge, "address", _mac(self.number, 0), "type", "bridge")
        _run("ip", "link", "set", self.bridge, "type", "bridge", "forward_delay", "0")
        _run("ip", "addr", "add", f"{self.gateway}/24", "dev", self.bridge)
        own = f"fd13:{self.number}::1/64"
        _run("ip", "addr", "add", own, "dev", self.bridge, "nodad")
        _run("ip", "link", "set", self.bridge, "up")

    def add(self, count: int) -> list[Host]:
        """Start more hosts."""
        first = len(self.hosts) + 1
        new = [Host(self, number) for number in range(first, first + count)]
        self.hosts += new
        for host in new:
            host.start()
        return new

    def close(self) -> None:
        for host in self.hosts:
            host.stop()
        _remove_bridge(self.bridge)
        shutil.rmtree(self.folder)
        self._lock.close()


def _number() -> tuple[int, IO[str]]:
    """One that no other lab has, and the lock that says so."""
    for number in range(100, 250):
        lock = Path(f"/run/pongbench-lab-{number}").open("w")  # noqa: SIM115  held while it lives
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return number, lock
        except OSError:
            lock.close()
    raise RuntimeError("150 labs are open.")


def _mac(lab: int, host: int) -> str:
    """Of a host, or of the bridge (0): without one it takes that of a cable, which would then hear
    in a black hole."""
    return f"02:50:42:00:{lab:02x}:{host:02x}"


def _remove_bridge(bridge: str) -> None:
    """With the cables a killed lab left."""
    for folder in Path("/sys/class/net").iterdir():
        name = folder.name
        if name == bridge or name.startswith(f"{bridge}h"):
            with contextlib.suppress(subprocess.CalledProcessError):
                _run("ip", "link", "del", name)


def keygen(path: Path, passphrase: str = "") -> None:
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "lab", "-f", str(path))


def _clocks() -> bool:
    return Path("/proc/self/ns/time").exists()


def _first_child(pid: int) -> int:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return int(text.split()[0])


def accepting(address: str, port: int = 22) -> None:
    """Return when something listens there."""

    def tried() -> bool:
        with contextlib.suppress(OSError), socket.create_connection((address, port), 1):
            return True
        return False

    _until(tried)


def _until(condition: object, within_s: float = 60.0) -> None:
    assert callable(condition)
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
