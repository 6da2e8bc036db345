"""The certificate of a run: made for it, trusted by its clients alone, removed with it."""

from __future__ import annotations

import datetime
import os
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from workbench.machines.base import Machine
from workbench.remote.agent.tls import NAME, TlsClient

FOLDER = "tls"
VALID = datetime.timedelta(days=30)
EARLIER = datetime.timedelta(days=1)
"""Clocks of machines differ."""


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate and its key, both as PEM."""

    certificate: str
    key: str = field(repr=False)

    def context(self) -> ssl.SSLContext:
        """Return a client's context that trusts only this certificate."""
        return TlsClient({"certificate": self.certificate}).context

    async def put(self, machine: Machine, folder: str) -> dict[str, str]:
        """Copy both into a server's folder on its machine, readable only by their user. Returns
        the placeholders of its command. `folder`: below the run directory."""
        with tempfile.TemporaryDirectory(prefix="pongbench-tls-") as made:
            for name, text in (("certificate.pem", self.certificate), ("key.pem", self.key)):
                descriptor = os.open(Path(made, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w") as file:
                    file.write(text)
            place = await machine.put(Path(made), f"{folder}/{FOLDER}")
        return {"certificate": f"{place}/certificate.pem", "key": f"{place}/key.pem"}


def issue() -> Certificate:
    """Make a certificate for the name that all clients expect."""
    # As most public certificates have; RSA would cost servers several times as much to sign.
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLIER)
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Certificate(
        made.public_bytes(serialization.Encoding.PEM).decode(),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode(),
    )
