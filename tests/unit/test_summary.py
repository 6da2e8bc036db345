"""A session in a few figures."""

import io
import json

import pytest
from rich.console import Console
from synthetic import End, knees, session

from workbench.analysis.summary import summarise
from workbench.commands.summary import print_ranking
from workbench.documents import AnyDocument, Note, PointStop


def test_every_server_is_told_with_its_knee_and_what_it_cost_there() -> None:
    summary = summarise(session(3, 8))
    assert {id_: server.knee_per_s for id_, server in summary.servers.items()} == knees(3, 8)
    gevent = summary.servers["gevent"]
    assert gevent.name == "gevent"
    assert gevent.latency_at_knee_us is not None
    assert gevent.service_at_knee_us is not None
    assert gevent.rss_bytes == max(point.server_rss_bytes for point in gevent.points)
    assert gevent.cpu_at_knee_pct == pytest.approx(94.3)
    assert len(gevent.points) == 8


def test_servers_are_ranked_by_what_they_hold() -> None:
    ranked = [server.id for server in summarise(session(3, 8)).ranked()]
    assert ranked == ["gevent", "asyncio-protocol", "asyncio-streams"]


def test_the_clients_ceiling_is_told() -> None:
    assert summarise(session(2, 4)).ceiling_per_s == 14_000
    assert summarise(session(2, 4, ceiling=False)).ceiling_per_s is None


def test_the_null_server_and_warm_ups_are_not_results() -> None:
    summary = summarise(session(2, 4))
    assert list(summary.servers) == ["asyncio-streams", "asyncio-protocol"]
    assert all(len(server.points) == 4 for server in summary.servers.values())


def test_latencies_at_the_knee_are_merged_over_the_passes() -> None:
    one, three = (summarise(session(1, 4, repeats=n)).servers["asyncio-streams"] for n in (1, 3))
    assert one.latency_at_knee_us is not None
    assert three.latency_at_knee_us is not None
    assert three.latency_at_knee_us.count > 2.9 * one.latency_at_knee_us.count


@pytest.mark.parametrize(
    ("end", "status"),
    [("done", "done"), ("interrupted", "aborted"), ("crashed", "interrupted")],
)
def test_the_end_of_the_session_is_told(end: End, status: str) -> None:
    assert summarise(session(1, 4, end=end)).status == status


def test_a_session_cut_anywhere_has_a_summary() -> None:
    documents = session(2, 3, seconds=0.4)
    for length in range(len(documents)):
        json.dumps(summarise(documents[:length]).to_data(), allow_nan=False)


def test_why_a_sweep_ended_early_is_told_with_its_server() -> None:
    gave_up = Note(t_us=0, topic="gave-up", server="asyncio-streams", text="It was gone.")
    warned = Note(t_us=0, topic="warning", server="asyncio-streams", text="It coughed.")
    documents: list[AnyDocument] = [*session(1, 2), gave_up, warned, warned]
    server = summarise(documents).servers["asyncio-streams"]
    assert server.gave_up == "It was gone."
    assert server.notes.count("It coughed.") == 1


def test_a_server_that_died_in_the_same_way_in_every_pass_is_told_of_once() -> None:
    died = [
        Note(t_us=at, topic="died", server="asyncio-streams", text=f"It ended at {rate}/s.")
        for at, rate in ((0, "2,000"), (1, "2,000"), (2, "1,000"))
    ]
    server = summarise([*session(1, 2), *died]).servers["asyncio-streams"]
    assert server.died == "It ended at 2,000/s. It ended at 1,000/s."


def test_what_servers_have_in_common_is_told_once() -> None:
    def found(topic: str, server: str, text: str, **data: int) -> Note:
        return Note(t_us=0, topic=topic, server=server, text=text, data=data)

    summary = summarise(
        [
            *(document for document in session(2, 2) if not isinstance(document, Note)),
            *(found("gate", id_, "45 bytes.") for id_ in ("asyncio-streams", "asyncio-protocol")),
            found("gate", "null", "44 bytes."),
            *(
                found("backlog", "asyncio-streams", "asyncio streams: 512.", backlog=512, asked=512)
                for _ in range(2)
            ),
            found("backlog", "asyncio-protocol", "It has but 128.", backlog=128, asked=512),
        ]
    )
    assert summary.found == {
        "45 bytes.": ["asyncio streams", "asyncio Protocol"],
        "A backlog of 512 is in force.": ["asyncio streams"],
        "It has but 128.": ["asyncio Protocol"],
    }


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


def test_percentiles_of_too_few_values_are_left_out() -> None:
    data = summarise(session(1, 2, rates=[300.0, 600.0])).to_data()
    first, second = data["servers"]["asyncio-streams"]["points"]
    assert first["latency_ms"]["p90"] is not None
    assert first["latency_ms"]["p99"] is None
    assert second["latency_ms"]["p99"] is not None
    assert second["latency_ms"]["p999"] is None


def test_a_server_that_was_not_measured_is_not_said_to_hold_no_rate() -> None:
    documents = [d for d in session(2, 2) if getattr(d, "server", "") != "asyncio-streams"]
    out = io.StringIO()
    print_ranking(summarise(documents), Console(file=out, width=100))
    [streams] = [line for line in out.getvalue().splitlines() if "asyncio streams" in line]
    assert "not measured" in streams


def test_what_nobody_can_know_is_not_told_as_a_servers_weakness() -> None:
    summary = summarise(session(1, 4, untrusted_from=1))
    console = Console(file=io.StringIO(), width=120)
    print_ranking(summary, console)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "not known" in shown
    assert "no rate" not in shown
    cause = "The clients were late from 2,250/s on."
    assert f"What asyncio streams holds is not known: {cause}" in shown
    (data,) = summary.to_data()["servers"].values()
    assert (data["knee_per_s"], data["knee_unknown"]) == (None, cause)
