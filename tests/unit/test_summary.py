"""A session in a few figures."""

import io
import json
import re
from collections.abc import Iterable

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis.strategies import integers, sampled_from

from tests.synthetic import End, knees, session
from workbench.analysis.repeats import last_attempts
from workbench.analysis.summary import summarise
from workbench.documents import Metric, Note, PointStop, RunStart, Window
from workbench.messages import notes
from workbench.plan.reading import plan_from_data
from workbench.results.render.data import of_session
from workbench.results.render.terminal import print_summary
from workbench.results.rows import ranking
from workbench.results.setup import plan
from workbench.sessions.completion import completed
from workbench.terminal import Terminal


def test_every_server_is_summarised_with_its_knee_and_its_cost_there() -> None:
    summary = summarise(session(3, 8))
    assert {id_: server.knee for id_, server in summary.servers.items()} == knees(3, 8)
    gevent = summary.servers["gevent"]
    assert gevent.name == "gevent"
    there = gevent.at_knee
    assert there is not None
    assert there.latency_us is not None
    assert there.service_us is not None
    assert gevent.rss_bytes == max(stop.server_rss_bytes for stop in gevent.stops)
    assert there.cpu_pct == pytest.approx(94.3)
    assert len(gevent.points) == 8


def test_servers_are_ranked_by_sustained_rate() -> None:
    ranked = [server.id for server in summarise(session(3, 8)).ranked()]
    assert ranked == ["gevent", "asyncio-protocol", "asyncio-streams"]


def test_the_client_limit_is_reported() -> None:
    assert summarise(session(2, 4)).ceiling_per_s == 14_000
    assert summarise(session(2, 4, ceiling=False)).ceiling_per_s is None


def test_the_null_server_and_warm_ups_are_not_results() -> None:
    summary = summarise(session(2, 4))
    assert list(summary.servers) == ["asyncio-streams", "asyncio-protocol"]
    assert all(len(server.points) == 4 for server in summary.servers.values())


def test_latencies_at_the_knee_are_merged_over_the_passes() -> None:
    one, three = (summarise(session(1, 4, repeats=n)).servers["asyncio-streams"] for n in (1, 3))
    counts = [
        server.at_knee.latency_us.count
        for server in (one, three)
        if server.at_knee and server.at_knee.latency_us
    ]
    assert counts[1] > 2.9 * counts[0]


@pytest.mark.parametrize(
    ("end", "status"),
    [("done", "done"), ("interrupted", "aborted"), ("crashed", "interrupted")],
)
def test_the_end_of_the_session_is_reported(end: End, status: str) -> None:
    assert summarise(session(1, 4, end=end)).status == status


def test_a_session_cut_anywhere_has_a_summary() -> None:
    documents = session(2, 3, seconds=0.4)
    for length in range(len(documents)):
        json.dumps(of_session(summarise(documents[:length])), allow_nan=False)


def test_what_servers_have_in_common_is_stated_once() -> None:
    streams, protocol = notes.Backlog(backlog=512, asked=512), notes.Backlog(backlog=128, asked=512)
    answers = notes.Gate(gate={"sentences": ["It answers."], "rss_bytes": 4})
    summary = summarise(
        [
            *(document for document in session(2, 2) if not isinstance(document, Note)),
            answers.note(0, server="asyncio-streams"),
            notes.Gate(gate={"sentences": ["It answers."]}).note(0, server="asyncio-protocol"),
            notes.Gate(gate={"sentences": ["It answers at once."]}).note(0, server="null"),
            *[streams.note(0, server="asyncio-streams")] * 2,
            protocol.note(0, server="asyncio-protocol"),
        ]
    )
    assert [(found.text, found.names) for found in summary.deploy_findings] == [
        (answers.text(), ["asyncio streams", "asyncio Protocol"]),
        (streams.of_all(), ["asyncio streams"]),
        (protocol.of_all(), ["asyncio Protocol"]),
    ]
    assert summary.deploy_findings[0].sentence(2) == "All servers: It answers."


def test_a_narrow_terminal_leaves_out_metrics_before_replies_errors_and_response_times() -> None:
    metrics = [
        Metric(key=f"metric_{n}", label=f"Metric {n} with a long name", unit="%") for n in range(4)
    ]
    start, *rest = session(1, 2)
    values = {"metric_0": 1.0, "metric_1": 2.0, "metric_2": 3.0}
    documents = [
        msgspec.structs.replace(each, values=values) if isinstance(each, PointStop) else each
        for each in rest
    ]
    summary = summarise([msgspec.structs.replace(start, metrics=metrics), *documents])
    screen = io.StringIO()
    print_summary(summary, Terminal(file=screen, width=120))
    (titles,) = (line for line in screen.getvalue().splitlines() if "Verdict" in line)
    assert re.split(r"\s{2,}", titles.strip()) == [
        *("Offered", "Replies/s", "Errors", "Mean", "p50", "p99"),
        *("Metric 0 with a long name", "Verdict"),
    ]


def test_twice_the_points_are_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    gone_through: list[int] = []

    def spied(points: Iterable[PointStop]) -> list[PointStop]:
        all_of_them = list(points)
        gone_through.append(len(all_of_them))
        return last_attempts(all_of_them)

    for module in ("results", "knee", "intervals"):
        monkeypatch.setattr(f"workbench.analysis.{module}.last_attempts", spied)

    def work(points: int) -> int:
        gone_through.clear()
        summary = summarise(session(1, points, seconds=0.2))
        print_summary(summary, Terminal(file=io.StringIO(), width=120))
        of_session(summary)
        return sum(gone_through)

    assert work(80) <= 2.2 * work(40)


def test_the_last_complete_attempt_at_a_rate_counts() -> None:
    first = next(d for d in session(1, 2) if isinstance(d, PointStop) and d.purpose == "sweep")
    attempts = [
        msgspec.structs.replace(first, point=number, look=number, complete=number != 3)
        for number in (1, 2, 3)
    ]
    (server,) = summarise([*session(1, 2)[:1], *attempts]).servers.values()
    assert [server.counts(stop) for stop in server.stops] == [False, True, False]


def test_a_recording_that_ends_while_calls_drain_has_the_offered_rate_of_the_schedule() -> None:
    *documents, last = [d for d in session(1, 1) if not isinstance(d, PointStop)][:-1]
    assert isinstance(last, Window)
    drained = msgspec.structs.replace(
        last, t_us=last.t_us + last.length_us, index=last.index + 1, due=0, sent=0, phase="drain"
    )
    offered = [
        next(d.offered_per_s for d in completed(each) if isinstance(d, PointStop) and d.judged)
        for each in ([*documents, last], [*documents, last, drained])
    ]
    assert offered[0] == offered[1] > 0


@given(integers(1, 5), integers(1, 9), sampled_from(["done", "interrupted", "crashed"]))
def test_the_ranking_says_what_the_knees_are(servers: int, points: int, end: str) -> None:
    documents = session(servers, points, seconds=1.0, end=end)  # type: ignore[arg-type]
    known = knees(servers, points)
    for row in ranking(summarise(documents)).rows[:-1]:
        expected, sustained = known[row.of.id], row.text("sustained")
        if expected is None:
            assert sustained in ("no tested rate", "not measured")
        else:
            assert f"{expected:,.0f}/s" in sustained or end != "done"


def test_the_plan_of_a_report_can_be_run_again() -> None:
    documents = session(3, 8)
    start = documents[0]
    assert isinstance(start, RunStart)
    assert plan_from_data(yaml.safe_load(plan(start)), name="report") == plan_from_data(
        start.plan, name="session"
    )
