"""Host certificates, judged as OpenSSH does."""

from __future__ import annotations

from collections.abc import Container

import asyncssh
from asyncssh import public_key


def certificate_of(shown: bytes) -> public_key.SSHOpenSSHCertificate:
    """Parse a host's certificate. Raises `asyncssh.KeyImportError` when it is none, or its
    signature is invalid."""
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
