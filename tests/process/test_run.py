"""`pongbench run` from a shell, against real servers, until it ends or is ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from a_run import PONGBENCH, ROOT, Answer, Home, Running
from oracle import eventually

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
from workbench.messages.notes import Died
from workbench.messages.topics import read_note
from workbench.sessions import read_session
from workbench.sessions.format import encode

D = TypeVar("D")
STREAMS = "asyncio-streams"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """One for all, so that runtimes are made once."""
    return Home(tmp_path_factory.mktemp("home"))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "run.pong.yaml"


@pytest.fixture
def launch(home: Home, session: Path) -> Iterator[Callable[[Path], Running]]:
    """Start a run that is ended with the test, however the test ends."""
    started: list[Running] = []

    def start(plan: Path, *, home: Home = home) -> Running:
        started.append(home.launch(plan, session))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()


def of(kind: type[D], documents: list[AnyDocument]) -> list[D]:
    return [document for document in documents if isinstance(document, kind)]


def sweep_stops(documents: list[AnyDocument]) -> list[PointStop]:
    return [stop for stop in of(PointStop, documents) if stop.purpose == "sweep"]


def texts(documents: list[AnyDocument], topic: str) -> list[str]:
    return [note.text for note in of(Note, documents) if note.topic == topic]


def run(home: Home, session: Path, plan: Path, *, code: int = 0) -> list[AnyDocument]:
    """The documents of a run with that exit code, every point's conserved."""
    answer = home.call("run", plan, "-o", session)
    assert answer.code == code, answer.stderr
    documents = read_session(session).documents
    assert all(stop.conserved for stop in of(PointStop, documents))
    return documents


def sentence(answer: Answer) -> str:
    """The one sentence of a refused command, checked for exit code and stray output."""
    last = [line for line in answer.stderr.splitlines() if line.startswith("pongbench: ")]
    assert len(last) == 1, answer.stderr
    return last[0]


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
    assert not read.torn
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


# What a run is doing when it is killed.


def builds_a_runtime(running: Running) -> bool:
    return "Building the runtime" in running.told()


def rehearses(running: Running) -> bool:
    return "Starting asyncio streams" in running.told()


def calibrates(running: Running) -> bool:
    return '"purpose":"ceiling"' in running.recorded()


def measures(running: Running) -> bool:
    """In the middle of a point of the sweep."""
    return f'"server":"{STREAMS}","rate_per_s":100.0' in running.recorded() and (
        '"kind":"window"' in running.recorded().rpartition('"kind":"point_start"')[2]
    )


def rests(running: Running) -> bool:
    """Between two points of the sweep."""
    return '"kind":"point_stop"' in running.recorded().rpartition('"kind":"point_start"')[2]


def left_open(documents: list[AnyDocument]) -> bool:
    """Is there a point that started and never ended?"""
    return len(of(PointStart, documents)) > len(of(PointStop, documents))


def check_completed(running: Running) -> None:
    session = running.read()
    assert not session.damage
    begun = of(PointStart, session.documents)
    completed = of(PointStop, session.completed())
    assert [stop.point for stop in completed] == [start.point for start in begun]
    if left_open(session.documents):
        assert not completed[-1].complete


