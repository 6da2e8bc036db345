"""The rules of the `ssh` configuration for a host key: its name, the files, the key types."""

from __future__ import annotations

import re
import socket
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from asyncssh import public_key
from asyncssh.public_key import get_certificate_algs, get_public_key_algs

from workbench import paths
from workbench.errors import PongbenchError, why
from workbench.machines import knownhosts
from workbench.machines.sshconfig import Settings


def certificate_of(shown: bytes) -> public_key.SSHOpenSSHCertificate:
    """Parse a host's certificate. Raises `asyncssh.KeyImportError`, also for a wrong signature."""
    read = public_key.decode_ssh_certificate(shown)
    if not isinstance(read, public_key.SSHOpenSSHCertificate):
        raise asyncssh.KeyImportError("not of OpenSSH")
    return read


def is_valid(
    certificate: public_key.SSHOpenSSHCertificate, name: str, signatures: Container[str]
) -> bool:
    """Return whether it is a valid host certificate for this name, signed with one of these
    algorithms. One without principals is refused, as by newer versions of `ssh`."""
    if not certificate.principals or _signature(certificate) not in signatures:
        return False
    try:
        certificate.validate(public_key.CERT_TYPE_HOST, name)
    except ValueError:
        return False
    return True


def _signature(certificate: public_key.SSHOpenSSHCertificate) -> str:
    """Return the signature algorithm: "rsa-sha2-512". asyncssh accepts "ssh-rsa" (SHA-1) without
    reporting it; the signature is the last field, after the signing key."""
    _, _, rest = certificate.public_data.rpartition(certificate.signing_key.public_data)
    signature = rest[4:]
    if int.from_bytes(rest[:4], "big") != len(signature):
        return ""
    length = int.from_bytes(signature[:4], "big")
    return signature[4 : 4 + length].decode("ascii", "replace")


_OF_SYSTEM = paths.ssh_of_system()
SYSTEM_FILES = (_OF_SYSTEM / "ssh_known_hosts", _OF_SYSTEM / "ssh_known_hosts2")
SIGNATURES = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "rsa-sha2-512",
    "rsa-sha2-256",
)
"""Those OpenSSH accepts by default; not "ssh-rsa", which is RSA with SHA-1."""
CERTIFICATES = tuple(
    f"{name.removesuffix('@openssh.com')}-cert-v01@openssh.com" for name in SIGNATURES
)
LEAST_RSA_BITS = 1024


@dataclass(frozen=True)
class Rules:
    host: str
    """The name or address used to connect, according to ~/.ssh/config."""
    port: int = 22
    alias: str = ""
    """HostKeyAlias: the only name under which its key is looked up."""
    files: tuple[Path, ...] = ()
    """Files of known hosts of `ssh`: the user's, then the system's."""
    revoked: frozenset[bytes] = frozenset()
    """Keys of the file named by `RevokedHostKeys`."""
    check_address: bool = False
    """CheckHostIP: no other key may be known for its address."""
    signatures: tuple[str, ...] | None = None
    """HostKeyAlgorithms, if configured."""
    authorities: tuple[str, ...] = SIGNATURES
    """CASignatureAlgorithms."""
    least_rsa_bits: int = LEAST_RSA_BITS

    @property
    def name(self) -> str:
        """The name that a certificate must be issued for."""
        return self.alias or numeric(self.host) or self.host.lower()

    @property
    def names(self) -> tuple[str, ...]:
        """The name to look up, then the one used when the first is unknown."""
        if self.alias or self.port == 22:
            return (self.name,)
        return (knownhosts.in_files(self.name, self.port), self.name)

    def offered(self, known: Iterable[str], *, certificates: bool) -> list[str]:
        """Return the key types to request from the machine. `known`: the types known for it come
        first, so that it shows a key that can be compared."""
        if self.signatures is not None:
            return list(self.signatures)
        wanted = set(known)
        kinds = {name: re.sub("^rsa-.*", "ssh-rsa", name) for name in SIGNATURES}
        plain = sorted(SIGNATURES, key=lambda each: kinds[each] not in wanted)
        return [*(CERTIFICATES if certificates else ()), *plain]


def standard_files() -> tuple[Path, ...]:
    """Return the files where `ssh` keeps known hosts by default."""
    folder = paths.expanded("~/.ssh")
    return (folder / "known_hosts", folder / "known_hosts2", *SYSTEM_FILES)


def rules_for(settings: Settings) -> Rules:
    """Return the rules for a host. Raises PongbenchError when the revoked keys are unknown."""
    user, system = standard_files()[:2], SYSTEM_FILES
    signatures = settings.text("hostkeyalgorithms")
    authorities = settings.text("casignaturealgorithms")
    bits = settings.text("requiredrsasize")
    possible = (*get_certificate_algs(), *get_public_key_algs())
    return Rules(
        settings.host,
        settings.port,
        alias=settings.text("hostkeyalias"),
        files=(
            *settings.files("userknownhostsfile", user),
            *settings.files("globalknownhostsfile", system),
        ),
        revoked=_revoked(settings),
        check_address=settings.allows("checkhostip", otherwise=False),
        signatures=supported(signatures, possible) if signatures else None,
        authorities=supported(authorities, possible) or SIGNATURES,
        least_rsa_bits=max(int(bits), LEAST_RSA_BITS) if bits.isdigit() else LEAST_RSA_BITS,
    )


def numeric(host: str) -> str:
    """Return the canonical form of an address; empty: `host` is a name."""
    try:
        found = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
        return socket.getnameinfo(found[0][4], socket.NI_NUMERICHOST)[0]
    except (OSError, UnicodeError):
        return ""


def _revoked(settings: Settings) -> frozenset[bytes]:
    revoked: set[bytes] = set()
    for path in settings.files("revokedhostkeys"):
        try:
            revoked.update(knownhosts.read_revoked(path))
        except (OSError, ValueError) as error:
            cause = why(error) if isinstance(error, OSError) else str(error)
            raise PongbenchError(
                f"The revoked host keys in {path} (RevokedHostKeys of ssh) cannot be read: {cause};"
                f" no connection to '{settings.hop.name}' is made without knowing them, unless its"
                " profile has `ssh_config: false`."
            ) from None
    return frozenset(revoked)


def supported(listed: str, possible: Iterable[bytes]) -> tuple[str, ...]:
    """Return those algorithms of a list of `ssh -G` that are supported here. It has no patterns and
    no changes of the defaults: `ssh` has applied them."""
    known = {name.decode() for name in possible}
    return tuple(name for name in listed.split(",") if name in known)
