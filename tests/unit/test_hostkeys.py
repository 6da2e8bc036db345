"""Which host keys are trusted, and by whom."""

from __future__ import annotations

from pathlib import Path

import asyncssh
import pytest

from workbench.machines.hostkeys import ChangedHostKey, UnknownHostKey, known, problem, trust


@pytest.fixture(autouse=True)
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of `ssh` of a person who has trusted nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "pongbench"))
    (tmp_path / ".ssh").mkdir()
    return tmp_path / ".ssh"


@pytest.fixture
def key() -> asyncssh.SSHKey:
    return new_key()


def new_key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519").convert_to_public()


def line(names: str, key: asyncssh.SSHKey) -> str:
    return f"{names} {key.export_public_key().decode()}"


def test_a_key_is_trusted_for_its_host_and_port_alone(key: asyncssh.SSHKey) -> None:
    trust("box", 2222, key)
    assert list(known("box", "", 2222).trusted) == [key]
    assert not known("box", "", 22)
    assert not known("other", "", 2222)


def test_trusting_another_replaces_the_first(key: asyncssh.SSHKey) -> None:
    trust("box", 22, key)
    trust("neighbour", 22, key)
    other = new_key()
    trust("box", 22, other)
    assert list(known("box", "", None).trusted) == [other]
    assert list(known("neighbour", "", None).trusted) == [key]


def test_what_is_trusted_here_comes_before_what_ssh_trusts(ssh: Path, key: asyncssh.SSHKey) -> None:
    old = new_key()
    (ssh / "known_hosts").write_text(f"rubbish\n\n# a comment\n{line('box,10.0.0.5', old)}")
    assert list(known("box", "", None).trusted) == [old]
    caught = problem("mine", "box", "", 22, key)
    assert isinstance(caught, ChangedHostKey)
    assert caught.old == [old.get_fingerprint("sha256")]
    assert caught.file == ssh / "known_hosts"
    trust("box", 22, key)
    assert list(known("box", "", None).trusted) == [key]


def test_a_host_nobody_knows_is_no_changed_one(key: asyncssh.SSHKey) -> None:
    caught = problem("mine", "box", "", 22, key)
    assert isinstance(caught, UnknownHostKey)
    assert key.get_fingerprint("sha256") in str(caught)
