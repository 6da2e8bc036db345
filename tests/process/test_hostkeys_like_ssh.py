"""No host key is trusted that `ssh` would not trust: the installed OpenSSH is asked the same.

The cases are in tests/cases/hostkeys; each has its own SSH server on loopback.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import shlex
import shutil
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any

import asyncssh
import pytest
import yaml
from chosen import chosen
from sshd import Running, Sshd, SshHost, feed

from workbench import paths
from workbench.errors import PongbenchError
from workbench.machines import hostkeyrules
from workbench.machines.profiles import Profile
from workbench.machines.secrets import never_ask
from workbench.machines.sshconnect import connect

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases/hostkeys/cases.yaml").read_text())
KINDS = {
    "E": ("ecdsa-sha2-nistp256", {}),
    "R": ("ssh-rsa", {}),
    "S": ("ssh-rsa", {"key_size": 1024}),
}
RELAY = """
import os, socket, sys, threading
there = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def pour(take, give):
    while data := take(65536):
        give(data)
    os._exit(0)
threading.Thread(target=pour, args=(there.recv, lambda data: os.write(1, data))).start()
pour(lambda size: os.read(0, size), there.sendall)
"""


@cache
def key(name: str) -> asyncssh.SSHKey:
    """The one of this name in all cases; ed25519 unless `KINDS` says otherwise."""
    kind, more = KINDS.get(name, ("ssh-ed25519", {}))
    return asyncssh.generate_private_key(kind, **more)


class AnyoneIn(Sshd):
    """Everyone may log in; with `behind`, what is asked for beyond is at that port here."""

    def __init__(self, host: SshHost, behind: int = 0) -> None:
        super().__init__(host)
        self.behind = behind

    def begin_auth(self, username: str) -> bool:
        return False

    def connection_requested(self, *where: Any) -> Any:
        async def pass_on(reader: Any, writer: Any) -> None:
            back, there = await asyncio.open_connection("127.0.0.1", self.behind)
            pouring = asyncio.create_task(feed(reader, there))
            while data := await back.read(1 << 16):
                writer.write(data)
            writer.close()
            await pouring

        return pass_on if self.behind else False


async def does_nothing(process: Running) -> None:
    process.exit(0)


class Host:
    """What a case has in place of a machine."""

    def __init__(self, case: dict[str, Any], folder: Path) -> None:
        self.case = case
        self.folder = folder
        self.typed = str(case.get("host", "box"))
        self.servers: list[SshHost] = []
        self.ports: dict[str, int] = {}
        """Where the names lead to here."""

    async def listen(self, shows: list[Any], behind: int = 0) -> int:
        """The port."""
        server = SshHost()
        server.keys = [shown(each, self.case) for each in shows]
        server.server = partial(AnyoneIn, behind=behind)
        server.run = does_nothing
        self.servers.append(server)
        await server.listen()
        return server.port

    async def begin(self) -> None:
        case = self.case
        listening = await self.listen(case.get("shows", ["A"]))
        self.port = case.get("port", listening if case.get("direct") else 22)
        config = [f"Host {self.typed}", *case.get("config", ())]
        self.ports[""] = listening
        if case.get("jump"):
            self.ports["gate"] = await self.listen(["J"], behind=listening)
            config += ["ProxyJump gate"]
        text = "\n".join(config).replace("{dir}", str(self.folder))
        user, system = self.folder / ".ssh", self.folder / "system"
        of_system = f'GlobalKnownHostsFile "{system}"'
        self.write(user / "config", [text, "Host *", of_system])
        files = {
            "own": paths.config_dir() / "known_hosts",
            "user": user / "known_hosts",
            "user2": user / "known_hosts2",
            "system": system,
            "elsewhere": self.folder / "elsewhere",
            "revoked": self.folder / "revoked",
        }
        for name, file in files.items():
            if name in case:
                self.write(file, [self.fill(line) for line in case[name]])
        # `ssh` takes the first value it meets; it is shown our own file as one of the user's.
        known = " ".join(f'"{files[name]}"' for name in ("own", "user", "user2"))
        with_own = re.sub(r"(UserKnownHostsFile )(?!none)", rf'\1"{files["own"]}" ', text)
        defaults = [f"UserKnownHostsFile {known}", of_system]
        strict = ["StrictHostKeyChecking yes", "BatchMode yes", "UpdateHostKeys no", "User bench"]
        self.write(self.folder / "config", [with_own, *self.way(), "Host *", *defaults, *strict])

    def fill(self, line: str) -> str:
        def hashed(found: re.Match[str]) -> str:
            salt = b"salt" * 5
            digest = hmac.new(salt, found[1].encode(), "sha1").digest()
            return "|1|" + "|".join(base64.b64encode(each).decode() for each in (salt, digest))

        line = line.replace("{port}", str(self.port))
        line = re.sub(r"hash\((.*?)\)", hashed, line)
        line = line.replace("<a>", public("A").split()[1])
        return re.sub(r"<(\w+)>", lambda found: public(found[1]), line)

    def way(self) -> list[str]:
        """For `ssh`, which would ask a resolver."""
        if self.case.get("direct"):
            return []
        relay = self.folder / "relay.py"
        relay.write_text(RELAY)
        name, port = next(reversed(self.ports.items()))
        python = shlex.quote(sys.executable)
        return [f"Host {name or self.typed}", f"ProxyCommand {python} -SE {relay} {port}"]

    async def resolved(self, connect: Any, factory: Any, host: str, port: int, **more: Any) -> Any:
        """For us, in place of the loop's own `connect`."""
        return await connect(factory, "127.0.0.1", self.ports.get(host, self.ports[""]), **more)

    def write(self, file: Path, lines: list[str]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes("".join(f"{line}\n" for line in lines).encode())

    async def with_ssh(self) -> tuple[bool, str]:
        """Whether `ssh` logs in, and what it says."""
        port = ["-p", str(self.port)] if self.port else []
        command = ["ssh", "-F", str(self.folder / "config"), *port, self.typed, "true"]
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, message = await process.communicate()
        return process.returncode == 0, message.decode()

    async def with_ours(self) -> tuple[bool, str]:
        profile = Profile("mine", connector="ssh", address=self.typed, port=self.port, user="bench")
        try:
            await (await connect(profile, never_ask)).close()
        except PongbenchError as error:
            return False, str(error)
        return True, ""

    async def close(self) -> None:
        for server in self.servers:
            await server.close()


def public(name: str) -> str:
    return " ".join(key(name).export_public_key().decode().split()[:2])


def shown(what: Any, case: dict[str, Any]) -> Any:
    """A host's key for asyncssh, with a certificate or without."""
    if isinstance(what, str):
        if "signs" not in case:
            return key(what)
        (pair,) = asyncssh.load_keypairs(key(what))
        pair.host_key_algorithms = [each.encode() for each in case["signs"]]
        return pair
    by, own = key(what["by"]), key(what["key"])
    make = (
        by.generate_user_certificate if what.get("kind") == "user" else by.generate_host_certificate
    )
    valid = {"past": ("20000101", "20010101"), "future": ("+10d", "+20d")}.get(
        what.get("valid", "")
    )
    after, before = valid or (0, 0xFFFFFFFFFFFFFFFF)
    certificate = make(
        own,
        "a host",
        principals=what["for"],
        valid_after=after,
        valid_before=before,
        **({"sig_alg": what["signed"]} if "signed" in what else {}),
    )
    return own, certificate


@pytest.mark.skipif(not shutil.which("ssh"), reason="no ssh is installed")
@pytest.mark.parametrize("case", chosen(CASES, 40), ids=lambda case: case["case"])
async def test_no_key_is_trusted_that_ssh_does_not_trust(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "pongbench"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(hostkeyrules, "SYSTEM_FILES", (tmp_path / "system", tmp_path / "system2"))
    host = Host(case, tmp_path)
    loop = asyncio.get_running_loop()
    if not case.get("direct"):
        resolved = partial(host.resolved, loop.create_connection)
        monkeypatch.setattr(loop, "create_connection", resolved)
    await host.begin()
    try:
        (trusted, problem), (accepted, message) = await asyncio.gather(
            host.with_ours(), host.with_ssh()
        )
    finally:
        await host.close()
    assert trusted == case["trusted"], problem
    assert trusted or "host key" in problem, problem
    assert accepted or not trusted, message
    assert trusted or not accepted or "stricter" in case
    # Refused for its key, and for nothing else.
    assert accepted or re.search("[Hh]ost ?key|REVOKED", message), message
