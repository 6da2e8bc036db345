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
    AnyDocument,
    HostSample,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.messages.reasons import reason, reasons_of
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
    def test_that_dies_in_its_sweep_does_not_end_the_run(self, home: Home, session: Path) -> None:
        plan = home.plan(["dies-later", STREAMS], rates=[100, 200, 300])
        documents = run(home, session, plan)
        (died,) = [read_note(note) for note in of(Note, documents) if note.topic == "died"]
        assert died.data()["status"] == 1
        assert "worn out" in died.data()["said"]
        *_, last = (stop for stop in sweep_stops(documents) if stop.server == "dies-later")
        assert last.verdict == "server-limited" and reasons_of(last)[0] == reason(
            "server-ended", status=1
        )
        assert [stop.rate_per_s for stop in sweep_stops(documents) if stop.server == STREAMS] == [
            100,
            200,
            300,
        ]

    @pytest.mark.parametrize(
        ("server", "message"),
        [
            ("wrong-body", "did not pass the wire gate"),
            ("needs-the-impossible", "pongbench-no-such-package"),
        ],
    )
    def test_that_cannot_be_measured_is_reported_before_the_session_starts(
        self, home: Home, session: Path, server: str, message: str
    ) -> None:
        plan = home.plan([STREAMS, server], require_all=True)
        answer = home.call("run", plan, "-o", session)
        assert answer.code == 1
        assert server in sentence(answer)
        assert message in answer.stderr
        assert not session.exists()

    def test_that_cannot_be_measured_is_left_out_with_its_reason(
        self, home: Home, session: Path
    ) -> None:
        plan = home.plan(["wrong-body", STREAMS], calibrate=True)
        answer = home.call("run", plan, "-o", session)
        assert answer.code == 1
        documents = read_session(session).documents
        start, *_, stop = documents
        assert isinstance(start, RunStart) and isinstance(stop, RunStop)
        assert [each.id for each in start.servers] == start.plan["servers"] == [STREAMS]
        assert stop.code == "servers-left-out"
        (said,) = texts(documents, "deploy")
        assert said in stop.reason and "wrong-body is left out" in said
        assert {each.server for each in sweep_stops(documents)} == {STREAMS}


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


def test_a_secret_stands_in_the_environment_of_no_helper(
    home: Home, launch: Callable[[Path], Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = f"Bearer {secrets.token_hex(12)}"
    monkeypatch.setitem(home.env, "PONGBENCH_SECRET_SHOP", secret)
    workload = {"protocol": "http/1.1", "headers": {"Authorization": {"secret": "SHOP"}}}
    running = launch(home.plan(["http-asyncio"], workload=workload, seconds=30.0))
    running.wait_until(Running.under_load)
    helpers = processes_with(str(home.folder)).keys() - {running.process.pid}
    # The runner, an agent with its worker, a sampler, the server.
    assert len(helpers) >= 4
    # Our own still has the one that it was started with.
    assert processes_with(secret).keys() == {running.process.pid}
    running.ctrl_c()
    assert running.end() == 130
    home.wait_until_clean()
