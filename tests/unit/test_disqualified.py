"""Servers that stopped replying: a category of its own, never for what was not their fault."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from synthetic import session

from workbench.analysis.knee import stopped_past
from workbench.analysis.summary import summarise
from workbench.documents import Counts, PointStop, Verdict
from workbench.messages import notes
from workbench.results.render.data import of_session


def sweep(*points: tuple[int, Verdict]) -> list[PointStop]:
    """Points at 1,000/s, 2,000/s and so on: (answered of 1,000 calls, verdict)."""
    return [
        PointStop(
            t_us=0, point=number, server="a", rate_per_s=1000.0 * number, seconds=1.0,
            complete=True, verdict=verdict,
            counts=Counts(
                scheduled=1000, unsent=0, sent=1000, late=0, established=1000, succeeded=answered,
                errors={"client-timo": 1000 - answered},
            ),
        )
        for number, (answered, verdict) in enumerate(points, 1)
    ]  # fmt: skip


WELL, SLOW, DEAF = (1000, "ok"), (400, "server-limited"), (3, "server-limited")


@pytest.mark.parametrize(
    ("case", "points", "ended_at", "expected"),
    [
        ("all answered", [WELL, WELL], None, None),
        ("too slow, but answering", [WELL, SLOW, SLOW], None, None),
        ("silent past a rate", [WELL, SLOW, DEAF, DEAF], None, 2000.0),
        ("silent once, and back again", [WELL, DEAF, SLOW], None, None),
        ("resets are silence too", [WELL, (0, "faulty")], None, 1000.0),
        ("clients were the limit", [WELL, (0, "client-limited")], None, None),
        ("the network was", [WELL, (0, "network-limited")], None, None),
        ("nobody knows who was", [WELL, (0, "inconclusive")], None, None),
        ("never replied", [DEAF, DEAF], None, None),
        ("its process ended in the middle of a point", [WELL, SLOW], 2000.0, 2000.0),
        ("and at its first call", [WELL, DEAF], 2000.0, 1000.0),
        ("nothing measured", [], None, None),
    ],
)
def test_a_server_is_disqualified_where_it_stopped_replying(
    case: str,
    points: list[tuple[int, Verdict]],
    ended_at: float | None,
    expected: float | None,
) -> None:
    assert stopped_past(sweep(*points), ended_at) == expected, case


@pytest.mark.parametrize("error", ["protocol", "protocol-503", "check-text"])
def test_a_server_that_answers_incorrectly_still_replies(error: str) -> None:
    well, wrong = sweep(WELL, (0, "faulty"))
    wrong = replace(wrong, counts=replace(wrong.counts, errors={error: 1000}))
    assert stopped_past([well, wrong]) is None


def test_the_summary_says_at_or_past_which_rate() -> None:
    run = session(2, 4)
    stops = [stop for stop in run if isinstance(stop, PointStop) and stop.judged]
    last = [stop for stop in stops if stop.server == "asyncio-streams"][-1]
    died = notes.Died(name="asyncio streams", status=-11, x=last.x).note(
        last.t_us, server="asyncio-streams"
    )
    found = summarise([*run[:-1], died, run[-1]])
    assert of_session(found)["servers"]["asyncio-streams"]["stopped_past"] == last.x
    assert found.servers["asyncio-streams"].disqualified == "stopped replying at 9,000/s"
    silent = replace(
        last,
        point=99,
        x=10_000.0,
        verdict="server-limited",
        counts=replace(
            last.counts, succeeded=0, errors={"client-timo": last.counts.scheduled}, in_flight=0
        ),
    )
    found = summarise([*run[:-1], silent, run[-1]])
    assert found.servers["asyncio-streams"].disqualified == "stopped replying past 9,000/s"
    assert of_session(found)["servers"]["asyncio-protocol"]["disqualified"] is None
