"""A session in a few figures."""

import io
import json
import re
from collections.abc import Iterable

import msgspec
import pytest

from tests.outcomes import LATE
from tests.synthetic import CONTESTANTS, End, knees, session
from workbench.analysis.repeats import last_attempts
from workbench.analysis.summary import summarise
from workbench.commands.summary import data_of, print_ranking, print_summary
from workbench.documents import AnyDocument, Metric, Note, PointStop, Window
from workbench.messages import notes
from workbench.messages.reasons import BackgroundLoad
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
        json.dumps(summarise(documents[:length]).to_data(), allow_nan=False)


def test_the_reason_for_an_early_end_is_shown_with_its_server() -> None:
    gave_up = notes.GaveUp(x=9000.0, success_below_pct=50.0, points=3, left_out=2)
    settle = notes.Settle(name="asyncio streams", seconds=5.0)
    noted = [each.note(0, server="asyncio-streams") for each in (gave_up, settle, settle)]
    documents: list[AnyDocument] = [*session(1, 2), *noted]
    server = summarise(documents).servers["asyncio-streams"]
    assert server.gave_up == gave_up.text()
    assert server.notes.count(settle.text()) == 1


def test_a_server_that_died_the_same_way_in_every_pass_is_reported_once() -> None:
    first, last = (notes.Died(name="asyncio streams", x=x, status=-9) for x in (2000.0, 1000.0))
    died = [each.note(0, server="asyncio-streams") for each in (first, first, last)]
    server = summarise([*session(1, 2), *died]).servers["asyncio-streams"]
    assert server.died == f"{first.text()} {last.text()}"


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


def test_notes_are_listed_by_code_and_severity() -> None:
    died = notes.Died(name="asyncio streams", x=2000.0, status=-9)
    data = summarise([*session(1, 2), died.note(0, server="asyncio-streams")]).to_data()
    assert [note["code"] for note in data["notes"]] == ["ceiling"]
    assert data["servers"]["asyncio-streams"]["notes"] == [
        {"code": "died", "severity": "alert", "text": died.text()}
    ]


