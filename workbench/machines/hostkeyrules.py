"""The rules of the `ssh` configuration for a host key: its name, the files, the key types.

The system-wide settings are read as well: keys that they revoke are revoked here, too.
"""

from __future__ import annotations

import fnmatch
import getpass
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from asyncssh.config import ConfigParseError, SSHClientConfig, SSHConfig
from asyncssh.public_key import get_certificate_algs, get_public_key_algs

from workbench.errors import PongbenchError, why
from workbench.machines import knownhosts
from workbench.machines.sshroute import Hop, config_of

SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
SYSTEM_FILES = (Path("/etc/ssh/ssh_known_hosts"), Path("/etc/ssh/ssh_known_hosts2"))
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
"""The algorithms OpenSSH accepts by default; "ssh-rsa", which is RSA with SHA-1, is not among
them."""
CERTIFICATES = tuple(
    f"{name.removesuffix('@openssh.com')}-cert-v01@openssh.com" for name in SIGNATURES
)
LEAST_RSA_BITS = 1024


@dataclass(frozen=True)
class Rules:
    """The rules for one machine."""

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
        plain = sorted(SIGNATURES, key=lambda each: _kind(each) not in wanted)
        return [*(CERTIFICATES if certificates else ()), *plain]


def standard_files() -> tuple[Path, ...]:
    """Return the files where `ssh` keeps known hosts by default."""
    folder = Path("~/.ssh").expanduser()
    return (folder / "known_hosts", folder / "known_hosts2", *SYSTEM_FILES)


def rules_for(hop: Hop, host: str, port: int) -> Rules:
    """Return the rules for `host` and `port` (both after ~/.ssh/config). Raises PongbenchError when
    the configuration cannot be read, because revoked keys are unknown then."""
    if not hop.ssh_config:
        return Rules(host, port, files=standard_files())
    paths = [*(config_of(hop) or ()), *([SYSTEM_CONFIG] if SYSTEM_CONFIG.is_file() else ())]
    try:
        config = _Config.of(hop, paths)
    except (ConfigParseError, OSError, ValueError) as error:
        raise PongbenchError(
            f"What the configuration of ssh says about the host key of '{hop.name}' cannot be read:"
            f" {error}; correct it, or set `ssh_config: false` in the profile."
        ) from None
    user, system = standard_files()[:2], SYSTEM_FILES
    return Rules(
        host,
        port,
        alias=config.text("HostKeyAlias"),
        files=(
            *config.files("UserKnownHostsFile", user),
            *config.files("GlobalKnownHostsFile", system),
        ),
        revoked=_revoked(hop, config.text("RevokedHostKeys")),
        check_address=config.text("CheckHostIP").lower() in ("yes", "true"),
        signatures=_choice(config.text("HostKeyAlgorithms"), (*CERTIFICATES, *SIGNATURES)),
        authorities=_choice(config.text("CASignatureAlgorithms"), SIGNATURES) or SIGNATURES,
        least_rsa_bits=_number(config.text("RequiredRSASize"), LEAST_RSA_BITS),
    )


def numeric(host: str) -> str:
    """Return the canonical form of an address; empty: `host` is a name."""
    try:
        found = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
        return socket.getnameinfo(found[0][4], socket.NI_NUMERICHOST)[0]
    except (OSError, UnicodeError):
        return ""


class _Config(SSHClientConfig):
    """Reads what concerns host keys, and what `Match` depends on; the rest is ignored."""

    _read = ("host", "match", "include", "hostname", "port", "user", "tag")
    _handlers = {  # noqa: RUF012  as where it comes from
        **{
            key: SSHClientConfig._handlers[key] for key in _read if key in SSHClientConfig._handlers
        },
        "userknownhostsfile": ("UserKnownHostsFile", SSHConfig._set_string_list),
        "globalknownhostsfile": ("GlobalKnownHostsFile", SSHConfig._set_string_list),
        "hostkeyalias": ("HostKeyAlias", SSHConfig._set_string),
        "revokedhostkeys": ("RevokedHostKeys", SSHConfig._set_string),
        "checkhostip": ("CheckHostIP", SSHConfig._set_string),
        "hostkeyalgorithms": ("HostKeyAlgorithms", SSHConfig._set_string),
        "casignaturealgorithms": ("CASignatureAlgorithms", SSHConfig._set_string),
        "requiredrsasize": ("RequiredRSASize", SSHConfig._set_string),
    }
    _percent_expand = {"UserKnownHostsFile", "RevokedHostKeys"}  # noqa: RUF012

    @classmethod
    def of(cls, hop: Hop, paths: Sequence[str | Path]) -> _Config:
        def load(last: _Config | None, *, final: bool) -> _Config:
            given = (getpass.getuser(), hop.user or (), hop.address, hop.port or ())
            return cast(_Config, cls.load(last, list(paths), False, False, final, *given))

        config = load(None, final=False)
        return load(config, final=True) if config.has_match_final() else config

    def text(self, option: str) -> str:
        return str(self.get(option) or "")

    def files(self, option: str, otherwise: Sequence[Path]) -> list[Path]:
        listed = cast("list[str] | None", self.get(option))
        if listed is None:
            return list(otherwise)
        return [Path(name).expanduser() for name in listed]


def _revoked(hop: Hop, file: str) -> frozenset[bytes]:
    if not file:
        return frozenset()
    path = Path(file).expanduser()
    try:
        return frozenset(knownhosts.read_revoked(path))
    except (OSError, ValueError) as error:
        cause = why(error) if isinstance(error, OSError) else str(error)
        raise PongbenchError(
            f"The revoked host keys in {path} (RevokedHostKeys of ssh) cannot be read: {cause}; no"
            f" connection to '{hop.name}' is made without knowing them."
        ) from None


def _choice(text: str, defaults: Sequence[str]) -> tuple[str, ...] | None:
    """Return the configured algorithms that are supported here."""
    if not text:
        return None
    possible = [name.decode() for name in (*get_certificate_algs(), *get_public_key_algs())]
    sign, patterns = (text[0], text[1:]) if text[0] in "+-^" else ("", text)

    def like(names: Iterable[str]) -> list[str]:
        names = list(names)
        return [n for p in patterns.split(",") for n in names if fnmatch.fnmatchcase(n, p)]

    chosen = like(possible)
    found = {
        "": chosen,
        "+": [*defaults, *chosen],
        "-": [name for name in defaults if name not in like(defaults)],
        "^": [*chosen, *defaults],
    }[sign]
    return tuple(dict.fromkeys(found))


def _kind(signature: str) -> str:
    """Return the key type of a signature algorithm."""
    return "ssh-rsa" if signature.startswith("rsa-") else signature


def _number(text: str, otherwise: int) -> int:
    return max(int(text), LEAST_RSA_BITS) if text.isdigit() else otherwise
