"""What servers sustain: how sure it is, how it reads, and which are faulty or stopped replying."""

from __future__ import annotations

import dataclasses
from math import inf
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.comparisons import RATES, faster, passes, side
from tests.recording import record_session
from tests.synthetic import contestants, session
from tests.turned_bad import turned_bad
from workbench import axis as axes
from workbench.analysis.knee import knee_interval, ranks, stopped_past, undecided
from workbench.analysis.series import SeriesResult
from workbench.analysis.summary import summarise
from workbench.axis import Axis
from workbench.documents import AnyDocument, Counts, PointStop, Verdict
from workbench.messages import notes
from workbench.messages.causes import lacking
from workbench.results import sustained
from workbench.results.comparison import compare
from workbench.results.render.data import of_session
from workbench.sessions import read_session

SIZES = Axis(key="message_size", label="Message size", unit="bytes", limit="highest")


def results(documents: list[AnyDocument], axis: Axis = axes.RATE) -> list[SeriesResult]:
    """Highest first."""
    servers = summarise(documents).ranked()
    return [SeriesResult(s.id, s.name, axis=axis, stops=s.stops) for s in servers]


def behind_busy_clients(documents: list[AnyDocument], server: str) -> list[AnyDocument]:
    return [
        replace(d, verdict="client-limited", reasons=["The clients are busy."])
        if isinstance(d, PointStop) and d.server == server
        else d
        for d in documents
    ]


def test_a_column_and_a_sentence_say_the_same() -> None:
    (fast,) = results(session(contestants(3)[2:], rates=[1000.0, 2000.0]))
    assert sustained.column(fast) == "≥ 2,000/s"
    assert sustained.sentence(fast) == "gevent sustains ≥ 2,000/s"
    assert sustained.parts(fast, over=False).text == "sustains ≥ 2,000/s"
    assert sustained.parts(fast).of_several().text == "sustain ≥ 2,000/s"


def test_no_rate_is_named_where_none_is_varied() -> None:
    lost = [
        replace(d, verdict="server-limited") if isinstance(d, PointStop) else d
        for d in session(1, 3)
    ]
    (series,) = results(lost, SIZES)
    assert sustained.column(series) == "no tested value"
    assert sustained.sentence(series) == "asyncio streams sustains no tested value"


def test_without_a_limit_the_most_replies_are_shown_with_their_value() -> None:
    (series,) = results(session(1, 3), axes.concurrency([]))
    assert sustained.column(series).endswith(" replies/s")
    assert sustained.column(series, where=True) == "4,866 replies/s at 6,000 concurrent"
    assert sustained.sentence(series) == f"asyncio streams: {sustained.column(series, where=True)}"
    assert sustained.parts(series).caption == "most replies"


def test_the_answer_ranks_all_servers_and_says_why_they_sustain_no_more() -> None:
    full = lacking("cores-full", cores=1, busy_pct=99.0)
    documents = [
        replace(d, reasons=[full.text()], findings=[full.record()])
        if isinstance(d, PointStop) and d.verdict == "server-limited"
        else d
        for d in session(3, 8)
    ]
    ranked = summarise(documents).ranked()
    alike = sustained.answer(ranked).text
    assert alike == (
        "gevent sustains 7,875/s; asyncio Protocol 6,750/s; asyncio streams 4,500/s"
        " (each: its core was full)"
    )
    assert sustained.answer(ranked, whole=False).text == f"Incomplete: {alike}"
    shown = [
        replace(d, findings=[], reasons=[])
        if getattr(d, "server", "") == "gevent" and isinstance(d, PointStop)
        else d
        for d in documents
    ]
    assert sustained.answer(summarise(shown).ranked()).text.endswith(
        "; asyncio streams 4,500/s, its core was full"
    )


def test_servers_that_sustain_the_same_stand_together() -> None:
    high = session(contestants(3)[1:], rates=[1000.0, 2000.0])
    both = sustained.answer(summarise(high).ranked()).text
    assert both == "asyncio Protocol and gevent sustain at least 2,000/s"
    assert sustained.answer([]).text == "Nothing was measured"


@pytest.mark.parametrize("server", ["asyncio-streams", "asyncio-protocol"])
def test_a_server_loaded_only_by_busy_clients_is_in_doubt(server: str) -> None:
    documents = behind_busy_clients(session(3, 8), server)
    ranked = summarise(documents).ranked()
    (name,) = (each.name for each in ranked if each.id == server)
    assert sustained.answer(ranked).doubts == [f"What {name} sustains is unknown."]
    alone = results(behind_busy_clients(session(1, 3), "asyncio-streams"))
    assert [sustained.column(each) for each in alone] == ["unknown"]
    assert sustained.answer(alone).text == "What asyncio streams sustains is unknown"


def test_rates_are_rounded_as_in_the_charts() -> None:
    steps = [103.4 * n for n in range(40, 70)]
    (gevent,) = side("A", session(1, rates=steps)).contenders
    assert gevent.result.knee == 103.4 * 50
    assert sustained.column(gevent.result) == "5,170/s"
    assert sustained.interval(gevent.result) == "5,170 to 5,273/s"


