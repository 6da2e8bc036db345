"""The contents of a report, before any markup."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis.strategies import integers, sampled_from

from app.words import conditions
from tests.outcomes import LATE, Contestant
from tests.repeats import with_repeats
from tests.synthetic import contestants, knees, session
from workbench.analysis.summary import summarise
from workbench.commands.summary import data_of, print_ranking, print_summary
from workbench.documents import AnyDocument, Note, PointStop, RunStart
from workbench.messages import notes
from workbench.messages.reasons import SustainedUnderBackgroundLoad
from workbench.plan.reading import plan_from_data
from workbench.report.facts import facts
from workbench.report.points import points_as_csv
from workbench.sessions.completion import completed
from workbench.sessions.reading import read_session
from workbench.terminal import Terminal

CLOSED = Path(__file__).parents[1] / "cases" / "sessions" / "closed-loop.pong.yaml"


def test_the_answer_names_the_best_server_and_its_rate() -> None:
    report = facts(session(3, 8))
    assert report.answer == "Best: gevent at 7,875 connections per second."
    assert [sustained.name for sustained in report.ranking] == [
        "gevent",
        "asyncio Protocol",
        "asyncio streams",
    ]
    assert [sustained.sustained for sustained in report.ranking] == [
        "7,875/s",
        "6,750/s",
        "4,500/s",
    ]


def test_servers_that_sustain_the_same_are_named_together() -> None:
    report = facts(session(3, rates=[1000.0, 2000.0]))
    assert report.answer == (
        "asyncio streams, asyncio Protocol and gevent sustain ≥ 2,000 connections per second."
    )
    assert {sustained.sustained for sustained in report.ranking} == {"≥ 2,000/s"}


@pytest.mark.parametrize(
    ("documents", "answer"),
    [
        (session(2, 3)[:3], "Nothing was measured."),
        (
            session([Contestant("dead", "Dead", "", 0, 100, 1)], 3),
            "No server sustained any tested rate.",
        ),
        (
            session(2, rates=[2000.0, 4000.0], untrusted_from=1),
            f"What they sustain is unknown: {LATE.text()}",
        ),
        (
            session(1, rates=[1000.0]),
            "asyncio streams sustains ≥ 1,000 connections per second.",
        ),
    ],
    ids=["nothing", "all failed", "not known", "alone"],
)
def test_every_session_has_an_answer(documents: list[AnyDocument], answer: str) -> None:
    assert facts(documents).answer == answer


@given(integers(1, 5), integers(1, 9), sampled_from(["done", "interrupted", "crashed"]))
def test_the_ranking_says_what_the_knees_are(servers: int, points: int, end: str) -> None:
    documents = session(servers, points, seconds=1.0, end=end)  # type: ignore[arg-type]
    known = knees(servers, points)
    for sustained in facts(documents).ranking[:-1]:
        expected = known[sustained.id]
        if expected is None:
            assert sustained.sustained in ("no tested rate", "not measured")
        else:
            assert f"{expected:,.0f}/s" in sustained.sustained or end != "done"


def test_unreliable_points_are_named_with_their_rates_and_cause() -> None:
    report = facts(session(2, 4, untrusted_from=6000.0))
    (first, second) = report.doubts
    assert first.startswith("asyncio streams at 6,750/s and 9,000/s: client-limited. The clients")
    assert second.startswith("asyncio Protocol at")
    rows = report.points[0].rows
    assert [row.trusted for row in rows] == [True, True, False, False]


def test_a_session_without_doubts_has_none() -> None:
    assert facts(session(2, 4)).doubts == []


def test_being_aborted_is_the_first_doubt_about_a_run() -> None:
    report = facts(session(2, 4, end="interrupted"))
    assert report.state == "The run was aborted. Aborted by hand."
    assert report.doubts[0] == report.state
    assert "asyncio Protocol at 9,000/s: interrupted; excluded from results." in report.doubts
    last = report.points[-1].rows[-1]
    assert (last.verdict, last.replies, last.counts) == ("interrupted", "6,788", False)


def test_calls_missing_from_the_count_are_reported() -> None:
    documents = [
        msgspec.structs.replace(d, conserved=False)
        if isinstance(d, PointStop) and d.rate_per_s == 4500.0
        else d
        for d in session(1, 2)
    ]
    report = facts(documents)
    failed = [audit for audit in report.audits if audit.failed]
    assert [audit.code for audit in failed] == ["conservation"]
    assert "asyncio streams at 4,500/s" in failed[0].message.text()
    rows = [row.reasons for row in report.points[0].rows]
    assert ["Audit failed: Conservation." in row for row in rows] == [True, False]
    table = csv.DictReader(points_as_csv(documents).splitlines())
    assert [row["audits_failed"] for row in table] == ["conservation", ""]


def test_figures_of_a_point_that_was_cut_are_those_of_the_summary() -> None:
    documents = list(completed(session(1, 1, end="crashed")))
    (row,) = facts(documents).ranking
    out = io.StringIO()
    print_ranking(summarise(documents), Terminal(file=out, width=200))
    (line,) = (line for line in out.getvalue().splitlines() if "incomplete at" in line)
    assert row.mean and row.p50 and row.p99
    assert line.split() == " ".join([row.name, row.sustained, row.mean, row.p50, row.p99]).split()


def test_cpu_time_that_was_not_measured_is_not_said_to_be_none() -> None:
    documents = [
        msgspec.structs.replace(d, server_cpu_pct=0.0) if isinstance(d, PointStop) else d
        for d in session(1, 2)
    ]
    (row,) = facts(documents).ranking
    (server,) = data_of(summarise(documents))["servers"].values()
    assert (row.cpu, server["cpu_at_knee_pct"]) == ("", None)


def test_a_percentile_is_shown_only_with_enough_replies() -> None:
    few = facts(session(1, rates=[100.0], seconds=1.0)).points[0].rows[0]
    many = facts(session(1, rates=[4000.0], seconds=4.0)).points[0].rows[0]
    assert few.times[0]
    assert few.times[3] == ""
    assert all(many.times)


def test_a_note_about_a_server_in_every_pass_is_shown_once() -> None:
    slow = contestants(7)[6:]
    report = facts(session(slow, 9, repeats=3, give_up=True))
    gave_up = notes.GaveUp(x=6000.0, success_below_pct=50.0, points=3, left_out=3)
    assert report.ranking[0].incidents == gave_up.text()
    assert report.passes == 3


def test_a_different_load_tool_is_named_wherever_conditions_are_shown() -> None:
    start, *rest = session(2, 3)
    assert isinstance(start, RunStart)
    driven = msgspec.structs.replace(start, plan={**start.plan, "load_tool": "wrk"})
    report = facts([driven, *rest])
    assert any("load tool wrk" in sentence for sentence in report.conditions)
    assert any(
        "generated by wrk, not by Pongbench's own agent" in message for message in report.method
    )
    assert not any("counted as late" in message for message in report.method)
    screen = io.StringIO()
    print_summary(summarise([driven, *rest]), Terminal(file=screen, width=120))
    assert "Load tool: wrk." in screen.getvalue()
    assert summarise([driven, *rest]).to_data()["load_tool"] == "wrk"
    assert "load tool wrk" in conditions(driven)
    ours = facts([start, *rest])
    assert "load tool" not in f"{ours.conditions} {ours.method} {conditions(start)}"


def test_every_event_names_its_server() -> None:
    gate = notes.Gate(gate={"sentences": ["It answers 'Pong!' with 45 bytes on the wire."]})
    documents = session(1, 2)
    found = [gate.note(0, server="null"), gate.note(0, server="asyncio-streams")]
    report = facts([documents[0], *found, *documents[1:]])
    assert [event.text for event in report.events[:2]] == [
        "Null server: it answers 'Pong!' with 45 bytes on the wire.",
        "asyncio streams: it answers 'Pong!' with 45 bytes on the wire.",
    ]


def test_the_plan_of_a_report_can_be_run_again() -> None:
    documents = session(3, 8)
    start = documents[0]
    assert isinstance(start, RunStart)
    report = facts(documents)
    assert plan_from_data(yaml.safe_load(report.plan), name="report") == plan_from_data(
        start.plan, name="session"
    )


def test_conditions_name_machine_backlog_and_what_is_shared() -> None:
    report = facts(session(2, 3))
    message = " ".join(report.conditions)
    assert "Servers and clients shared localhost" in message
    assert "a backlog of 512 and given at most 20,000 descriptors" in message
    (machine,) = report.machines  # the kernel's settings were not recorded
    assert ("CPU", "AMD EPYC 7763 64-Core Processor") in machine.rows
    assert ("Kernel", "Linux 6.1.0-41-amd64") in machine.rows
    assert report.servers is not None
    assert report.servers.rows[0][:3] == ("asyncio streams", "CPython 3.11.7", "CPython 3.11.7")


def test_the_users_title_and_notes_come_first() -> None:
    report = facts(session(1, 1), "Before the new kernel", "On battery.")
    assert (report.title, report.notes) == ("Before the new kernel", "On battery.")
    assert facts(session(1, 1)).title == "Socket ping-pong"


def test_notes_are_listed_in_order_with_their_time() -> None:
    documents = session(1, 2, give_up=True)
    report = facts(documents)
    assert len(report.events) == sum(isinstance(d, Note) for d in documents)
    assert report.events[0].text == notes.Ceiling(ceiling_per_s=14_000.0).text()


def test_kernel_settings_are_listed_separately() -> None:
    start, *rest = session(1, 2)
    assert isinstance(start, RunStart)
    facts_known = start.machines[0].facts | {"sysctls": {"net.core.somaxconn": 4096}}
    machine = msgspec.structs.replace(start.machines[0], facts=facts_known)
    report = facts([msgspec.structs.replace(start, machines=[machine]), *rest])
    assert [table.title for table in report.machines] == [
        "localhost (servers and clients)",
        "Kernel settings of localhost",
    ]
    assert report.machines[1].rows == (("net.core.somaxconn", "4096"),)


def test_points_that_are_ok_except_for_background_load_share_one_footnote() -> None:
    documents = [
        msgspec.structs.replace(d, reasons=[SustainedUnderBackgroundLoad(cpu_pct=161.0).text()])
        if isinstance(d, PointStop) and d.rate_per_s == 4500.0
        else d
        for d in session(1, 2)
    ]
    assert facts(documents).doubts == [
        "1 point was sustained with a remark: the rate counts, but response times there may be"
        " longer than the server’s own."
    ]


def test_servers_that_may_sustain_more_are_named_with_the_answer() -> None:
    unsure = [
        msgspec.structs.replace(d, verdict="inconclusive")
        if isinstance(d, PointStop) and d.rate_per_s > 3000 and d.server == "asyncio-streams"
        else d
        for d in session(2, rates=[1000.0, 3000.0, 6000.0, 9000.0])
    ]
    assert facts(unsure).answer == (
        "Highest measured: asyncio Protocol at 6,000 connections per second."
        " asyncio streams: limit not reached."
    )
    assert facts([d for d in unsure if getattr(d, "rate_per_s", 0) != 9000]).answer == (
        "Highest measured: asyncio Protocol at ≥ 6,000 connections per second."
        " asyncio streams: limit not reached."
    )


def test_attempts_at_a_rate_are_listed_together_in_the_table() -> None:
    report = facts(with_repeats(session(2, 8), 4500.0, "asyncio-streams"))
    rows = [(row.offered, row.counts) for row in report.points[0].rows]
    assert rows[3:6] == [("4,500/s", False), ("4,500/s", True), ("5,625/s", True)]


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (14000.0, "The clients reach at least 14,000/s, all that"),
        (15000.0, "The client limit is 14,000/s: the most the clients reached"),
    ],
)
def test_a_client_limit_is_reported_only_where_more_was_offered(last: float, message: str) -> None:
    report = facts(session(1, rates=[1000.0, last]))
    assert any(sentence.startswith(message) for sentence in report.method)


def test_warnings_and_omitted_servers_are_doubts() -> None:
    documents = session(2, 3)
    gone = [d for d in documents if getattr(d, "server", "") != "asyncio-protocol"]
    unknown = notes.ClientLimitUnknown()
    left_out = notes.Deploy(said="Its port was taken by another.")
    warning, reason = unknown.note(5), left_out.note(6, server="asyncio-protocol")
    assert facts([gone[0], warning, warning, reason, *gone[1:]]).doubts == [
        unknown.text(),
        f"asyncio Protocol was not measured. {left_out.text()}",
    ]


def test_a_closed_loop_is_summarised_by_its_highest_reply_rate_and_warns_of_stalls() -> None:
    report = facts(read_session(CLOSED).documents)
    assert [
        (sustained.name, sustained.sustained, sustained.p50, sustained.p99)
        for sustained in report.ranking
    ] == [
        ("asyncio Protocol", "12,519 replies/s at 50 concurrent", "3.68 ms", "9.35 ms"),
        ("asyncio streams", "8,223 replies/s at 50 concurrent", "5.62 ms", "13.1 ms"),
    ]
    assert report.answer == "Best: asyncio Protocol with 12,519 replies/s at 50 concurrent."
    assert not any("scheduled time" in sentence for sentence in report.method)
