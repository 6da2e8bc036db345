"""Logging in: trusted host keys, keys, passwords, jump hosts, ~/.ssh/config."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import keyring.errors
import pytest

from lab.configuration import PASSPHRASE, PASSWORD
from lab.conftest import configured, profile_of, trusted
from lab.hosts import Host, Lab
from workbench.cli import main
from workbench.errors import PongbenchError
from workbench.machines import secrets
from workbench.machines.hostkeys import ChangedHostKey, UnknownHostKey, own_file, trust
from workbench.machines.profiles import Profile
from workbench.machines.runner_client import Command
from workbench.machines.secrets import Question, Remembered, Secrets, never_ask
from workbench.machines.ssh import open_ssh
from workbench.machines.sshconnect import connect


class Person:
    """Answers questions, and remembers them."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> str | None:
        self.asked.append(question)
        return self.answers.pop(0) if self.answers else None


class MemoryKeyring(keyring.backend.KeyringBackend):
    """A desktop's keyring, for as long as a test."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError


@pytest.fixture
def memory() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    made = MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


async def log_in(profile: Profile, ask: Any = never_ask) -> None:
    await (await connect(profile, ask)).close()


def fingerprint(host: Host) -> str:
    """As the machine itself reports it."""
    return host.run("ssh-keygen", "-lf", host.host_key).split()[1]


# -- host keys


@pytest.mark.anywhere
async def test_an_unknown_key_is_shown_and_nothing_else_happens(
    host: Host, profile: Profile
) -> None:
    person = Person(PASSWORD)
    with pytest.raises(UnknownHostKey) as caught:
        await log_in(profile, person)
    assert caught.value.fingerprint == fingerprint(host)
    assert fingerprint(host) in str(caught.value)
    assert person.asked == []
    assert not own_file().exists()
    trust(caught.value.host, caught.value.port, caught.value.key)
    assert own_file().stat().st_mode & 0o777 == 0o600
    await log_in(profile)


@pytest.mark.anywhere
async def test_keys_ssh_trusts_are_trusted(host: Host, profile: Profile, home: Path) -> None:
    key = (host.folder / "host_key.pub").read_text().rsplit(" ", 1)[0]
    lines = f"this line is broken\n{host.known_as} {key}\n"
    (home / ".ssh" / "known_hosts").write_text(lines)
    await log_in(profile)
    assert (home / ".ssh" / "known_hosts").read_text() == lines


@pytest.mark.anywhere
async def test_a_changed_key_is_refused_and_both_keys_are_shown(
    host: Host, profile: Profile
) -> None:
    await trusted(profile)
    old = fingerprint(host)
    host.new_host_key()
    host.restart_sshd()
    person = Person(PASSWORD)
    with pytest.raises(ChangedHostKey) as caught:
        await log_in(profile, person)
    new = fingerprint(host)
    assert (caught.value.old, caught.value.fingerprint) == ([old], new)
    assert old in str(caught.value) and new in str(caught.value)
    assert person.asked == []
    trust(caught.value.host, caught.value.port, caught.value.key)
    await log_in(profile)


async def test_another_kind_of_key_is_a_changed_key_too(host: Host, profile: Profile) -> None:
    await trusted(profile)
    host.run("ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", "/run/other_key")
    host.write("/etc/ssh/host_key", host.read("/run/other_key"), mode=0o600)
    host.restart_sshd()
    try:
        with pytest.raises(ChangedHostKey):
            await log_in(profile)
    finally:
        host.write("/etc/ssh/host_key", (host.folder / "host_key").read_text(), mode=0o600)
        host.restart_sshd()


@pytest.mark.anywhere
def test_the_command_trusts_only_the_fingerprint_it_is_given(
    host: Host, profile: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["machines", "trust", "h1"]) == 1
    printed = capsys.readouterr()
    command = f"pongbench machines trust h1 --fingerprint {fingerprint(host)}"
    assert printed.out.strip() == command
    assert main(["machines", "trust", "h1", "--fingerprint", "SHA256:wrong"]) == 2
    assert "nothing was trusted" in capsys.readouterr().err
    assert main(["machines", "check", "h1"]) == 1
    assert main(command.split()[1:]) == 0
    capsys.readouterr()
    assert main(["machines", "check", "h1"]) == 0
    steps = re.findall(r"^(ok|!!|no)  ([A-Z][a-z ]+):", capsys.readouterr().out, re.MULTILINE)
    names = [name for _, name in steps]
    assert names[:5] == ["Log in", "Python", "Limits", "Space", "Leftover runs"]
    needed = {"Start the runner", "Sessions", "Cores", "Clock", "System facts", "Addresses"}
    assert needed <= set(names)


# -- keys and passwords


@pytest.mark.anywhere
async def test_a_key_with_a_passphrase_is_asked_for_once(lab: Lab, host: Host) -> None:
    profile = profile_of(host, key=str(lab.locked_key))
    person = Person("wrong", PASSPHRASE)
    await trusted(profile)
    await log_in(profile, person)
    assert [question.kind for question in person.asked] == ["passphrase", "passphrase"]
    assert person.asked[1].again
    await log_in(profile, person)
    assert len(person.asked) == 2


@pytest.mark.parametrize("sshd", ["", "KbdInteractiveAuthentication no"], ids=["pam", "plain"])
async def test_a_password_is_asked_once_and_then_in_the_keyring(
    host: Host, memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch, sshd: str
) -> None:
    with configured(host, sshd):
        profile = profile_of(host, key="", auth="password")
        await trusted(profile)
        person = Person(Remembered("wrong"), Remembered(PASSWORD))
        await log_in(profile, person)
        assert [question.again for question in person.asked] == [False, True]
        assert list(memory.kept.values()) == [PASSWORD]
        monkeypatch.setattr(secrets, "SECRETS", Secrets())
        await log_in(profile)


async def test_a_failed_login_lists_what_was_tried(
    host: Host, tmp_path: Path, memory: MemoryKeyring
) -> None:
    profile = profile_of(host, key="", auth="password")
    await trusted(profile)
    with pytest.raises(PongbenchError, match=r"^'h1' refused bench@.* \(tried: a password"):
        await log_in(profile, Person("wrong", "wrong", "wrong"))
    assert memory.kept == {}
    with pytest.raises(PongbenchError, match=r"^'h1' refused bench@.* \(tried: the keys"):
        await log_in(profile)
    missing = profile_of(host, key=str(tmp_path / "absent"))
    with pytest.raises(PongbenchError, match="but there is no such file"):
        await log_in(missing)


async def test_no_secret_is_in_any_file_argument_or_log(
    host: Host, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    profile = profile_of(host, key="", auth="password")
    await trusted(profile)
    machine = await open_ssh(profile, ask=Person(PASSWORD))
    assert await (await machine.start(Command(["true"]))).wait() == 0
    seen = [" ".join(host.processes().values()), caplog.text]
    await machine.close()
    seen += await asyncio.to_thread(texts_below, tmp_path)
    assert not [text for text in seen if PASSWORD in text]


def texts_below(folder: Path) -> list[str]:
    return [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()]


# -- the way there


async def test_a_machine_behind_another_is_reached(lab: Lab, host: Host) -> None:
    first, second = lab.hosts[0], lab.hosts[1]
    await trusted(profile_of(first))
    behind = profile_of(second, jump="h1")
    with pytest.raises(UnknownHostKey) as caught:
        await log_in(behind)
    trust(caught.value.host, caught.value.port, caught.value.key)
    machine = await open_ssh(behind)
    process = await machine.start(Command(["hostname"]))
    assert [line async for line in process.lines()] == [b"h2"]
    # The target is reached from the jump host, not from here.
    assert machine.our_address == first.address
    assert machine.reach == second.address
    await machine.close()


async def test_the_ssh_config_is_honoured(lab: Lab, host: Host, home: Path) -> None:
    second = lab.hosts[1]
    (home / ".ssh" / "config").write_text(
        f"Host gate\n  HostName {host.address}\n"
        f"Host inner\n  HostName {second.address}\n  ProxyJump gate\n"
        f"Host *\n  User bench\n  IdentityFile {lab.key}\n"
    )
    for alias in ("gate", "inner"):
        profile = Profile("mine", connector="ssh", address=alias)
        with pytest.raises(UnknownHostKey) as caught:
            await log_in(profile)
        trust(caught.value.host, caught.value.port, caught.value.key)
    machine = await open_ssh(profile)
    assert machine.survey.user == "bench"
    assert machine.our_address == host.address
    await machine.close()


@pytest.mark.parametrize(
    ("address", "port", "sentence"),
    [
        ("127.0.0.1", 1, "cannot be reached at 127.0.0.1 port 1: .*; is sshd running there"),
        ("no-such-host.invalid", 0, "cannot be reached at no-such-host.invalid port 22: "),
    ],
)
async def test_an_unreachable_address_gives_one_sentence(
    address: str, port: int, sentence: str
) -> None:
    with pytest.raises(PongbenchError, match=sentence):
        await log_in(Profile("mine", connector="ssh", address=address, port=port))
