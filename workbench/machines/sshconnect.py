"""An SSH connection to a machine: route, host key, log-in. Uses the same settings as `ssh`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import asyncssh
from asyncssh.encryption import get_default_encryption_algs, get_encryption_algs
from asyncssh.kex import get_default_kex_algs, get_kex_algs
from asyncssh.mac import get_default_mac_algs, get_mac_algs

from workbench.errors import PongbenchError
from workbench.machines import hostkeys, secrets
from workbench.machines.hostkeyrules import algorithms, rules_for
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Ask
from workbench.machines.sshconfig import Settings
from workbench.machines.sshloginclient import LoginClient
from workbench.machines.sshroute import Hop, route

KEEPALIVE_S = 1.0
KEEPALIVES = 3
"""Unanswered keepalives after which the connection counts as lost."""
CONNECT_WITHIN_S = 10.0
AT_ONCE = 4
"""Concurrent log-ins; sshd drops some beyond MaxStartups (10 by default)."""
ATTEMPTS = 8

_log_ins: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class Connection:
    """An open connection with those it is tunnelled through."""

    def __init__(self, chain: Sequence[asyncssh.SSHClientConnection], host: str, port: int) -> None:
        self.chain = chain
        self.ssh = chain[-1]
        self.host = host
        """As ~/.ssh/config resolved it."""
        self.port = port

    async def close(self) -> None:
        for connection in reversed(self.chain):
            connection.close()
            with contextlib.suppress(asyncssh.Error, OSError, TimeoutError):
                async with asyncio.timeout(1.0):
                    await connection.wait_closed()
            connection.abort()
        await asyncio.sleep(0)  # The event loop closes their sockets.


async def connect(profile: Profile, ask: Ask) -> Connection:
    """Log in to a machine. Raises PongbenchError; `hostkeys.UnknownHostKey` or `ChangedHostKey`
    when its key, or that of a machine on the way, is not trusted."""
    chain: list[asyncssh.SSHClientConnection] = []
    try:
        for hop, settings in await asyncio.to_thread(route, profile):
            tunnel = chain[-1] if chain else None
            client = LoginClient(hop, ask, secrets.SECRETS)
            options = await asyncio.to_thread(_options, hop, settings, client, through=bool(tunnel))
            chain.append(await _log_in(client, options, tunnel))
        return Connection(chain, options.host, options.port)
    except BaseException:
        for connection in reversed(chain):
            connection.abort()
        await asyncio.sleep(0)
        raise


class _Keys:
    """Keys for asyncssh, which would take an empty list for its default keys."""

    def __init__(self, pairs: list[asyncssh.SSHKeyPair]) -> None:
        self._pairs = pairs

    def __iter__(self) -> Iterator[asyncssh.SSHKeyPair]:
        return iter(self._pairs)


def _options(
    hop: Hop, settings: Settings, client: LoginClient, *, through: bool
) -> asyncssh.SSHClientConnectionOptions:
    if hop.key and not Path(hop.key).is_file():
        raise PongbenchError(
            f"'{hop.name}' has the key {hop.key} in its profile, but there is no such file."
        )
    try:
        client.rules = rules_for(settings)
        files = [Path(hop.key)] if hop.key else settings.keys
        if hop.auth not in ("agent", "password"):
            client.keys = [file for file in files if _is_locked(file)]
        options = asyncssh.SSHClientConnectionOptions(
            host=settings.host,
            port=settings.port,
            username=settings.user,
            config=None,
            tunnel=None,
            client_factory=lambda: client,
            known_hosts=client.meets,
            x509_trusted_certs=None,
            gss_kex=False,  # GSS key exchange would bypass the host key.
            keepalive_interval=KEEPALIVE_S,
            keepalive_count_max=KEEPALIVES,
            connect_timeout=None,  # The user may be asked: see `LoginClient.limit`.
            login_timeout=0,
            agent_forwarding=False,
            x11_forwarding=False,
            request_pty=False,
            proxy_command=None if through else settings.command,
            **_authentication(hop, settings, files),
            **_transport(settings),
        )
    except (asyncssh.KeyImportError, ValueError, OSError) as error:
        raise PongbenchError(f"'{hop.name}' cannot be connected to: {error}.") from None
    client.where = f"{options.username}@{options.host}"
    return options


def _authentication(hop: Hop, settings: Settings, files: list[Path]) -> dict[str, Any]:
    """Return how to log in. `files`: the private keys."""
    given: dict[str, Any] = {
        "client_keys": None if hop.auth == "password" else _Keys(_pairs(hop, settings, files)),
        "public_key_auth": settings.allows("pubkeyauthentication"),
        "password_auth": settings.allows("passwordauthentication"),
        "kbdint_auth": settings.allows("kbdinteractiveauthentication"),
        "pkcs11_provider": settings.text("pkcs11provider") or None,
    }
    if preferred := settings.text("preferredauthentications"):
        given["preferred_auth"] = preferred
    if hop.auth == "key":
        given["agent_path"] = None
    elif settings.agent is not None:
        given["agent_path"] = settings.agent
    if settings.allows("identitiesonly", otherwise=False):
        given["agent_identities"] = _identities(files)
        if not given["agent_identities"]:
            given["agent_path"] = None
    return given


def _pairs(hop: Hop, settings: Settings, files: list[Path]) -> list[asyncssh.SSHKeyPair]:
    """Return the keys that need no passphrase. Like `ssh`, ignore unusable files of its
    configuration."""
    certificates = [str(file) for file in settings.files("certificatefile") if file.is_file()]
    if hop.key:
        return list(asyncssh.load_keypairs(files, None, certificates, ignore_encrypted=True))
    pairs: list[asyncssh.SSHKeyPair] = []
    for file in files:
        with contextlib.suppress(asyncssh.KeyImportError, OSError):
            pairs += asyncssh.load_keypairs([file], None, certificates, ignore_encrypted=True)
    return pairs


def _identities(files: list[Path]) -> list[bytes]:
    """Return the public keys of key files, for use with an agent."""
    found = []
    for file in files:
        for each in (Path(f"{file}.pub"), file):
            with contextlib.suppress(asyncssh.KeyImportError, OSError):
                found.append(asyncssh.read_public_key(each).public_data)
                break
    return found


def _transport(settings: Settings) -> dict[str, Any]:
    given: dict[str, Any] = {
        "family": {"inet": socket.AF_INET, "inet6": socket.AF_INET6}.get(
            settings.text("addressfamily").lower(), socket.AF_UNSPEC
        ),
        "tcp_keepalive": settings.allows("tcpkeepalive"),
        "gss_auth": settings.allows("gssapiauthentication", otherwise=False),
    }
    kinds = {
        "ciphers": ("encryption_algs", get_encryption_algs, get_default_encryption_algs),
        "macs": ("mac_algs", get_mac_algs, get_default_mac_algs),
        "kexalgorithms": ("kex_algs", get_kex_algs, get_default_kex_algs),
    }
    for keyword, (name, possible, default) in kinds.items():
        supported, usual = ([each.decode() for each in get()] for get in (possible, default))
        if chosen := algorithms(settings.text(keyword), supported, usual):
            given[name] = list(chosen)
    if settings.allows("compression", otherwise=False):
        given["compression_algs"] = ["zlib@openssh.com", "none"]
    if address := settings.text("bindaddress"):
        given["local_addr"] = (address, 0)
    if settings.environment:
        given["env"] = settings.environment
    return given


def _is_locked(file: Path) -> bool:
    try:
        asyncssh.read_private_key(file)
    except asyncssh.KeyImportError as error:
        return "passphrase" in str(error).lower()
    except (asyncssh.KeyEncryptionError, OSError):
        return False
    return False


async def _log_in(
    client: LoginClient,
    options: asyncssh.SSHClientConnectionOptions,
    tunnel: asyncssh.SSHClientConnection | None,
) -> asyncssh.SSHClientConnection:
    """Log in; try again when sshd drops the connection before the handshake."""
    hop = client.hop
    where = f"{options.host} port {options.port}"
    kinds = await asyncio.to_thread(_kinds_of_key, client)
    for number in range(ATTEMPTS):
        try:
            async with _turn(), asyncio.timeout(CONNECT_WITHIN_S) as client.limit:
                connection = await asyncssh.connect(
                    options.host,
                    options=options,
                    config=None,
                    tunnel=tunnel,
                    server_host_key_algs=kinds,
                )
            await client.accepted()
            return connection
        except asyncssh.HostKeyNotVerifiable as error:
            raise client.refused or PongbenchError(
                f"The host key of '{hop.name}' at {where} is not accepted: {error.reason}."
            ) from None
        except asyncssh.KeyExchangeFailed as error:
            raise PongbenchError(
                f"'{hop.name}' at {where} and this program have no common cipher ({error.reason})."
            ) from None
        except asyncssh.PermissionDenied:
            await client.rejected()
            tried = ", ".join(dict.fromkeys(client.attempted)) or "the keys there are"
            raise PongbenchError(
                f"'{hop.name}' refused {client.where} (tried: {tried}); make sure it accepts a"
                " key or a password of this user, and that the profile names it.",
                code="login-refused",
            ) from None
        except TimeoutError:
            raise PongbenchError(
                f"'{hop.name}' did not answer at {where} within {CONNECT_WITHIN_S:.0f} s; is it"
                " switched on, and is the address right?"
            ) from None
        except asyncssh.ChannelOpenError as error:
            raise PongbenchError(
                f"'{hop.name}' cannot be reached at {where} from the jump host: {error.reason}."
            ) from None
        except (asyncssh.Error, OSError) as error:
            if number == ATTEMPTS - 1 or not _dropped(error):
                raise PongbenchError(
                    f"'{hop.name}' cannot be reached at {where}: {reason(error)}; is sshd"
                    " running there?"
                ) from None
            await asyncio.sleep(0.1 * 2**number * random.uniform(0.5, 1.5))
    raise AssertionError


def _turn() -> asyncio.Semaphore:
    loop = asyncio.get_running_loop()
    return _log_ins.setdefault(loop, asyncio.Semaphore(AT_ONCE))


def _dropped(error: Exception) -> bool:
    """Return whether sshd refused because of too many concurrent log-ins (MaxStartups)."""
    lost = (asyncssh.ConnectionLost, ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
    return isinstance(error, lost) or "MaxStartups" in str(error)


def _kinds_of_key(client: LoginClient) -> list[str]:
    """Return the key types to request, those that can be compared first."""
    assert client.rules
    found = hostkeys.known(client.rules)
    kinds = [entry.kind for entry in found.trusted]
    return client.rules.offered(kinds, certificates=bool(found.authorities))


def reason(error: Exception) -> str:
    """Describe why a connection failed, for use in a sentence: "connection refused"."""
    if isinstance(error, BrokenPipeError):  # asyncssh: "Channel not open for sending"
        return "the session was closed there"
    text = str(getattr(error, "reason", "") or error).strip().rstrip(".")
    # asyncio has its own texts, and a single one for failures of several addresses.
    if found := re.search(r"\[Errno (\d+)\]", text):
        text = os.strerror(int(found[1]))
    elif isinstance(error, OSError) and error.strerror:
        text = error.strerror
    return text[:1].lower() + text[1:] or "the connection was closed"
