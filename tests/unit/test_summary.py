"""A session in a few figures: servers, clients, processes, mean response times, database."""

from __future__ import annotations

import io
import json
import re
import runpy
from collections.abc import Iterable
from math import isnan
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis.strategies import integers, sampled_from

from app.charts.model import ChartModel
from app.charts.series import Quantity
from tests.histograms import histogram_of
from tests.synthetic import End, knees, session
from workbench.analysis.clients import all_clients
from workbench.analysis.knee import last_attempts
from workbench.analysis.series import PointResult, View, mean_us
from workbench.analysis.summary import summarise
from workbench.analysis.tasks import Tasks
from workbench.commands.console import ConsoleView
from workbench.documents import (
    AnyDocument,
    ClientPart,
    Histograms,
    Metric,
    Note,
    Percentiles,
    PointStart,
    PointStop,
    RunStart,
    Window,
)
from workbench.formatting import duration
from workbench.messages import notes
from workbench.plan.reading import plan_from_data
from workbench.results.render.data import of_session
from workbench.results.render.terminal import print_summary
from workbench.results.rows import ranking
from workbench.results.setup import plan, sentences
from workbench.run import scheduler
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import APPS
from workbench.sessions import completed
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
    ("end", "status"), [("done", "done"), ("interrupted", "aborted"), ("crashed", "interrupted")]
)
def test_the_end_of_the_session_is_reported(end: End, status: str) -> None:
    assert summarise(session(1, 4, end=end)).status == status


def test_a_session_cut_anywhere_has_a_summary() -> None:
    documents = session(2, 3, seconds=0.4)
    for length in range(len(documents)):
        json.dumps(of_session(summarise(documents[:length])), allow_nan=False)


def test_what_servers_have_in_common_is_stated_once() -> None:
    streams = notes.notice("backlog", backlog=512, asked=512)
    protocol = notes.notice("backlog", backlog=128, asked=512)
    answers = notes.notice("gate", gate={"sentences": ["It answers."], "rss_bytes": 4})
    summary = summarise(
        [
            *(document for document in session(2, 2) if not isinstance(document, Note)),
            answers.note(0, server="asyncio-streams"),
            notes.notice("gate", gate={"sentences": ["It answers."]}).note(
                0, server="asyncio-protocol"
            ),
            notes.notice("gate", gate={"sentences": ["It answers at once."]}).note(
                0, server="null"
            ),
            *[streams.note(0, server="asyncio-streams")] * 2,
            protocol.note(0, server="asyncio-protocol"),
        ]
    )
    assert [*summary.found.items()] == [
        (answers.text(), ["asyncio streams", "asyncio Protocol"]),
        (notes.of_all(streams), ["asyncio streams"]),
        (notes.of_all(protocol), ["asyncio Protocol"]),
    ]
    assert summary.deployed[0] == "All servers: It answers."


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

    for module in ("series", "knee"):
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


FAST, SLOW = [400] * 30, [400] * 10 + [10_000] * 20
MEAN = View("mean")


def stops(*times: list[int]) -> list[PointStop]:
    """Passes of one point with these latencies, in microseconds."""
    found = (d for d in session(1, rates=[1000.0]) if isinstance(d, PointStop) and d.judged)
    stop = next(found)
    return [
        msgspec.structs.replace(
            stop, pass_number=n, histograms=Histograms(latency=histogram_of(each))
        )
        for n, each in enumerate(times, 1)
    ]


def test_the_mean_of_passes_counts_every_reply_once() -> None:
    both = PointResult(1000.0, tuple(stops(FAST, SLOW)))
    expected = sum(FAST + SLOW) / len(FAST + SLOW) / 1000
    assert both.time_ms(MEAN) == pytest.approx(expected, rel=0.001)
    assert both.spread("time", MEAN) == pytest.approx((0.4, 6.8), rel=0.001)


def test_without_replies_or_histograms_the_mean_is_unknown() -> None:
    assert isnan(PointResult(1000.0, tuple(stops([]))).time_ms(MEAN))
    data = of_session(summarise([*session(1, 1)[:1], *stops([])]))
    [server] = data["servers"].values()
    assert server["points"][0]["latency_ms"]["mean"] is None


def test_the_live_table_has_the_mean_of_the_running_point_and_of_a_finished_one() -> None:
    documents = session(1, 2)
    printed = io.StringIO()
    view = ConsoleView(Terminal(file=printed, width=140))
    begun = next(n for n, d in enumerate(documents) if isinstance(d, PointStart) and d.judged)
    first = next(n for n, d in enumerate(documents) if isinstance(d, Window) and n > begun)
    for document in documents[: first + 1]:
        view(document)
    (server,) = view.progress.servers.values()
    assert server.mean_us and server.latency_us
    assert server.latency_us.p50 < server.mean_us
    last = [d for d in documents if isinstance(d, PointStop) and d.judged][-1]
    for document in documents[first + 1 :]:
        view(document)
    assert server.mean_us == mean_us([last], "latency")
    view.console.print(view.render())
    assert "Mean" in printed.getvalue()
    assert duration(server.mean_us) in printed.getvalue()


