"""Windows of the load agent: what belongs to each, and that they add up to the point."""

from __future__ import annotations

import itertools

import pytest

from workbench.remote.agent.tally import Tally


def answer(tally: Tally, us: int) -> None:
    tally.due += 1
    tally.lateness.append(0)
    tally.connect.append(us * 1_000)
    tally.latency.append(us * 1_000)
    tally.whole_at_once.append(us * 1_000)


@pytest.mark.parametrize("steps", [1, 3, 6])
def test_what_comes_while_a_window_is_reported_belongs_to_the_next(steps: int) -> None:
    """It is reported in steps, between which calls are answered."""
    tally = Tally()
    answer(tally, 100)
    first = tally.window()
    begun = list(itertools.islice(first, steps))
    answer(tally, 300)
    tally.errors["connreset"] += 1
    tally.count()
    *_, results = [*begun, *first]
    assert (results["replies"], results["errors"]) == (1, {})
    assert results["latency"] == results["service"] == [100, 1]
    *_, later = tally.window()
    assert (later["replies"], later["errors"]) == (1, {"connreset": 1})
    assert later["latency"] == [300, 1]
    report = tally.report(0)
    assert (report["due"], report["replies"], report["errors"]) == (2, 2, {"connreset": 1})
    assert all(
        report["histograms"][name] == [100, 1, 300, 1]
        for name in ("latency", "service", "connect", "first_byte")
    )


def test_replies_of_which_all_times_are_the_same_are_added_to_the_others() -> None:
    tally = Tally()
    answer(tally, 100)
    tally.alike += [100_000, 300_000]
    *_, first = tally.window()
    tally.alike.append(300_000)
    *_, second = tally.window()
    assert (first["replies"], second["replies"]) == (3, 1)
    assert first["latency"] == first["service"] == [100, 2, 300, 1]
    assert second["latency"] == second["service"] == [300, 1]
    histograms = tally.report(0)["histograms"]
    assert all(
        histograms[name] == [100, 2, 300, 2] for name in ("latency", "service", "first_byte")
    )
    assert histograms["connect"] == [100, 1]


def test_replies_that_waited_to_be_read_are_counted_in_microseconds() -> None:
    tally = Tally()
    tally.wait([(90_000, 2), (90_999, 1), (300_000, 4)])
    assert tally.report(0)["waits"] == [90, 3, 300, 4]
