"""Which host keys are trusted: our own file, and what `ssh` trusts. Only a person adds to it.

Our own file comes first: a key that a person has trusted here counts, whatever ~/.ssh says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import paths
from workbench.errors import PongbenchError, why

if TYPE_CHECKING:
    import asyncssh


@dataclass(frozen=True)
class Found:
    """The keys known for an address, and the file that says so."""

    trusted: Sequence[asyncssh.SSHKey] = ()
    authorities: Sequence[asyncssh.SSHKey] = ()
    revoked: Sequence[asyncssh.SSHKey] = ()
    file: Path | None = None

    def __bool__(self) -> bool:
        return bool(self.trusted or self.authorities or self.revoked)


class HostKeyProblem(PongbenchError):
    """A host showed a key that is not trusted. Nothing but its key has been looked at."""

    def __init__(self, sentence: str, machine: str, host: str, port: int, key: asyncssh.SSHKey):
        super().__init__(sentence)
        self.machine = machine
        """The profile, or the jump host's address."""
        self.host = host
        self.port = port
        self.key = key
        self.fingerprint = key.get_fingerprint("sha256")
        """"SHA256:..."."""


class UnknownHostKey(HostKeyProblem):
    """Never seen; `trust(error.host, error.port, error.key)` when the person says so."""


class ChangedHostKey(HostKeyProblem):
    """Not the one that is trusted. `old`: the fingerprints of those that are, `file`: where."""

    def __init__(
        self,
        sentence: str,
        machine: str,
        host: str,
        port: int,
        key: asyncssh.SSHKey,
        *,
        old: list[str],
        file: Path | None,
    ):
        super().__init__(sentence, machine, host, port, key)
        self.old = old
        self.file = file


def own_file() -> Path:
    """Where trusted keys are kept, in the format of OpenSSH."""
    return paths.config_dir() / "known_hosts"


def known(host: str, address: str, port: int | None) -> Found:
    """What is known of a host. `address`: its IP address, where known."""
    for file in (own_file(), Path("~/.ssh/known_hosts").expanduser(), _OF_THE_SYSTEM):
        found = _look_up(file, host, address, port)
        if found:
            return found
    return Found()


def problem(machine: str, host: str, address: str, port: int, key: asyncssh.SSHKey) -> Exception:
    """What to raise for a key that is not trusted."""
    found = known(host, address, None if port == 22 else port)
    where = host if port == 22 else f"{host} port {port}"
    shown = f"{key.get_algorithm()} {key.get_fingerprint('sha256')}"
    if not found.trusted:
        return UnknownHostKey(
            f"'{machine}' at {where} shows a host key that is not known yet: {shown}; compare it"
            " with the one on the machine itself, then trust it.",
            machine,
            host,
            port,
            key,
        )
    old = list(dict.fromkeys(old_key.get_fingerprint("sha256") for old_key in found.trusted))
    return ChangedHostKey(
        f"The host key of '{machine}' at {where} has changed: known is {', '.join(old)}, now it"
        f" shows {shown}; either the machine was set up anew or somebody stands between. Nothing"
        " was sent to it; trust the new key only if you know why it changed.",
        machine,
        host,
        port,
        key,
        old=old,
        file=found.file,
    )


def trust(host: str, port: int, key: asyncssh.SSHKey) -> None:
    """From now on this key, and no other, is the host's. Raises PongbenchError."""
    name = host if port == 22 else f"[{host}]:{port}"
    line = " ".join([name, *key.export_public_key("openssh").decode().split()[:2]])
    file = own_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        kept = [other for other in lines if other.partition(" ")[0] != name]
        part = file.with_name(".known_hosts.part")
        part.write_text("".join(f"{text}\n" for text in [*kept, line]), "utf-8")
        part.chmod(0o600)
        part.replace(file)
    except OSError as error:
        raise PongbenchError(f"{file} cannot be written: {why(error)}.") from None


_OF_THE_SYSTEM = Path("/etc/ssh/ssh_known_hosts")


def _look_up(file: Path, host: str, address: str, port: int | None) -> Found:
    import asyncssh  # noqa: PLC0415  slow to import, and not every run is over SSH

    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return Found()
    try:
        listed = asyncssh.import_known_hosts("\n".join(lines))
    except ValueError:
        listed = asyncssh.import_known_hosts("\n".join(filter(_readable, lines)))
    trusted, authorities, revoked, *_ = asyncssh.match_known_hosts(listed, host, address, port)
    return Found(trusted, authorities, revoked, file)


def _readable(line: str) -> bool:
    """A line that nobody can read says nothing about the others."""
    import asyncssh  # noqa: PLC0415

    try:
        asyncssh.import_known_hosts(line)
    except ValueError:
        return False
    return True