def test_the_chart_of_the_response_time_can_show_the_mean_also_while_a_point_runs() -> None:
    model = ChartModel()
    documents = session(1, 2)
    last = max(n for n, d in enumerate(documents) if isinstance(d, PointStart) and d.judged)
    for document in documents[: last + 4]:
        model(document)
    (series,) = model.series.values()
    (mean,) = series.values(Quantity.TIME, MEAN).y
    (median,) = series.values(Quantity.TIME, View("p50")).y
    assert median < mean
    assert model.running
    assert model.running.value("time", MEAN) > model.running.value("time", View("p50"))


def shared(*, slow_from: float = 1e9) -> list[AnyDocument]:
    """A session of two clients; `c2` is late with most from that rate on."""
    return [
        part(document, slow_from) if isinstance(document, PointStop) else document
        for document in session(1, 4)
    ]


def part(point: PointStop, slow_from: float) -> PointStop:
    half = point.counts.scheduled // 2
    late = half // 2 if point.offered_per_s >= slow_from else 0
    parts = [
        ClientPart(machine="c1", scheduled=point.counts.scheduled - half, sent=half),
        ClientPart(
            machine="c2",
            scheduled=half,
            sent=half,
            late=late,
            cpu_pct=97.0 if late else 20.0,
            lateness_us=lateness(half, 7_000 if late else 900),
            clock_uncertainty_us=80,
        ),
    ]
    fields = {name: getattr(point, name) for name in point.__struct_fields__}
    return PointStop(**fields | {"clients": parts, "start_skew_us": 400})


def lateness(count: int, p99: int) -> Percentiles:
    return Percentiles(count=count, p50=90, p90=200, p99=p99, p999=p99, max=p99)


def points(documents: list[AnyDocument]) -> list[PointStop]:
    return [document for document in documents if isinstance(document, PointStop)]


def test_the_client_that_falls_behind_first_is_identified_by_its_own_limit() -> None:
    rates = sorted(p.offered_per_s for p in points(shared()) if p.purpose == "ceiling")
    first, second = all_clients(points(shared(slow_from=rates[-1]))).clients
    assert (first.machine, second.machine) == ("c1", "c2")
    assert first.ceiling_is_floor and not second.ceiling_is_floor
    assert first.ceiling_per_s is not None
    if len(rates) > 1:
        assert second.ceiling_per_s is not None and second.ceiling_per_s < first.ceiling_per_s
    else:
        assert second.ceiling_per_s is None
    assert (second.cpu_pct, second.lateness_p99_us) == (97.0, 7_000)


@pytest.mark.parametrize(
    ("tasks", "text", "cell", "in_legend"),
    [
        (Tasks(), "", "", ()),
        (Tasks(1, 1), "1 process", "1", ()),
        (Tasks(1, 1, beside_several=True), "1 process", "1", ("1 process", "1 proc.", "×1")),
        (Tasks(beside_several=True), "", "", ()),
        (Tasks(1, 8), "1 process, 8 threads", "1 (8 threads)", ("8 threads", "8 thr.")),
        (Tasks(4, 4), "4 processes", "4", ("4 processes", "4 proc.", "×4")),
        (
            Tasks(40, 1_168),
            "40 processes, 1,168 threads",
            "40 (1,168 threads)",
            ("40 processes, 1,168 threads", "40 proc., 1,168 thr.", "40 proc.", "×40"),
        ),
    ],
)
def test_the_shortest_form_is_said(
    tasks: Tasks, text: str, cell: str, in_legend: tuple[str, ...]
) -> None:
    assert (tasks.text, tasks.cell, tasks.in_legend) == (text, cell, in_legend)


SET: str = runpy.run_path(str(APPS / scheduler.PROGRAM))["SETTINGS"]
DOCS = Path(__file__).parents[2] / "docs" / "sources.md"


def test_every_setting_of_every_application_with_a_database_is_stated() -> None:
    stated = {entry.id: scheduler.settings(entry) for entry in Catalogue.load(extra_dirs=[])}
    using = {id_: found for id_, found in stated.items() if found}
    lines = SET.strip().splitlines()
    assert {"flask", "django-orm", "aiohttp", "api-hour", "axum"} <= using.keys()
    assert "tornado" not in using
    for found in using.values():
        assert [f"{name} = {value}" for name, value in found.items()] == lines
        assert notes.notice("database", settings=found).text().endswith(f"{', '.join(lines)}.")


def test_a_summary_and_a_report_state_them_once_for_all_servers() -> None:
    start, *others = session(2, 4)
    note = notes.notice("database", settings={"jit": "off"})
    found = [note.note(0, server=each) for each in ("asyncio-streams", "asyncio-protocol")]
    documents = [start, *found, *others]
    sentence = f"All servers: {note.text()}"
    screen = io.StringIO()
    print_summary(summarise(documents), Terminal(file=screen, width=200))
    assert screen.getvalue().count(sentence) == 1
    assert sentences(start, summarise(documents)).count(sentence) == 1


def test_the_documentation_states_what_is_set() -> None:
    text = " ".join(DOCS.read_text("utf-8").split())
    place = r"with the author's settings \((.*?); `resources/apps/with_postgres.py`\)"
    (stated,) = re.findall(place, text)
    found = {each.strip().replace(" MB", "MB").replace(" GB", "GB") for each in stated.split(",")}
    assert found <= {line.replace(" = ", " ") for line in SET.splitlines()}