def test_one_pass_has_the_step_between_its_rates_and_no_confidence() -> None:
    (gevent,) = side("A", session(1, rates=RATES)).contenders
    assert gevent.result.interval is not None
    assert (gevent.result.interval.low, gevent.result.interval.high) == (5000, 6000)
    assert gevent.result.interval.coverage is None


def test_few_passes_give_their_range_and_its_low_confidence() -> None:
    found = knee_interval(passes((5000, 6000), (4000, 5000), (5000, 6000)))
    assert found is not None
    assert (found.low, found.high) == (4000, 6000)
    assert found.coverage == 0.75


@pytest.mark.parametrize(
    ("number", "left_out", "at_least"), [(1, 0, None), (5, 0, 0.93), (6, 0, 0.96), (9, 1, 0.96)]
)
def test_many_passes_give_an_interval_that_covers_the_median_by_arithmetic(
    number: int, left_out: int, at_least: float | None
) -> None:
    rank, coverage = ranks(number)
    assert rank == left_out
    assert (coverage is None) == (at_least is None)
    assert coverage is None or coverage >= (at_least or 0)


def test_a_server_without_a_seen_limit_sustains_at_least_its_highest_rate() -> None:
    (fast,) = side("A", session(faster(1, 9), rates=RATES)).contenders
    assert fast.result.interval is not None
    assert fast.result.interval.high == inf
    assert sustained.column(fast.result) == "≥ 9,000/s"
    assert sustained.interval(fast.result) == "above 9,000/s"


def test_a_rate_lost_by_the_clients_shows_no_limit_of_the_server() -> None:
    (fast,) = side("A", session(faster(1, 9), rates=RATES, untrusted_from=7000)).contenders
    assert fast.result.knee == 6000
    assert sustained.column(fast.result) == "≥ 6,000/s"


def test_servers_that_sustained_nothing_or_have_no_points_are_reported() -> None:
    dead, alive = side(
        "A",
        session(
            [dataclasses.replace(contestants(1)[0], capacity_per_s=0), *contestants(2)[1:]],
            rates=RATES,
        ),
    ).contenders
    assert sustained.column(dead.result) == "no tested rate"
    assert dead.result.at_knee is None
    start = session(1)[0]
    (unmeasured,) = side("B", [start]).contenders
    assert sustained.column(unmeasured.result) == "not measured"
    assert [c.name for c in compare([side("A", session(2)), side("B", [start])]).ranked()][-1] == (
        unmeasured.name
    )
    assert alive.result.knee == 7000


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
    case: str, points: list[tuple[int, Verdict]], ended_at: float | None, expected: float | None
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
    died = notes.notice("died", name="asyncio streams", status=-11, x=last.x).note(
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


BAD, NEVER_GOOD, GOOD = "asyncio-protocol", "asyncio-streams", "gevent"


@pytest.fixture
def documents() -> list[AnyDocument]:
    closed = turned_bad(session(3, 8), NEVER_GOOD, 0.0, "protocol-closed", answered=3, agreed=10)
    return turned_bad(closed, BAD, 4000.0)


def test_a_faulty_point_ends_the_sustained_range_without_being_a_limit(
    documents: list[AnyDocument],
) -> None:
    servers = summarise(documents).servers
    bad, never_good = servers[BAD], servers[NEVER_GOOD]
    assert (bad.knee, bad.knee_is_floor) == (3375.0, True)
    assert bad.interval is not None and bad.interval.high == float("inf")
    assert (never_good.knee, never_good.unknown) == (None, None)
    assert not servers[GOOD].faulty and not servers[GOOD].what_is_faulty


def test_a_good_rate_above_makes_it_faulty_at_one_rate_only(documents: list[AnyDocument]) -> None:
    once = turned_bad(session(1, 8), NEVER_GOOD, 2000.0)
    good = {d.x: d for d in session(1, 8) if isinstance(d, PointStop) and d.verdict == "ok"}
    fixed = [good.get(d.x, d) if isinstance(d, PointStop) and d.x > 2300 else d for d in once]
    (server,) = summarise(fixed).servers.values()
    assert server.what_is_faulty == "faulty at 2,250/s: answers 500"


def test_a_server_is_faulty_after_two_faulty_points(documents: list[AnyDocument]) -> None:
    first = [d for d in documents if isinstance(d, PointStop) and d.server == NEVER_GOOD]
    again = [msgspec.structs.replace(stop, look=2) for stop in first]
    assert undecided(first) is not None
    assert undecided([*first, *again]) is None


def test_a_session_with_it_is_read_without_a_remark(
    documents: list[AnyDocument], tmp_path: Path
) -> None:
    session = read_session(recorded(tmp_path, documents))
    assert not session.damage and len(session.documents) == len(documents)
    assert session.notes == []


def recorded(folder: Path, documents: list[AnyDocument]) -> Path:
    return record_session(folder / "s.pong.yaml", documents)
