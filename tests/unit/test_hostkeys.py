"""Which host keys are trusted, and by whom. How `ssh` decides the same cases is in
tests/process/test_hostkeys_like_ssh.py."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import asyncssh
import pytest
from msgspec.structs import replace

from workbench.errors import PongbenchError
from workbench.machines import hostkeyrules, sshconfig
from workbench.machines.hostkeyrules import Rules, rules_for, standard_files
from workbench.machines.hostkeys import ChangedHostKey, UnknownHostKey, judge, trust
from workbench.machines.profiles import Profile
from workbench.machines.sshconfig import settings_for

BOX = Profile("mine", connector="ssh", address="box")
needs_ssh = pytest.mark.skipif(not shutil.which("ssh"), reason="no ssh is installed")


@pytest.fixture(autouse=True)
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The `.ssh` folder of a user who has trusted nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "pongbench"))
    monkeypatch.setattr(hostkeyrules, "SYSTEM_FILES", (tmp_path / "system", tmp_path / "system2"))
    (tmp_path / ".ssh").mkdir()
    return tmp_path / ".ssh"


@pytest.fixture
def key() -> asyncssh.SSHKey:
    return new_key()


def new_key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519").convert_to_public()


def line(names: str, key: asyncssh.SSHKey) -> str:
    return f"{names} {key.export_public_key().decode()}"


def shows(key: asyncssh.SSHKey, host: str = "box", port: int = 22, alias: str = "") -> None:
    rules = Rules(host, port, alias=alias, files=standard_files())
    assert judge("mine", rules, "10.0.0.5", key.public_data) == key


def test_a_key_is_trusted_for_its_host_and_port_alone(key: asyncssh.SSHKey) -> None:
    trust("box", 2222, key)
    shows(key, "box", 2222)
    for host, port in (("box", 22), ("other", 2222)):
        with pytest.raises(UnknownHostKey):
            shows(key, host, port)


def test_trusting_another_replaces_the_first(key: asyncssh.SSHKey) -> None:
    trust("box", 22, key)
    trust("neighbour", 22, key)
    other = new_key()
    trust("box", 22, other)
    shows(other)
    shows(key, "neighbour")
    with pytest.raises(ChangedHostKey):
        shows(key)


def test_keys_trusted_here_come_before_those_ssh_trusts(ssh: Path, key: asyncssh.SSHKey) -> None:
    old = new_key()
    (ssh / "known_hosts").write_text(f"rubbish\n\n# a comment\n{line('box,10.0.0.5', old)}")
    with pytest.raises(ChangedHostKey) as caught:
        shows(key)
    assert caught.value.old == [old.get_fingerprint("sha256")]
    assert caught.value.file == ssh / "known_hosts"
    trust("box", 22, key)
    shows(key)
    with pytest.raises(ChangedHostKey):
        shows(old)


def test_an_unknown_host_is_not_a_changed_one(key: asyncssh.SSHKey) -> None:
    with pytest.raises(UnknownHostKey) as caught:
        shows(key)
    assert key.get_fingerprint("sha256") in str(caught.value)


def test_a_key_trusted_under_an_alias_is_known_by_it(key: asyncssh.SSHKey) -> None:
    with pytest.raises(UnknownHostKey, match="box port 2222 \\(HostKeyAlias lab\\)") as caught:
        shows(key, "box", 2222, "lab")
    trust(caught.value.host, caught.value.port, caught.value.key)
    shows(key, "elsewhere", 22, "lab")


def test_a_revoked_key_is_reported_and_cannot_be_trusted(ssh: Path, key: asyncssh.SSHKey) -> None:
    trust("box", 22, key)
    (ssh / "known_hosts").write_text(f"# lost\n@revoked {line('*', key)}\n")
    with pytest.raises(PongbenchError, match=f"revoked by {ssh}/known_hosts line 2") as caught:
        shows(key)
    assert key.get_fingerprint("sha256") in str(caught.value)


@needs_ssh
def test_a_list_of_revoked_keys_that_cannot_be_read_stops_everything(ssh: Path) -> None:
    (ssh / "config").write_text(f"RevokedHostKeys {ssh}/revoked\n")
    with pytest.raises(PongbenchError, match="cannot be read: no such file"):
        rules_for(settings_for(BOX))
    (ssh / "revoked").write_bytes(b"SSHKRL\n\0")
    with pytest.raises(PongbenchError, match="binary list"):
        rules_for(settings_for(BOX))


@needs_ssh
def test_the_configuration_is_that_of_the_home_and_the_system(
    ssh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sshconfig, "SYSTEM_CONFIG", tmp_path / "ssh_config")
    usual = (ssh / "known_hosts", ssh / "known_hosts2")
    assert rules_for(settings_for(BOX)).files[:2] == usual
    (ssh / "config").write_text("Host box\n  HostKeyAlias mine\n  GlobalKnownHostsFile /nowhere\n")
    (tmp_path / "ssh_config").write_text("HostKeyAlias theirs\nUserKnownHostsFile ~/.ssh/ours\n")
    rules = rules_for(settings_for(BOX))
    assert rules.alias == "mine"
    assert rules.files == (ssh / "ours", Path("/nowhere"))
    assert rules_for(settings_for(replace(BOX, ssh_config=False))).files == standard_files()


@pytest.mark.parametrize("lacks", ["ssh", "user"])
def test_without_ssh_a_configuration_is_not_guessed(
    ssh: Path, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    if lacks == "ssh":
        monkeypatch.setenv("PATH", str(ssh))
    else:  # As in a container that is run as any number.
        monkeypatch.setattr(os, "getuid", lambda: 54_321)
        monkeypatch.setenv("USER", "ann")
    assert settings_for(BOX).port == 22
    (ssh / "config").write_text("Host box\n  Port 2222\n")
    with pytest.raises(PongbenchError) as caught:
        settings_for(BOX)
    assert caught.value.code == "ssh-config"
    assert settings_for(replace(BOX, ssh_config=False)).port == 22