def test_plain_data_has_the_documented_shape() -> None:
    documents = session(1, 8)
    data = json.loads(json.dumps(summarise(documents).to_data()))
    server = data["servers"]["asyncio-streams"]
    assert server["knee_per_s"] == 4500.0
    stop = next(d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep")
    assert stop.latency_us is not None
    first = server["points"][0]
    assert first["offered_per_s"] == stop.offered_per_s
    assert first["replies_per_s"] == stop.replies_per_s
    assert first["errors_pct"] == stop.errors_pct
    assert first["latency_ms"]["p50"] == stop.latency_us.p50 / 1000
    assert first["latency_ms"]["p99"] == stop.latency_us.p99 / 1000
    assert first["verdict"] == "ok"
    assert [point["codes"] for point in server["points"][4:6]] == [["calls-failed"]] * 2


def test_figures_of_the_source_stand_beside_those_of_its_servers_now() -> None:
    tornado = next(each for each in CONTESTANTS if each.id == "tornado")
    summary = summarise(session([CONTESTANTS[0], tornado], 8))
    rows = data_of(summary)["then_and_now"]["rows"]
    now = [row for row in rows if row["now"]]
    assert [(row["name"], row["then"], row["id"]) for row in now] == [
        ("Tornado", "7,400/s", "tornado")
    ]
    screen = io.StringIO()
    print_summary(summary, Terminal(file=screen, width=120))
    shown = screen.getvalue()
    assert "Nicholas Piël, Asynchronous Servers in Python" in shown
    assert now[0]["now"].split(",")[0] in shown
    assert "highest" not in now[0]["now"]
    below = summarise(session([tornado], 2, rates=[500.0, 1000.0]))
    (row, *_) = data_of(below)["then_and_now"]["rows"]
    assert row["now"].endswith("replies/s, ok at 1,000/s, the highest tested")
    assert data_of(summarise(session(1, 8)))["then_and_now"] is None


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


def test_percentiles_of_too_few_values_are_left_out() -> None:
    data = summarise(session(1, 2, rates=[300.0, 600.0])).to_data()
    first, second = data["servers"]["asyncio-streams"]["points"]
    assert first["latency_ms"]["p90"] is not None
    assert first["latency_ms"]["p99"] is None
    assert second["latency_ms"]["p99"] is not None
    assert second["latency_ms"]["p999"] is None


def test_a_server_that_was_not_measured_is_not_said_to_sustain_no_rate() -> None:
    documents = [d for d in session(2, 2) if getattr(d, "server", "") != "asyncio-streams"]
    out = io.StringIO()
    print_ranking(summarise(documents), Terminal(file=out, width=100))
    [streams] = [line for line in out.getvalue().splitlines() if "asyncio streams" in line]
    assert "not measured" in streams


def test_an_unknown_sustained_rate_is_not_reported_as_none() -> None:
    summary = summarise(session(1, 4, untrusted_from=1))
    console = Terminal(file=io.StringIO(), width=120)
    print_ranking(summary, console)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "no tested rate" not in shown
    assert f"What asyncio streams sustains is unknown: {LATE.text()}" in shown
    (data,) = summary.to_data()["servers"].values()
    assert (data["knee_per_s"], data["knee_unknown"]) == (None, LATE.text())


def test_background_load_is_stated_once_for_all_servers_that_it_hides() -> None:
    load = BackgroundLoad(cpu_pct=180.0, stolen_pct=0.0)
    disturbed: list[AnyDocument] = []
    for each in session(3, 2, untrusted_from=1):
        told = {}
        if isinstance(each, PointStop):
            evidence = {**each.evidence, "others_cpu_pct": load.cpu_pct}
            told = {"findings": [load.record()], "reasons": [load.text()], "evidence": evidence}
        disturbed.append(msgspec.structs.replace(each, **told))
    out = io.StringIO()
    print_ranking(summarise(disturbed), Terminal(file=out, width=400))
    shown = out.getvalue()
    assert shown.count("Background load") == shown.count("Repeat on a quiet machine.") == 1
    (line,) = [line for line in shown.splitlines() if "sustain is unknown" in line]
    assert "up to 180 % of a core" in line
    assert all(each.name in line for each in CONTESTANTS[:3])


def test_twice_the_points_are_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    gone_through: list[int] = []

    def spied(points: Iterable[PointStop]) -> list[PointStop]:
        all_of_them = list(points)
        gone_through.append(len(all_of_them))
        return last_attempts(all_of_them)

    for module in ("results.series", "knee", "intervals"):
        monkeypatch.setattr(f"workbench.analysis.{module}.last_attempts", spied)

    def work(points: int) -> int:
        gone_through.clear()
        summary = summarise(session(1, points, seconds=0.2))
        print_summary(summary, Terminal(file=io.StringIO(), width=120))
        summary.to_data()
        return sum(gone_through)

    assert work(80) <= 2.2 * work(40)


def test_background_load_is_among_the_notes_for_other_programs() -> None:
    quiet = session(1, 4)
    assert all(note["code"] != "background-load" for note in summarise(quiet).to_data()["notes"])
    disturbed = [
        msgspec.structs.replace(d, evidence={**d.evidence, "others_cpu_pct": 80.0})
        if isinstance(d, PointStop) and d.x == 4500.0
        else d
        for d in quiet
    ]
    (note,) = (n for n in summarise(disturbed).to_data()["notes"] if n["code"] == "background-load")
    assert note["severity"] == "warning"
    assert note["text"].startswith("Background load took up to 80 % of a core, at 1 of ")


def test_the_last_complete_attempt_at_a_rate_counts() -> None:
    first = next(d for d in session(1, 2) if isinstance(d, PointStop) and d.purpose == "sweep")
    attempts = [
        msgspec.structs.replace(first, point=number, look=number, complete=number != 3)
        for number in (1, 2, 3)
    ]
    (server,) = summarise([*session(1, 2)[:1], *attempts]).servers.values()
    assert [server.counts(stop) for stop in server.stops] == [False, True, False]


@pytest.mark.parametrize("end", ["interrupted", "crashed"])
def test_of_a_run_that_ended_in_its_only_point_the_figures_are_shown_as_incomplete(
    end: End,
) -> None:
    summary = summarise(list(completed(session(1, 1, end=end))))
    found = data_of(summary)["servers"]["asyncio-streams"]
    (point,) = found["points"]
    assert found["incomplete_at"] == point["x"]
    assert (found["knee"], point["complete"], point["counts"]) == (None, False, False)
    assert point["replies_per_s"] > 0 and point["latency_ms"]["p50"] > 0
    out = io.StringIO()
    print_ranking(summary, Terminal(file=out, width=200))
    row = next(line for line in out.getvalue().splitlines() if "incomplete at" in line)
    assert len(re.findall(r"[\d.]+ m?s ", row)) == 3, "the mean, p50 and p99"


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


def test_a_server_with_a_complete_point_is_not_marked_incomplete() -> None:
    servers = data_of(summarise(session(2, 4, end="interrupted")))["servers"]
    assert servers["asyncio-streams"]["incomplete_at"] is None
