"""The trash keeps what was deleted for a while, and gives it back."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from workbench import trash
from workbench.errors import BadInput, PongbenchError

DAY_S = 86_400


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    (tmp_path / "data" / "sessions").mkdir(parents=True)
    return tmp_path / "data"


def file(home: Path, name: str, text: str = "x") -> Path:
    path = home / "sessions" / name
    path.write_text(text)
    return path


def test_what_was_deleted_comes_back_as_it_was_and_leaves_nothing(home: Path) -> None:
    one, two = file(home, "one.yaml", "1"), file(home, "two.yaml", "2")
    kept = trash.discard([one, two])
    assert not one.exists()
    assert not two.exists()
    trash.restore(kept)
    assert (one.read_text(), two.read_text()) == ("1", "2")
    assert not list(trash.folder().iterdir())


def test_all_is_deleted_or_nothing(home: Path) -> None:
    one = file(home, "one.yaml")
    with pytest.raises(PongbenchError, match="cannot be moved to the trash"):
        trash.discard([one, home / "sessions" / "missing.yaml"])
    assert one.exists()


def test_one_with_the_longest_name_is_deleted_and_comes_back(home: Path) -> None:
    long = file(home, f"{'ü' * 122}.pong.yaml")
    trash.restore(trash.discard([long]))
    assert long.exists()


def test_one_that_is_there_again_is_not_replaced(home: Path) -> None:
    one, two = file(home, "one.yaml", "mine"), file(home, "two.yaml")
    kept = trash.discard([one, two])
    file(home, "two.yaml", "theirs")
    with pytest.raises(BadInput, match="There is another"):
        trash.restore(kept)
    assert not one.exists()
    assert two.read_text() == "theirs"


def test_one_that_is_gone_for_good_is_reported(home: Path) -> None:
    kept = trash.discard([file(home, "one.yaml")])
    trash.empty()
    with pytest.raises(BadInput, match="no longer in the trash"):
        trash.restore(kept)


def test_the_trash_can_be_read_by_its_user_alone(home: Path) -> None:
    ((_, kept),) = trash.discard([file(home, "one.yaml")])
    assert trash.folder().stat().st_mode & 0o077 == 0
    assert kept.parent.parent.stat().st_mode & 0o077 == 0


def test_after_a_month_it_is_deleted_for_good(home: Path) -> None:
    kept = trash.discard([file(home, "one.yaml")])
    trash.tidy(time.time() + 29 * DAY_S)
    trash.restore(kept)
    trash.discard([file(home, "one.yaml")])
    trash.tidy(time.time() + 31 * DAY_S)
    assert not list(trash.folder().iterdir())


def test_beyond_the_limit_the_oldest_goes_first_but_nothing_of_today(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash, "MOST_BYTES", 2_500)
    places = []
    for days in (3, 2, 0):
        ((_, kept),) = trash.discard([file(home, f"{days}.yaml", "x" * 1_000)])
        place = kept.parent.parent
        then = time.time() - days * DAY_S
        os.utime(place, (then, then))
        places.append(place)
    monkeypatch.setattr(trash, "MOST_BYTES", 900)
    trash.tidy()
    assert [place.exists() for place in places] == [False, False, True]
