"""An SSH connection to a machine: route, host key, log-in. Uses the same settings as `ssh`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import asyncssh
from asyncssh.encryption import get_encryption_algs
from asyncssh.kex import get_kex_algs
from asyncssh.mac import get_mac_algs

from workbench import paths
from workbench.errors import BadInput, PongbenchError
from workbench.machines import hostkeys, knownhosts, secrets
from workbench.machines.hostkeyrules import Rules, rules_for, supported
from workbench.machines.profiles import Endpoint, Profile, load_profile, profile_names
from workbench.machines.secrets import Ask, Question
from workbench.machines.sshconfig import Settings, settings_for


def route(profile: Profile) -> list[Settings]:
    """Return the settings of the machines on the route to a profile's, which comes last. Raises
    BadInput for a loop, and PongbenchError for a configuration that cannot be used."""
    hops = [settings_for(profile)]
    jump = profile.jump or hops[0].text("proxyjump")
    while jump and jump != "none":
        texts = [text.strip() for text in jump.split(",")]
        known = profile_names()
        via = [load_profile(text) if text in known else None for text in texts]
        before = [
            other if other and other.connector == "ssh" else _jump(text, profile)
            for text, other in zip(texts, via, strict=True)
        ]
        if {hop.address for hop in before} & {each.hop.address for each in hops}:
            if not profile.jump:  # "Host *" in ~/.ssh/config is not meant for the jump host itself.
                return hops
            raise BadInput(f"'{profile.name}' has a loop of jump hosts: {jump}.")
        hops = [*map(settings_for, before), *hops]
        jump = (via[0].jump if via[0] else "") or hops[0].text("proxyjump")
    return hops


def _jump(text: str, profile: Profile) -> Profile:
    """Return a jump host that is no profile's, named by its address."""
    try:
        found = Endpoint.parse(text)
    except ValueError:
        raise BadInput(
            f"'{profile.name}' is reached through {text!r}, which is not [user@]host[:port]."
        ) from None
    host, port, user = found.host, found.port, found.user
    use = profile.ssh_config
    return Profile(host, connector="ssh", address=host, port=port, user=user, ssh_config=use)


LOGIN_WITHIN_S = 30.0
SECRET_ATTEMPTS = 3


