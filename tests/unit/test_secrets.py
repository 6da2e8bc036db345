"""Where a typed password goes."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import keyring
import keyring.backends.fail
import keyring.backends.null
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.chainer import ChainerBackend
from keyring.errors import PasswordDeleteError

from workbench.cli import main
from workbench.machines.secrets import Question, Remembered, Secrets, keyring_problem

QUESTION = Question("box", "password", "bench@10.0.0.1", "Password of bench@10.0.0.1")
AGAIN = Question("box", "password", "bench@10.0.0.1", "Password of bench@10.0.0.1", again=True)


class MemoryKeyring(KeyringBackend):
    """A desktop's keyring, for as long as a test."""

    priority = 5  # type: ignore[assignment]
    viable = False  # type: ignore[assignment]  # keyring itself never chooses it

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop(username, None) is None:
            raise PasswordDeleteError


class PlaintextKeyring(MemoryKeyring):
    """As in keyrings.alt, with the priority of the one on a file system of one's choice."""

    priority = 2  # type: ignore[assignment]


class FileKeyring(MemoryKeyring):
    """keyring says of such a priority: it works, but is not recommended."""

    priority = 0.5  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def chosen() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    made = MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


class Person:
    """Answers questions, and counts them."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, question: Question) -> str:
        self.asked += 1
        return self.answers.pop(0)


@pytest.mark.parametrize(("answer", "keeps"), [("horse", False), (Remembered("horse"), True)])
async def test_a_correct_password_is_asked_once_and_kept_only_on_request(
    chosen: MemoryKeyring, answer: str, keeps: bool
) -> None:
    secrets, person = Secrets(), Person(answer)
    assert await secrets.get(QUESTION, person) == "horse"
    assert not chosen.kept
    await secrets.right(QUESTION)
    assert await secrets.get(QUESTION, person) == "horse"
    assert person.asked == 1
    assert bool(chosen.kept) is keeps


async def test_a_wrong_one_out_of_the_keyring_is_forgotten_there(chosen: MemoryKeyring) -> None:
    chosen.kept["password bench@10.0.0.1"] = "old"
    secrets, person = Secrets(), Person("new")
    assert await secrets.get(QUESTION, person) == "old"
    assert await secrets.get(AGAIN, person) == "new"
    await secrets.right(AGAIN)
    assert chosen.kept == {}


UNSAFE = [
    keyring.backends.null.Keyring,
    keyring.backends.fail.Keyring,
    PlaintextKeyring,
    FileKeyring,
]


@pytest.mark.parametrize("backend", UNSAFE)
async def test_a_keyring_that_does_not_encrypt_is_neither_written_nor_read(backend: Any) -> None:
    keyring.set_keyring(backend())
    if isinstance(keyring.get_keyring(), MemoryKeyring):
        keyring.set_password("pongbench", "password bench@10.0.0.1", "of an earlier version")
    secrets, person = Secrets(), Person(Remembered("horse"))
    assert await secrets.get(QUESTION, person) == "horse"
    await secrets.right(QUESTION)
    assert "horse" not in getattr(keyring.get_keyring(), "kept", {}).values()
    assert keyring_problem().startswith("Passwords cannot be stored: ")
    assert keyring_problem().count(". ") == 0


async def test_an_encrypting_keyring_is_preferred_among_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, safe = PlaintextKeyring(), MemoryKeyring()
    monkeypatch.setattr(ChainerBackend, "backends", [plain, safe])
    keyring.set_keyring(ChainerBackend())
    assert keyring_problem() == ""
    secrets = Secrets()
    await secrets.get(QUESTION, Person(Remembered("horse")))
    await secrets.right(QUESTION)
    assert (list(plain.kept.values()), list(safe.kept.values())) == ([], ["horse"])


def test_backends_of_keyrings_alt_are_refused_whatever_their_priority(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyrings.alt.file", types.ModuleType("keyrings.alt.file"))
    kind = type("EncryptedKeyring", (MemoryKeyring,), {"__module__": "keyrings.alt.file"})
    keyring.set_keyring(kind())
    assert "(keyrings.alt.file.EncryptedKeyring) is not known to encrypt" in keyring_problem()


def test_a_password_that_cannot_be_remembered_is_reported_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    keyring.set_keyring(keyring.backends.null.Keyring())
    assert main(["machines", "check", "localhost", "--remember"]) == 2
    assert capsys.readouterr().err == (
        "pongbench: --remember: Passwords cannot be stored: there is no keyring here; log in"
        " with a key, or start a keyring service.\n"
    )


def test_the_secrets_of_a_curl_command_go_to_the_keyring_under_the_plan_s_names(
    chosen: MemoryKeyring, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bring", "curl http://127.0.0.1:8000/ -H 'X-Api-Key: s3cr3t'"]) == 0
    name = "HOST_127_0_0_1_8000_X_API_KEY"
    told = capsys.readouterr()
    assert chosen.kept == {name: "s3cr3t"}
    assert f"X-Api-Key: {{secret: {name}}}" in told.out and "s3cr3t" not in told.out + told.err
    assert told.err == "", "there is nothing to set"
