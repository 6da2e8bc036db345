"""Certificates of hosts, judged as OpenSSH judges them."""

from __future__ import annotations

from collections.abc import Container

import asyncssh
from asyncssh import public_key


def certificate_of(shown: bytes) -> public_key.SSHOpenSSHCertificate:
    """What a host showed. Raises `asyncssh.KeyImportError` when it is none, or badly signed."""
    read = public_key.decode_ssh_certificate(shown)
    if not isinstance(read, public_key.SSHOpenSSHCertificate):
        raise asyncssh.KeyImportError("not of OpenSSH")
    return read


def is_valid(
    certificate: public_key.SSHOpenSSHCertificate, name: str, signatures: Container[str]
) -> bool:
    """Whether it is a host's, for this name and now, and signed in one of these ways. One for no
    name in particular is for none: newer versions of `ssh` refuse it."""
    if not certificate.principals or _signature(certificate) not in signatures:
        return False
    try:
        certificate.validate(public_key.CERT_TYPE_HOST, name)
    except ValueError:
        return False
    return True


def _signature(certificate: public_key.SSHOpenSSHCertificate) -> str:
    """How it was signed: "rsa-sha2-512". asyncssh accepts "ssh-rsa", that is SHA-1, and does not
    tell; the signature is what comes after the key that signed, and the last."""
    _, _, rest = certificate.public_data.rpartition(certificate.signing_key.public_data)
    signature = rest[4:]
    if int.from_bytes(rest[:4], "big") != len(signature):
        return ""
    length = int.from_bytes(signature[:4], "big")
    return signature[4 : 4 + length].decode("ascii", "replace")