class LoginClient(asyncssh.SSHClient):
    def __init__(self, hop: Profile, rules: Rules, ask: Ask) -> None:
        self.hop = hop
        self.rules = rules
        self.address = ""
        self.ask = ask
        self.where = ""
        self.keys: list[Path] = []
        """Private keys that may have a passphrase; used when nothing else was accepted."""
        self.refused: PongbenchError | None = None
        self.used: list[Question] = []
        self.attempts: dict[str, int] = {}
        self.declined: set[str] = set()
        """Accounts a person has no answer for; another way of logging in does not ask again."""
        self.attempted: list[str] = []
        self.limit: asyncio.Timeout | None = None

    def begin_auth(self, username: str) -> None:
        self._allow(LOGIN_WITHIN_S)

    async def ask_a_person(self, question: Question) -> str | None:
        self._allow(None)
        try:
            return await self.ask(question)
        finally:
            self._allow(LOGIN_WITHIN_S)

    def _allow(self, seconds: float | None) -> None:
        if self.limit:
            now = asyncio.get_running_loop().time()
            with contextlib.suppress(RuntimeError):  # It has already ended.
                self.limit.reschedule(None if seconds is None else now + seconds)

    def meets(self, host: str, address: str, port: int | None) -> tuple[Any, Any, Any]:
        """Called by asyncssh for trusted keys; there are none, see `connection_made`."""
        self.address = address
        return (), (), ()

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        # asyncssh also looks keys up by address and accepts some that `ssh` refuses. It gets no
        # trusted keys, so that nothing is trusted without `judge`.
        conn.validate_server_host_key = self.judge  # type: ignore[method-assign]

    def judge(self, key_data: bytes) -> asyncssh.SSHKey:
        """Judge the host's key. Raises `asyncssh.HostKeyNotVerifiable`; `refused` says why."""
        try:
            return hostkeys.judge(self.hop.name, self.rules, self.address, key_data)
        except PongbenchError as problem:
            self.refused = problem
            raise asyncssh.HostKeyNotVerifiable("The host key is not trusted") from None

    async def public_key_auth_requested(self) -> Any:
        while self.keys:
            path = self.keys.pop(0)
            if key := await self._open(path):
                self.attempted.append(str(path))
                return [key]
        return None

    async def password_auth_requested(self) -> str | None:
        if self.hop.auth in ("agent", "key"):
            return None
        return await self._secret("password", self.where)

    def kbdint_auth_requested(self) -> str | None:
        return None if self.hop.auth in ("agent", "key") else ""

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Any
    ) -> list[str] | None:
        answers = []
        for text, echo in prompts:
            if not echo and "password" in text.lower():
                answer = await self._secret("password", self.where)
            else:
                prompt = f"{self.where} asks: {text.strip().rstrip(':')}"
                question = Question(self.hop.name, "answer", self.where, prompt)
                answer = await self.ask_a_person(question)
            if answer is None:
                return None
            answers.append(answer)
        return answers

    async def _open(self, path: Path) -> asyncssh.SSHKey | None:
        while (passphrase := await self._secret("passphrase", str(path))) is not None:
            with contextlib.suppress(asyncssh.KeyImportError, asyncssh.KeyEncryptionError, OSError):
                return await asyncio.to_thread(asyncssh.read_private_key, path, passphrase)
        return None

    async def _secret(self, kind: Literal["password", "passphrase"], account: str) -> str | None:
        attempts = self.attempts[account] = self.attempts.get(account, 0) + 1
        if attempts > SECRET_ATTEMPTS or account in self.declined:
            return None
        text = f"{kind.capitalize()} of {account}"
        question = Question(self.hop.name, kind, account, text, again=attempts > 1)
        secret = await secrets.SECRETS.get(question, self.ask_a_person)
        if secret is not None:
            self.used.append(question)
            self.attempted.append("a password" if kind == "password" else account)
        else:
            self.declined.add(account)
        return secret


KEEPALIVE_S = 1.0
KEEPALIVES = 3
"""Unanswered keepalives after which the connection counts as lost."""
CONNECT_WITHIN_S = 10.0
AT_ONCE = 4
"""Concurrent log-ins; sshd drops some beyond MaxStartups (10 by default)."""
ATTEMPTS = 8

_LOST = (asyncssh.ConnectionLost, ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
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
        for settings in await asyncio.to_thread(route, profile):
            tunnel = chain[-1] if chain else None
            rules = await asyncio.to_thread(rules_for, settings)
            client = LoginClient(settings.hop, rules, ask)
            options = await asyncio.to_thread(_options, settings, client, through=bool(tunnel))
            chain.append(await _log_in(client, options, tunnel))
        return Connection(chain, options.host, options.port)
    except BaseException:
        for connection in reversed(chain):
            connection.abort()
        await asyncio.sleep(0)
        raise


class _Keys(list[asyncssh.SSHKeyPair]):
    """Keys for asyncssh, which would take an empty list for its default keys."""

    def __bool__(self) -> bool:
        return True


def _options(
    settings: Settings, client: LoginClient, *, through: bool
) -> asyncssh.SSHClientConnectionOptions:
    hop = settings.hop
    key = paths.expanded(hop.key) if hop.key else None
    if key and not key.is_file():
        raise PongbenchError(
            f"'{hop.name}' has the key {key} in its profile, but there is no such file."
        )
    try:
        files = [key] if key else settings.keys
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
            **_authentication(settings, files),
            **_transport(settings),
        )
    except (asyncssh.KeyImportError, ValueError, OSError) as error:
        raise PongbenchError(f"'{hop.name}' cannot be connected to: {error}.") from None
    client.where = f"{options.username}@{options.host}"
    return options