class TestEndedByHand:
    def test_ctrl_c_stops_cleanly(self, home: Home, launch: Callable[[Path], Running]) -> None:
        running = launch(home.plan([STREAMS], seconds=30.0))
        running.wait_until(measures)
        running.ctrl_c()
        assert running.end() == 130
        home.wait_until_clean()
        documents = running.read().documents
        assert isinstance(documents[-1], RunStop)
        assert documents[-1].status == "stopped"
        last = of(PointStop, documents)[-1]
        assert not last.complete
        assert last.conserved

    def test_a_second_ctrl_c_aborts(self, home: Home, launch: Callable[[Path], Running]) -> None:
        # A server that has to be killed makes stopping slow.
        running = launch(home.plan(["ignores-sigterm"], seconds=30.0))
        running.wait_until(lambda run: '"kind":"window"' in run.recorded())
        running.ctrl_c()
        assert eventually(lambda: "Ctrl-C again aborts" in running.told())
        running.ctrl_c()
        assert running.end() == 130
        home.wait_until_clean()
        documents = running.read().documents
        assert isinstance(documents[-1], RunStop)
        # The stop may have completed before the second Ctrl-C arrived.
        assert documents[-1].status in ("aborted", "stopped")
        assert "Traceback" not in running.told()

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_a_termination_signal_aborts(
        self, home: Home, launch: Callable[[Path], Running], number: signal.Signals
    ) -> None:
        running = launch(home.plan([STREAMS], seconds=30.0))
        running.wait_until(measures)
        running.process.send_signal(number)
        assert running.end() == 130
        home.wait_until_clean()
        end = running.read().documents[-1]
        assert isinstance(end, RunStop)
        assert end.status == "aborted"
        assert "Traceback" not in running.told()
        check_completed(running)

    def test_ctrl_c_before_the_session_starts_leaves_no_session(
        self, home: Home, launch: Callable[[Path], Running]
    ) -> None:
        running = launch(home.plan([STREAMS], seconds=30.0))
        running.wait_until(rehearses)
        running.ctrl_c()
        code = running.end()
        home.wait_until_clean()
        assert code == 130
        assert "Traceback" not in running.told()
        assert not running.session.exists() or of(RunStop, running.read().documents)


class TestKilled:
    @pytest.mark.parametrize("moment", [rehearses, calibrates, measures, rests])
    def test_at_any_moment_leaves_only_a_session_that_opens(
        self,
        home: Home,
        launch: Callable[[Path], Running],
        moment: Callable[[Running], bool],
    ) -> None:
        seconds = 1.0 if moment is rests else 30.0
        plan = home.plan(
            [STREAMS], seconds=seconds, calibrate=moment is calibrates, cool_down_s=30.0
        )
        running = launch(plan)
        running.wait_until(moment)
        running.process.kill()
        running.end()
        home.wait_until_clean()
        if not running.recorded():
            assert moment is rehearses
            assert home.call("summary", running.session).code == 2
            return
        check_completed(running)
        assert home.call("summary", running.session).code == 0

    def test_while_a_runtime_is_built_leaves_nothing(
        self, tmp_path: Path, launch: Callable[..., Running]
    ) -> None:
        fresh = Home(tmp_path / "fresh")
        running = launch(fresh.plan(["uses-a-package"], seconds=30.0), home=fresh)
        running.wait_until(builds_a_runtime)
        running.process.kill()
        running.end()
        fresh.wait_until_clean()


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


def test_a_path_that_a_server_does_not_have_is_named_before_the_session_starts(
    home: Home, session: Path
) -> None:
    workload = {"protocol": "http/1.1", "path": "/gone"}
    answer = home.call("run", home.plan(["http-asyncio"], workload=workload), "-o", session)
    assert answer.code == 2
    assert "http-asyncio answers 404 to GET /gone; correct the request" in sentence(answer)
    assert not session.exists()
    wanted = home.plan(["http-asyncio"], workload={**workload, "expect_status": 404})
    assert texts(run(home, session, wanted), "gate")[0].startswith(
        "It answers 404 'Pong!' at /gone with 50 bytes on the wire. It keeps connections alive"
    )


def test_the_reply_on_the_wire_is_that_to_the_request_of_the_plan(
    home: Home, session: Path
) -> None:
    workload = {"protocol": "http/1.1", "path": "/long"}
    documents = run(home, session, home.plan(["http-asyncio"], workload=workload))
    (sentence,) = texts(documents, "gate")
    shown = "Pong!" * 8
    assert sentence.startswith(
        f"It answers '{shown}'... (1,000 bytes) at /long with 1,041 bytes on the wire."
    )
    assert "at / " not in sentence
    (start,) = of(RunStart, documents)
    assert start.servers[0].gate["bytes_on_wire"] == 1_041


def test_more_connections_than_the_target_has_descriptors_for_are_refused(
    home: Home, session: Path
) -> None:
    crowded = home.plan(
        [STREAMS], workload={"mode": "closed"}, concurrency=[3_000], nofile=65_000, workers=2
    )
    limited = ["sh", "-c", 'ulimit -n 2000; exec "$@"', "sh"]
    answer = home.call("run", crowded, "-o", session, under=limited)
    assert (answer.code, sentence(answer)) == (
        2,
        "pongbench: 3,000 concurrent connections need as many file descriptors; the target has"
        " 1,936. Raise nofile and the machine's hard limit, or lower concurrency.",
    )
    assert "The client and the target allow 2,000 file descriptors per process" in answer.stderr
    assert not session.exists()


