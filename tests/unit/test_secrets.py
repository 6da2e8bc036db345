"""Where a password goes that a person typed."""

from __future__ import annotations

import keyring
import pytest

from workbench.machines.secrets import Fleeting, Question, Secrets

QUESTION = Question("box", "password", "bench@10.0.0.1", "Password of bench@10.0.0.1")


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the keyring holds."""
    kept: dict[str, str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda service, key: kept.get(key))
    monkeypatch.setattr(
        keyring, "set_password", lambda service, key, secret: kept.update({key: secret})
    )
    return kept


@pytest.mark.parametrize(("answer", "keeps"), [("horse", True), (Fleeting("horse"), False)])
async def test_a_right_password_is_asked_once_and_kept_only_when_wanted(
    stored: dict[str, str], answer: str, keeps: bool
) -> None:
    secrets, asked = Secrets(), []

    async def ask(question: Question) -> str:
        asked.append(question)
        return answer

    assert await secrets.get(QUESTION, ask) == "horse"
    assert not stored
    await secrets.right(QUESTION)
    assert await secrets.get(QUESTION, ask) == "horse"
    assert len(asked) == 1
    assert bool(stored) is keeps
