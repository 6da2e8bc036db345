"""Facts about a machine state their age."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from app.machines import records
from app.machines.records import Record, Records, since, stamp
from workbench.machines.checking import Step
from workbench.machines.runner_client import MachineBusy

NOON = datetime(2026, 11, 21, 12, 0).astimezone()


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "now", lambda: NOON)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=7, seconds=30), "7 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=47), "47 h ago"),
        (timedelta(days=2), "2 days ago"),
        (timedelta(days=61), "on 21 Sep 2026"),
        (timedelta(minutes=-3), "on 21 Nov, 12:03"),
    ],
)
def test_an_age_is_shown_in_minutes_hours_days_then_as_date(
    before: timedelta, message: str
) -> None:
    assert since(stamp(NOON - before)) == message


@pytest.mark.parametrize(
    ("kind", "hours", "word", "tone"),
    [
        ("ready", 3, "ready 3 h ago", "ok"),
        ("ready", 24, "ready 24 h ago", ""),
        ("remarks", 72, "ready 3 days ago", ""),
        ("unreachable", 0, "unreachable", "bad"),
        ("unreachable", 3, "unreachable, 3 h ago", "bad"),
        ("unreachable", 72, "unreachable, 3 days ago", ""),
        ("key changed", 72, "key changed, 3 days ago", "bad"),
    ],
)
def test_a_result_shows_its_age_and_loses_its_colour_after_a_day(
    kind: str, hours: int, word: str, tone: str
) -> None:
    state = Record(at=stamp(NOON - timedelta(hours=hours)), kind=kind).state
    assert (state.word, state.tone) == (word, tone)


def test_a_check_without_facts_leaves_the_age_of_earlier_ones_unchanged() -> None:
    morning = stamp(NOON - timedelta(hours=3))
    kept = Record(at=morning, found={"facts": {"cpu_count": 2}}, read=morning)
    again = kept.again()
    again.add(Step("Log in", "failed", "Nobody answers."))
    again.finish(NOON)
    assert (again.at, again.read) == (stamp(NOON), morning)


def test_the_later_of_two_readings_is_shown() -> None:
    def read(minutes: int, load: float) -> Record:
        at = stamp(NOON - timedelta(minutes=minutes))
        return Record(found={"facts": {"load_average": [load]}, "python": str(load)}, read=at)

    for first, second in ((read(7, 1.4), read(2, 2.7)), (read(2, 2.7), read(7, 1.4))):
        reported = first.with_facts(second)
        assert reported.facts["load_average"] == [2.7]
        assert since(reported.read) == "2 min ago"
        assert reported.found["python"] == first.found["python"]


def test_a_damaged_record_counts_as_none() -> None:
    for kept in (3, {"at": 3}, {"steps": [["Log in", "passed"], 7]}):
        assert Records({"machines": {"box": kept}}).get("box") == Record()


def test_a_machine_in_use_says_by_whom() -> None:
    record = Record()
    busy = MachineBusy("elm", "lena on fir", "")
    record.add(Step("Start the runner", "failed", str(busy), busy))
    record.finish(NOON)
    assert record.state.word == "in use by lena on fir"
    assert record.hindrance == "In use by lena on fir. Check again once it is free."
