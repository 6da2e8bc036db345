"""An SSH connection to a machine: route, host key, log-in. Uses the same settings as `ssh`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import asyncssh

from workbench.errors import PongbenchError
from workbench.machines import hostkeys, secrets
from workbench.machines.hostkeyrules import rules_for
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Ask
from workbench.machines.sshloginclient import LoginClient
from workbench.machines.sshroute import Hop, config_of, route

KEEPALIVE_S = 1.0
KEEPALIVES = 3
"""Unanswered keepalives after which the connection counts as lost."""
CONNECT_WITHIN_S = 10.0
AT_ONCE = 4
"""Concurrent log-ins; sshd drops some beyond MaxStartups (10 by default)."""
ATTEMPTS = 8

_log_ins: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
_DEFAULT_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")


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
        for hop in await asyncio.to_thread(route, profile):
            tunnel = chain[-1] if chain else None
            client = LoginClient(hop, ask, secrets.SECRETS)
            options = await _options(hop, tunnel, client)
            chain.append(await _log_in(client, options, tunnel))
        return Connection(chain, options.host, options.port)
    except BaseException:
        for connection in reversed(chain):
            connection.abort()
        await asyncio.sleep(0)
        raise


async def _options(
    hop: Hop, tunnel: asyncssh.SSHClientConnection | None, client: LoginClient
) -> asyncssh.SSHClientConnectionOptions:
    given: dict[str, Any] = {}
    if hop.port:
        given["port"] = hop.port
    if hop.user:
        given["username"] = hop.user
    if hop.auth == "password":
        given["client_keys"] = None
    elif hop.key:
        given["client_keys"] = [hop.key]
        given["ignore_encrypted"] = True
    if hop.auth == "key":
        given["agent_path"] = None

    def make() -> asyncssh.SSHClientConnectionOptions:
        if hop.key and not Path(hop.key).is_file():
            raise PongbenchError(
                f"'{hop.name}' has the key {hop.key} in its profile, but there is no such file."
            )
        return asyncssh.SSHClientConnectionOptions(
            host=hop.address,
            config=config_of(hop),
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
            **({"proxy_command": None} if tunnel else {}),
            **given,
        )

    try:
        options = await asyncio.to_thread(make)
        client.rules = await asyncio.to_thread(rules_for, hop, options.host, options.port)
        client.keys = await asyncio.to_thread(_locked_keys, hop, options)
    except (asyncssh.ConfigParseError, asyncssh.KeyImportError, ValueError, OSError) as error:
        raise PongbenchError(f"'{hop.name}' cannot be connected to: {error}.") from None
    client.where = f"{options.username}@{options.host}"
    return options


def _locked_keys(hop: Hop, options: asyncssh.SSHClientConnectionOptions) -> list[Path]:
    if hop.auth in ("agent", "password"):
        return []
    if hop.key:
        files = [Path(hop.key)]
    else:
        listed: Any = options.config.get("IdentityFile", ())
        folder = Path("~/.ssh").expanduser()
        files = [Path(name).expanduser() for name in listed]
        files = files or [folder / name for name in _DEFAULT_KEYS]
    return [file for file in files if _is_locked(file)]


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
                    hop.address,
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
