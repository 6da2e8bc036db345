"""`pongbench run` from a shell, against real servers, until it ends."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from a_run import STREAMS, Home, Running, of, run, sentence, sweep_stops, texts
from oracle import processes_with

from workbench.documents import (
    VERSION,
    AnyDocument,
    HostSample,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.messages.notes import Died
from workbench.messages.reasons import ServerEnded, reasons_of
from workbench.messages.topics import read_note
from workbench.sessions import read_session
from workbench.sessions.format import encode


@pytest.fixture(scope="module")
def file(home: Home, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run.pong.yaml"
    warm_up = {"rate_per_s": 100, "seconds": 1.0}
    plan = home.plan([STREAMS, "uses-a-package"], calibrate=True, warm_up=warm_up, backlog=300)
    answer = home.call("run", plan, "-o", path, "--json")
    assert answer.code == 0, answer.stderr
    assert json.loads(answer.stdout) == json.loads(home.call("summary", path, "--json").stdout)
    return path


@pytest.fixture(scope="module")
def documents(file: Path) -> list[AnyDocument]:
    read = read_session(file)
    assert not read.damage
    assert not read.interrupted
    return read.documents


class TestAWholeRun:
    def test_starts_and_ends_cleanly(self, documents: list[AnyDocument]) -> None:
        assert isinstance(documents[0], RunStart)
        assert isinstance(documents[-1], RunStop)
        assert documents[-1].status == "done"
        begun = of(PointStart, documents)
        ended = of(PointStop, documents)
        assert [point.point for point in begun] == [point.point for point in ended]
        assert [p.rate_per_s for p in begun if p.purpose == "sweep"] == [100, 200, 100, 200]

    def test_every_point_is_judged_and_adds_up(self, documents: list[AnyDocument]) -> None:
        windows = of(Window, documents)
        for stop in of(PointStop, documents):
            own = [window for window in windows if window.point == stop.point]
            assert stop.complete
            assert stop.verdict
            assert sum(window.due for window in own) == stop.counts.scheduled
            assert sum(window.replies for window in own) == stop.counts.succeeded

    def test_says_what_was_deployed_and_how(self, documents: list[AnyDocument]) -> None:
        start = documents[0]
        assert isinstance(start, RunStart)
        assert [server.version for server in start.servers] == [
            "standard library",
            "Ping.Pong 1.2.3",
        ]
        assert "asyncio streams listens with a backlog of 300." in texts(documents, "backlog")
        assert "uses-a-package listens with a backlog of 512, not the 300 asked for." in texts(
            documents, "backlog"
        )
        assert all(text.startswith("It answers 'Pong!'") for text in texts(documents, "gate"))
        assert len(texts(documents, "gate")) == 3
        assert len(texts(documents, "ceiling")) == 1

    def test_samples_the_servers(self, documents: list[AnyDocument]) -> None:
        for server in (STREAMS, "uses-a-package"):
            samples = [sample for sample in of(HostSample, documents) if sample.server == server]
            assert max(sample.rss_bytes for sample in samples) > 1 << 20
        assert max(stop.server_rss_bytes for stop in sweep_stops(documents)) > 1 << 20
        # The other one may be done with its calls within the kernel's tick.
        assert max(s.cpu_pct for s in of(HostSample, documents) if s.server == STREAMS) > 0

    def test_is_replayed_exactly(
        self, home: Home, file: Path, documents: list[AnyDocument]
    ) -> None:
        answer = home.call("replay", file, "--json")
        assert answer.code == 0
        assert answer.stdout.splitlines() == [encode(document).decode() for document in documents]

    def test_is_summarised(self, home: Home, file: Path) -> None:
        answer = home.call("summary", file, "--json")
        summary = json.loads(answer.stdout)
        assert list(summary["servers"]) == [STREAMS, "uses-a-package"]
        for server in summary["servers"].values():
            assert server.keys() >= {"knee_per_s", "points"}
            for point in server["points"]:
                assert point.keys() >= {"offered_per_s", "replies_per_s", "errors_pct", "verdict"}
                assert point["latency_ms"].keys() >= {"p50", "p99"}


class TestAUsersServer:
    def test_that_is_slow_has_a_limit(self, home: Home, session: Path) -> None:
        plan = home.plan(["slow"], rates=[100, 1500], workload={"timeout_s": 1.0})
        documents = run(home, session, plan)
        # Where other programs take the CPU, no verdict is possible.
        assert sweep_stops(documents)[-1].verdict != "ok"
        summary = json.loads(home.call("summary", session, "--json").stdout)
        assert summary["servers"]["slow"]["knee_per_s"] in (None, 100)

    def test_that_keeps_the_limits_of_a_search_at_all_its_rates(
        self, home: Home, session: Path
    ) -> None:
        search = {"from": 100, "to": 300, "step": 50, "errors_pct": 2}
        # Other programs may disturb a point.
        plan = home.plan([STREAMS], search=search, workload={"timeout_s": 2}, looks=9)
        answer = home.call("run", plan, "-o", session, "--json")
        assert answer.code == 0, answer.stderr
        data = json.loads(answer.stdout)
        found = data["servers"][STREAMS]
        assert (found["peak_per_s"], found["peak_is_floor"]) == (300, True)
        assert found["peak_interval_per_s"] == [300, None] and found["knee"] is None
        assert data["slo"] == {"errors_pct": 2.0, "p99_ms": None}
        documents = read_session(session).documents
        assert {p.purpose for p in of(PointStart, documents)} == {"search"}
        [message] = texts(documents, "peak")
        assert "peak ≥ 300/s with at most 2 % errors (95 % interval above 300/s" in message

    def test_that_dies_in_its_sweep_does_not_end_the_run(self, home: Home, session: Path) -> None:
        plan = home.plan(["dies-later", STREAMS], rates=[100, 200, 300])
        documents = run(home, session, plan)
        (died,) = [read_note(note) for note in of(Note, documents) if note.topic == "died"]
        assert isinstance(died, Died)
        assert died.status == 1
        assert "worn out" in died.said
        *_, last = (stop for stop in sweep_stops(documents) if stop.server == "dies-later")
        assert last.verdict == "server-limited" and reasons_of(last)[0] == ServerEnded(status=1)
        assert [stop.rate_per_s for stop in sweep_stops(documents) if stop.server == STREAMS] == [
            100,
            200,
            300,
        ]

    @pytest.mark.parametrize(
        ("server", "message"),
        [
            ("never-ready", "did not accept connections on port"),
            ("dies-at-once", "pong.conf: no such file"),
            ("wrong-body", "did not pass the wire gate"),
            ("needs-the-impossible", "pongbench-no-such-package"),
        ],
    )
    def test_that_cannot_be_measured_is_reported_before_the_session_starts(
        self, home: Home, session: Path, server: str, message: str
    ) -> None:
        answer = home.call("run", home.plan([STREAMS, server]), "-o", session)
        assert answer.code == 1
        assert server in sentence(answer)
        assert message in answer.stderr
        assert not session.exists()


def test_the_reply_on_the_wire_is_that_to_the_request_of_the_plan(
    home: Home, session: Path
) -> None:
    workload = {"protocol": "http/1.1", "path": "/long"}
    documents = run(home, session, home.plan(["http-asyncio"], workload=workload))
    (passed,) = texts(documents, "gate")
    shown = "Pong!" * 8
    assert passed.startswith(
        f"It answers '{shown}'... (1,000 bytes) at /long with 1,041 bytes on the wire."
    )
    assert "at / " not in passed
    (start,) = of(RunStart, documents)
    assert start.servers[0].gate["bytes_on_wire"] == 1_041


def test_interleaved_passes_are_shuffled_by_the_recorded_seed(home: Home, session: Path) -> None:
    servers = [STREAMS, "uses-a-package"]
    plan = home.plan(servers, rates=[100], repeats=2, order="interleaved", seed=7)
    documents = run(home, session, plan)
    start = of(RunStart, documents)[0]
    assert start.seed == 7
    planned = [(block.server, block.pass_number) for block in start.order]
    assert [(stop.server, stop.pass_number) for stop in sweep_stops(documents)] == planned
    assert sorted(planned) == [(server, n) for server in servers for n in (1, 2)]
    # Run again from its own session, it has the same order.
    again = run(home, session.with_name("again.pong.yaml"), session)
    assert of(RunStart, again)[0].order == start.order


def test_a_closed_loop_keeps_its_connections_busy(home: Home, session: Path) -> None:
    workload = {"mode": "closed", "timeout_s": 60.0}
    calls = {"seconds": None, "connections": 500}
    plan = home.plan([STREAMS], workload=workload, concurrency=[2, 8], **calls)
    stops = sweep_stops(run(home, session, plan))
    assert [stop.concurrency for stop in stops] == [2, 8]
    assert [stop.counts.succeeded for stop in stops] == [500, 500]


def test_a_run_with_two_load_tools_ends_with_their_comparison(home: Home, session: Path) -> None:
    if not shutil.which("ab"):
        pytest.skip("ab is not installed")
    closed = {"protocol": "http/1.0", "mode": "closed"}
    plan = home.plan(["http-asyncio"], workload=closed, concurrency=[4])
    answer = home.call("run", plan, "--with", "agent", "--with", "ab", "-o", session)
    assert answer.code == 0, answer.stderr
    said = " ".join(answer.stdout.split())
    assert "ab / agent" in said and "Each compared with agent; times from the send." in said
    assert said.count("Could not be checked with ab: ") == 1


def test_a_field_of_the_workload_is_varied_at_one_rate(home: Home, session: Path) -> None:
    workload = {"protocol": "http/1.1", "calls_per_connection": 4, "timeout_s": 60.0}
    vary = {"pipeline": [1, 4]}
    plan = home.plan(["http-asyncio"], workload=workload, rates=[200], vary=vary)
    documents = run(home, session, plan)
    stops = sweep_stops(documents)
    start = of(RunStart, documents)[0]
    assert (start.v, start.axis and start.axis.label) == (VERSION, "Pipeline")
    assert [stop.x for stop in stops] == [1, 4]
    assert {stop.counts.scheduled for stop in stops} == {200}
    assert {stop.counts.succeeded for stop in stops} == {200}


def test_keep_alive_calls_share_connections(home: Home, session: Path) -> None:
    workload = {"protocol": "http/1.1", "calls_per_connection": 5, "timeout_s": 60.0}
    plan = home.plan(["http-asyncio"], workload=workload, rates=[200, 400])
    for stop in sweep_stops(run(home, session, plan)):
        assert stop.counts.succeeded == stop.counts.scheduled
        assert stop.counts.scheduled == stop.rate_per_s
        assert stop.counts.established == stop.rate_per_s / 5


def test_a_secret_stands_in_the_environment_of_no_helper(
    home: Home, launch: Callable[[Path], Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = f"Bearer {secrets.token_hex(12)}"
    monkeypatch.setitem(home.env, "PONGBENCH_SECRET_SHOP", secret)
    workload = {"protocol": "http/1.1", "headers": {"Authorization": {"secret": "SHOP"}}}
    running = launch(home.plan(["http-asyncio"], workload=workload, seconds=30.0))
    running.wait_until(lambda run: '"kind":"window"' in run.recorded())
    helpers = processes_with(str(home.folder)).keys() - {running.process.pid}
    # The runner, an agent with its worker, a sampler, the server.
    assert len(helpers) >= 4
    # Our own still has the one that it was started with.
    assert processes_with(secret).keys() == {running.process.pid}
    running.ctrl_c()
    assert running.end() == 130
    home.wait_until_clean()
