"""Where hosts cannot be made: this computer's own OpenSSH, run by an ordinary user on loopback.

It is no other machine: it has no cable to cut, no files, settings or users of its own. What needs
none of those is tested all the same, with the same tests as the lab's hosts; those are
marked `anywhere`.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from lab.base import NoLab
from lab.configuration import PASSPHRASE
from lab.hosts import accepting, keygen

SSHD = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
"""


def find_sshd() -> str:
    """Raises NoLab where there is none that could be run."""
    found = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise NoLab("There is no sshd on this computer either.")
    if os.geteuid() == 0 and not Path("/run/sshd").is_dir():
        raise NoLab("The sshd of this computer needs /run/sshd when root runs it.")
    return found


class Loopback:
    """A lab of one host that is none."""

    def __init__(self, why: str) -> None:
        """`why` there is no other lab, a sentence."""
        self.why = why
        self.sshd = find_sshd()
        self.folder = Path(tempfile.mkdtemp(prefix="pongbench-sshd-"))
        self.key = self.folder / "id"
        self.locked_key = self.folder / "id_locked"
        keygen(self.key)
        keygen(self.locked_key, PASSPHRASE)
        keys = [path.with_suffix(".pub").read_text() for path in (self.key, self.locked_key)]
        (self.folder / "authorized_keys").write_text("".join(keys))
        self.hosts = [ThisHost(self)]

    def close(self) -> None:
        self.hosts[0].stop_sshd()
        shutil.rmtree(self.folder)


class ThisHost:
    """This computer, through an sshd of ours. As far as possible a `lab.hosts.Host`."""

    name = "h1"
    address = "127.0.0.1"
    began_s = 0

    def __init__(self, lab: Loopback) -> None:
        self.lab = lab
        self.folder = lab.folder
        self.user = getpass.getuser()
        self.work_dir = str(self.folder / "work")
        self.host_key = str(self.folder / "host_key")
        self.sshd_config = ""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.known_as = f"[127.0.0.1]:{self.port}"
        self._sshd: subprocess.Popen[bytes] | None = None
        self.new_host_key()
        self.start_sshd()

    def start_sshd(self) -> None:
        config = self.folder / "sshd_config"
        text = SSHD.format(port=self.port, folder=self.folder)
        config.write_text(f"{self.sshd_config}\n{text}")
        log = str(self.folder / "log")
        self._sshd = subprocess.Popen([self.lab.sshd, "-D", "-f", config, "-E", log])
        accepting(self.address, self.port)

    def stop_sshd(self) -> None:
        """Connections that are open stay."""
        if self._sshd:
            self._sshd.terminate()
            self._sshd.wait()
            self._sshd = None

    def restart_sshd(self) -> None:
        self.stop_sshd()
        self.start_sshd()

    def new_host_key(self) -> None:
        """In force from `restart_sshd` on."""
        for path in (Path(self.host_key), Path(f"{self.host_key}.pub")):
            path.unlink(missing_ok=True)
        keygen(Path(self.host_key))

    def run(self, *command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def read(self, path: str) -> str:
        return Path(path).read_text()

    def runs(self) -> list[str]:
        """What is left of runs."""
        return [str(path) for path in Path(self.work_dir).glob("runs/*")]

    def processes(self) -> dict[int, str]:
        """Command lines of all that came through our sshd, or was started by what did."""
        marks = (f" 127.0.0.1 {self.port}\0".encode(), f"={self.work_dir}/runs/".encode())
        found = {}
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit():
                    around = (folder / "environ").read_bytes()
                    state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if command and state not in "ZX" and any(mark in around for mark in marks):
                        found[int(folder.name)] = command.strip()
        return found

    def snapshot(self) -> OwnSnapshot:
        return OwnSnapshot(self)


class OwnSnapshot:
    """The processes there are; files and settings are those of everybody here."""

    def __init__(self, host: ThisHost) -> None:
        self.processes = sorted(host.processes().values())

    def since(self, before: OwnSnapshot, *, allowed: tuple[str, ...] = ()) -> list[str]:
        return [f"process: {text}" for text in self.processes if text not in before.processes]
