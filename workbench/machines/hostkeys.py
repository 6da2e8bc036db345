"""Which host keys are trusted: our own file, and what `ssh` trusts. Only the user adds keys.

What `ssh -o StrictHostKeyChecking=yes` refuses is refused here. Our own file takes precedence:
for a host that it knows, other files count only where they revoke a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import paths, stores
from workbench.errors import PongbenchError
from workbench.machines import knownhosts
from workbench.machines.knownhosts import Entry

if TYPE_CHECKING:
    import asyncssh

    from workbench.machines.hostkeyrules import Rules


@dataclass(frozen=True)
class Known:
    trusted: Sequence[Entry] = ()
    """Trusted keys of its name; if there are none, of its name without the port."""
    authorities: Sequence[Entry] = ()
    revoked: Sequence[Entry] = ()
    elsewhere: bool = False
    """Whether `trusted` are of the name without the port: another key is then no changed one."""


class HostKeyProblem(PongbenchError):
    """A host showed a key that is not trusted. Nothing but its key was read."""

    def __init__(
        self,
        sentence: str,
        machine: str,
        host: str,
        port: int,
        key: asyncssh.SSHKey,
        *,
        trusted: Sequence[Entry] = (),
    ):
        super().__init__(sentence)
        self.machine = machine
        """The profile, or the jump host's address."""
        self.host = host
        self.port = port
        self.key = key
        self.fingerprint = key.get_fingerprint("sha256")
        """"SHA256:..."."""
        self.old = list(dict.fromkeys(knownhosts.fingerprint(entry.key) for entry in trusted))
        """The trusted fingerprints, if it differs from them."""
        self.file = trusted[0].file if trusted else None
        """Where they are."""


class UnknownHostKey(HostKeyProblem):
    """An unknown host key; `trust(error.host, error.port, error.key)` if the user accepts it."""


class ChangedHostKey(HostKeyProblem):
    """The key differs from the trusted ones."""


def own_file() -> Path:
    """Return the path of our own trusted keys, in the format of OpenSSH."""
    return paths.config_dir() / "known_hosts"


def known(rules: Rules) -> Known:
    """Return everything the files say about a host. Only names count: an address does not identify
    a host, unless it is the name."""
    files = list(dict.fromkeys((own_file(), *rules.files)))
    entries = [entry for file in files for entry in knownhosts.read(file)]

    def those(marker: str, names: Sequence[str]) -> list[Entry]:
        found = (entry for entry in entries if entry.marker == marker)
        return [entry for entry in found if any(map(entry.speaks_of, names))]

    for name in rules.names:
        if trusted := those("", [name]):
            break
    ours = [entry for entry in trusted if entry.file == own_file()]
    authorities = [] if ours else those("authority", rules.names)
    revoked = those("revoked", rules.names)
    return Known(ours or trusted, authorities, revoked, elsewhere=name != rules.names[0])


def judge(machine: str, rules: Rules, address: str, shown: bytes) -> asyncssh.SSHKey:
    """Return the host's key if what it showed, a key or certificate as sent, is trusted. `address`:
    its IP address, if known. Raises UnknownHostKey, ChangedHostKey, and PongbenchError for
    a key that is revoked, unreadable or too weak."""
    import asyncssh  # noqa: PLC0415  slow to import, and not every run is over SSH
    from asyncssh.public_key import decode_ssh_public_key  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey  # noqa: PLC0415

    from workbench.machines.hostkeyrules import certificate_of, is_valid  # noqa: PLC0415

    found = known(rules)
    signed = knownhosts.kind_of(shown).endswith("-cert-v01@openssh.com")
    try:
        certificate = certificate_of(shown) if signed else None
        key = certificate.key if certificate else decode_ssh_public_key(shown)
    except asyncssh.KeyImportError:
        raise PongbenchError(
            f"'{machine}' at {_where(rules)} shows a host key that cannot be read."
        ) from None
    plain = key.public_data
    _see_revoked(machine, rules, found, plain)
    rsa = key.pyca_key
    if isinstance(rsa, RSAPublicKey) and rsa.key_size < rules.least_rsa_bits:
        raise PongbenchError(
            f"The host key of '{machine}' at {_where(rules)} is too weak: RSA with {rsa.key_size}"
            f" bits, and at least {rules.least_rsa_bits} are needed; give the machine another key."
        )
    if certificate:
        signer = certificate.signing_key.public_data
        _see_revoked(machine, rules, found, signer)
        if any(entry.key == signer for entry in found.authorities) and is_valid(
            certificate, rules.name, rules.authorities
        ):
            return key
    if not any(entry.key == plain for entry in found.trusted):
        raise _problem(machine, rules, key, () if found.elsewhere else found.trusted)
    of_address = _of_address(rules, address)
    if of_address and not any(entry.key == plain for entry in of_address):
        raise _problem(machine, rules, key, of_address)
    return key


def trust(host: str, port: int, key: asyncssh.SSHKey) -> None:
    """Trust this key, and no other, for the host from now on. Raises PongbenchError."""
    name = knownhosts.in_files(host, port)
    line = " ".join([name, *key.export_public_key("openssh").decode().split()[:2]])
    file = own_file()
    with stores.changing(file, f"{file} cannot be written"):
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        kept = [other for other in lines if other.partition(" ")[0] != name]
        stores.write(file, "".join(f"{text}\n" for text in [*kept, line]))


def _problem(
    machine: str, rules: Rules, key: asyncssh.SSHKey, trusted: Sequence[Entry]
) -> HostKeyProblem:
    where = _where(rules)
    shown = f"{key.get_algorithm()} {key.get_fingerprint('sha256')}"
    # The key will be trusted under this name and port.
    host, port = (rules.alias, 22) if rules.alias else (rules.name, rules.port)
    if not trusted:
        said = (
            f"'{machine}' at {where} shows an unknown host key: {shown}; compare it"
            " with the one on the machine itself, then trust it."
        )
        return UnknownHostKey(said, machine, host, port, key)
    old = ", ".join(dict.fromkeys(knownhosts.fingerprint(entry.key) for entry in trusted))
    said = (
        f"The host key of '{machine}' at {where} has changed: known is {old}, now it"
        f" shows {shown}; the machine was reinstalled, or this is a possible man-in-the-middle"
        " attack. Nothing was sent to it; trust the new key only if you know why it changed."
    )
    return ChangedHostKey(said, machine, host, port, key, trusted=trusted)


def _where(rules: Rules) -> str:
    place = rules.host if rules.port == 22 else f"{rules.host} port {rules.port}"
    return f"{place} (HostKeyAlias {rules.alias})" if rules.alias else place


def _see_revoked(machine: str, rules: Rules, found: Known, key: bytes) -> None:
    by = next((f"{e.file} line {e.line}" for e in found.revoked if e.key == key), "")
    if not by and key in rules.revoked:
        by = "the file that RevokedHostKeys of ssh names"
    if by:
        raise PongbenchError(
            f"The host key of '{machine}' at {_where(rules)} is revoked by {by}:"
            f" {knownhosts.fingerprint(key)}; nothing was sent to it, and the machine needs another"
            " key."
        )


def _of_address(rules: Rules, address: str) -> list[Entry]:
    """Return what is known of the address, for users who enabled CheckHostIP in `ssh`."""
    if not rules.check_address or address in ("", rules.name):
        return []
    name = knownhosts.in_files(address, rules.port)
    entries = [entry for file in rules.files for entry in knownhosts.read(file)]
    return [entry for entry in entries if entry.marker == "" and entry.speaks_of(name)]