def _authentication(settings: Settings, files: list[Path]) -> dict[str, Any]:
    auth = settings.hop.auth
    given: dict[str, Any] = {
        "client_keys": None if auth == "password" else _Keys(_pairs(settings, files)),
        "public_key_auth": settings.allows("pubkeyauthentication"),
        "password_auth": settings.allows("passwordauthentication"),
        "kbdint_auth": settings.allows("kbdinteractiveauthentication"),
        "pkcs11_provider": settings.text("pkcs11provider") or None,
    }
    if preferred := settings.text("preferredauthentications"):
        given["preferred_auth"] = preferred
    if auth == "key":
        given["agent_path"] = None
    elif settings.agent is not None:
        given["agent_path"] = settings.agent
    if settings.allows("identitiesonly", otherwise=False):
        given["agent_identities"] = _identities(files)
        if not given["agent_identities"]:
            given["agent_path"] = None
    return given


def _pairs(settings: Settings, files: list[Path]) -> list[asyncssh.SSHKeyPair]:
    """Return the keys that need no passphrase; unusable files but the profile's are ignored."""
    certificates = [str(file) for file in settings.files("certificatefile") if file.is_file()]
    ignored = () if settings.hop.key else (asyncssh.KeyImportError, OSError)
    pairs: list[asyncssh.SSHKeyPair] = []
    for file in files:
        with contextlib.suppress(*ignored):
            pairs += asyncssh.load_keypairs([file], None, certificates, ignore_encrypted=True)
    return pairs


def _identities(files: list[Path]) -> list[bytes]:
    found = []
    for file in files:
        for each in (Path(f"{file}.pub"), file):
            with contextlib.suppress(asyncssh.KeyImportError, OSError):
                found.append(asyncssh.read_public_key(each).public_data)
                break
    return found


def _transport(settings: Settings) -> dict[str, Any]:
    families = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}
    given: dict[str, Any] = {
        "family": families.get(settings.text("addressfamily").lower(), socket.AF_UNSPEC),
        "gss_auth": settings.allows("gssapiauthentication", otherwise=False),
    }
    for keyword, name, possible in (
        ("ciphers", "encryption_algs", get_encryption_algs()),
        ("macs", "mac_algs", get_mac_algs()),
        ("kexalgorithms", "kex_algs", get_kex_algs()),
    ):
        if chosen := supported(settings.text(keyword), possible):
            given[name] = list(chosen)
    if address := settings.text("bindaddress"):
        given["local_addr"] = (address, 0)
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
    hop = client.hop
    where = f"{options.host} port {options.port}"
    found = await asyncio.to_thread(hostkeys.known, client.rules)
    # Those that can be compared come first.
    known = [knownhosts.kind_of(entry.key) for entry in found.trusted]
    kinds = client.rules.offered(known, certificates=bool(found.authorities))
    loop = asyncio.get_running_loop()
    turn = _log_ins.setdefault(loop, asyncio.Semaphore(AT_ONCE))
    for number in range(ATTEMPTS):
        try:
            async with turn, asyncio.timeout(CONNECT_WITHIN_S) as client.limit:
                connection = await asyncssh.connect(
                    options.host,
                    options=options,
                    config=None,
                    tunnel=tunnel,
                    server_host_key_algs=kinds,
                )
            for question in client.used[-1:]:
                await secrets.SECRETS.right(question)
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
            for question in client.used:
                await secrets.SECRETS.reject(question)
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
            # sshd drops some of many concurrent log-ins.
            dropped = isinstance(error, _LOST) or "MaxStartups" in str(error)
            if number == ATTEMPTS - 1 or not dropped:
                raise PongbenchError(
                    f"'{hop.name}' cannot be reached at {where}: {reason(error)}; is sshd"
                    " running there?"
                ) from None
            await asyncio.sleep(0.1 * 2**number * random.uniform(0.5, 1.5))
    raise AssertionError


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
