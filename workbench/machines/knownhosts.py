"""Files of known hosts, read as OpenSSH reads them: which lines match a name, and their keys.

The format is that of sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT". Content is bytes and lines end with
a newline only, as for OpenSSH: other encodings or line ends could trust keys that it does not.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_MARKERS = {b"@cert-authority": "authority", b"@revoked": "revoked"}
_KRL = b"SSHKRL\n\0"


@dataclass(frozen=True)
class Entry:
    marker: str
    """"" for a host's own key, "authority" for a key that signs host certificates, or "revoked"."""
    names: bytes
    """Patterns separated by commas, or the hash of one name."""
    key: bytes
    """The key as sent over the wire."""
    file: Path
    line: int

    def speaks_of(self, name: str) -> bool:
        """Return whether the line matches a host's name, or "[host]:port" for a port but 22."""
        wanted = name.encode("utf-8", "surrogateescape")
        if self.names.startswith(b"|"):
            return _is_hash_of(self.names, wanted)
        return matches(wanted.lower(), self.names.lower().split(b","))


def read(file: Path) -> list[Entry]:
    """Return the valid lines; the others are skipped. An unreadable file has none, as for `ssh`."""
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError:
        return []
    return [
        entry
        for number, line in enumerate(lines, 1)
        if (entry := _entry(line.partition(b"\0")[0], file, number))
    ]


def read_revoked(file: Path) -> list[bytes]:
    """Return the keys of a file named by `RevokedHostKeys`, as sent over the wire. Raises OSError,
    and ValueError for an invalid line or format: `ssh` then trusts no host at all."""
    text = file.read_bytes()
    if text.startswith(_KRL):
        raise ValueError("it is a binary list (KRL); only one with a key on each line can be read")
    keys = []
    for number, line in enumerate(text.split(b"\n"), 1):
        words = line.split()
        if words and not words[0].startswith(b"#"):
            key = _key(words)
            if key is None:
                raise ValueError(f"line {number} is no public key")
            keys.append(key)
    return keys


def in_files(host: str, port: int) -> str:
    """Return how a file names a host at a port."""
    return host if port == 22 else f"[{host}]:{port}"


def kind_of(key: bytes) -> str:
    """Return the name of a key's type; empty: it has none."""
    length = int.from_bytes(key[:4], "big")
    return key[4 : 4 + length].decode("ascii", "replace") if len(key) > 4 + length else ""


def fingerprint(key: bytes) -> str:
    """ "SHA256:...", as `ssh-keygen -l` says it."""
    digest = base64.b64encode(hashlib.sha256(key).digest()).decode()
    return f"SHA256:{digest.rstrip('=')}"


def _entry(line: bytes, file: Path, number: int) -> Entry | None:
    words = [word for word in line.replace(b"\t", b" ").split(b" ") if word]
    marker = ""
    if words and words[0].startswith(b"@"):
        marker = _MARKERS.get(words.pop(0), "unknown")
    if len(words) < 3 or words[0].startswith((b"#", b"@")) or marker == "unknown":
        return None
    key = _key(words[1:])
    return Entry(marker, words[0], key, file, number) if key else None


def _key(words: list[bytes]) -> bytes | None:
    if len(words) < 2:
        return None
    try:
        key = base64.b64decode(words[1].strip(), validate=True)
    except binascii.Error:
        return None
    return key if kind_of(key).encode() == words[0] else None


def _is_hash_of(names: bytes, name: bytes) -> bool:
    try:
        _, version, salt, digest = names.split(b"|")
        made = hmac.new(base64.b64decode(salt, validate=True), name, "sha1").digest()
        return version == b"1" and hmac.compare_digest(made, base64.b64decode(digest))
    except ValueError:
        return False


def matches(name: bytes, patterns: Iterable[bytes]) -> bool:
    """Return whether a pattern matches and no negated one; only `*` and `?` are wildcards."""
    found = [
        pattern
        for pattern in patterns
        if fnmatch.fnmatchcase(name, pattern.removeprefix(b"!").replace(b"[", b"[[]"))
    ]
    return bool(found) and not any(pattern.startswith(b"!") for pattern in found)