def test_a_run_continues_when_nobody_reads_its_output(home: Home, session: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*PONGBENCH, "run", home.plan([STREAMS]), "-o", session]
    try:
        done = subprocess.run(
            command, stdout=writing, stderr=writing, cwd=ROOT, env=home.env, check=False
        )
    finally:
        os.close(writing)
    home.wait_until_clean()
    assert done.returncode == 0
    documents = read_session(session).documents
    assert isinstance(documents[-1], RunStop)
    assert documents[-1].status == "done"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_ends_the_run_and_keeps_the_session(home: Home, small_disk: Path) -> None:
    session = small_disk / "run.pong.yaml"
    answer = home.call("run", home.plan([STREAMS], seconds=20.0), "-o", session)
    assert answer.code == 1
    (reported,) = [line for line in answer.stderr.splitlines() if "Failed:" in line]
    assert "Failed: The disk is full. The session " in reported
    assert reported.endswith(f"({session}).")
    read = read_session(session)
    assert isinstance(read.documents[0], RunStart)
    assert not read.damage


class TestBadInput:
    def refused(self, home: Home, *words: str | Path) -> str:
        """The sentence, with the right exit code."""
        answer = home.call(*words)
        assert answer.code == 2, answer.stderr
        assert answer.stdout == ""
        return sentence(answer)

    def test_an_unknown_plan(self, home: Home) -> None:
        assert "Did you mean 'demo'?" in self.refused(home, "run", "dem")

    def test_an_unknown_server(self, home: Home, session: Path) -> None:
        plan = home.plan(["tornadoo"])
        assert "Did you mean 'tornado'?" in self.refused(home, "run", plan, "-o", session)
        assert not session.exists()

    @pytest.mark.parametrize(
        ("keys", "place"),
        [
            ({"rates": [0, 100]}, "rates"),
            ({"rates": [-5]}, "rates"),
            ({"rates": {"from": 200, "to": 100, "step": 10}}, "swap the two"),
            ({"rates": [1e12]}, "rates"),
            ({"rates": [100], "seconds": 0.2}, "100/s"),
            ({"rates": [100], "seconds": None, "connections": 20}, "100/s"),
        ],
    )
    def test_invalid_rates_and_points_are_refused(
        self, home: Home, session: Path, keys: dict[str, object], place: str
    ) -> None:
        message = self.refused(home, "run", home.plan([STREAMS], **keys), "-o", session)
        assert place in message
        assert not session.exists()

    @pytest.mark.parametrize(
        "content",
        [
            b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n",
            b"[" * 100_000,
            b"servers: !!python/object/apply:os.system [id]\n",
            b"servers: [a\n",
            b"\x00\xff",
            b"",
        ],
        ids=["aliases", "depth", "tags", "malformed", "binary", "empty"],
    )
    def test_hostile_plans(self, home: Home, content: bytes) -> None:
        plan = home.file(content)
        assert str(plan) in self.refused(home, "run", plan)

    def test_a_plan_of_a_gigabyte(self, home: Home) -> None:
        plan = home.file(b"")
        os.truncate(plan, 1 << 30)
        assert "1,024.0 MiB" in self.refused(home, "run", plan)

    @pytest.mark.parametrize("command", ["summary", "replay"])
    def test_a_file_that_is_no_session(self, home: Home, command: str) -> None:
        for path in (home.file(b"kind: shopping\n"), home.folder / "nowhere"):
            assert str(path) in self.refused(home, command, path)

    def test_a_session_is_never_overwritten(self, home: Home, session: Path) -> None:
        session.write_text("precious")
        message = self.refused(home, "run", home.plan([STREAMS]), "-o", session)
        assert "already exists" in message
        assert session.read_text() == "precious"

    def test_a_read_only_path_is_reported(self, home: Home) -> None:
        message = self.refused(home, "run", home.plan([STREAMS]), "-o", "/proc/run.pong.yaml")
        assert "No session can be written to /proc/run.pong.yaml" in message


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
    assert (start.v, start.axis and start.axis.label) == (2, "Pipeline")
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
