"""What is read of the outputs of httperf and Tsung, as recorded from the real programs.

`tests/cases/load_tools` has what httperf 0.9.0 of Debian 12 (and 11, 13 and sid, where the name
says so), Tsung 1.7.0 of Debian 12 (and 11) and 1.8.0 of Debian sid wrote through the launcher.
"""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from workbench.analysis import histogram
from workbench.documents import Errors
from workbench.load import httperf, tsung
from workbench.load.base import LoadReport, PointSpec
from workbench.load.merge import merged, shared
from workbench.load.program import Output, Span, Unreadable, lost_calls
from workbench.load.registry import load_tool, problems
from workbench.plan.model import Plan
from workbench.remote import run_program
from workbench.workloads.registry import workload

CASES = Path(__file__).parents[1] / "cases" / "load_tools"
MODULES = {"httperf": httperf, "tsung": tsung}
RECORDED: dict[str, dict[str, Any]] = {
    "httperf-plain": {"rate_per_s": 200.0, "connections": 400},
    "httperf-mixed": {"rate_per_s": 100.0, "connections": 200},
    "httperf-calls-mixed": {"rate_per_s": 10.0, "connections": 20, "calls_per_connection": 10},
    "httperf-calls-closing": {"rate_per_s": 20.0, "connections": 20, "calls_per_connection": 5},
    "httperf-refused": {"rate_per_s": 100.0, "connections": 50},
    "httperf-descriptors": {"rate_per_s": 2_000.0, "connections": 1_500},
    "httperf-junk": {"rate_per_s": 50.0, "connections": 20},
    "httperf-interrupted": {"rate_per_s": 100.0, "connections": 1_000},
    "httperf-think": {
        "rate_per_s": 20.0,
        "connections": 40,
        "calls_per_connection": 5,
        "think_time_s": 0.1,
    },
    "httperf-samples": {"rate_per_s": 100.0, "connections": 1_100},
    "httperf-german": {"rate_per_s": 200.0, "connections": 200, "arrivals": "poisson", "seed": 7},
    "httperf-debian-11": {"rate_per_s": 200.0, "connections": 200},
    "httperf-debian-13": {"rate_per_s": 200.0, "connections": 200},
    "httperf-debian-sid": {"rate_per_s": 200.0, "connections": 200},
    "tsung-plain": {"rate_per_s": 100.0, "seconds": 3.0},
    "tsung-stay": {
        "rate_per_s": 50.0,
        "seconds": 6.0,
        "calls_per_connection": 5,
        "think_time_s": 0.4,
        "think_times": "exponential",
    },
    "tsung-mixed": {"rate_per_s": 50.0, "seconds": 2.0, "calls_per_connection": 3},
    "tsung-refused": {"rate_per_s": 50.0, "seconds": 2.0, "calls_per_connection": 3},
    "tsung-closing": {"rate_per_s": 50.0, "seconds": 2.0, "calls_per_connection": 3},
    "tsung-interrupted": {"rate_per_s": 100.0, "seconds": 30.0},
}
"""The points that were recorded."""
RECORDED |= {
    f"tsung-debian-{release}": RECORDED[f"tsung-{point}"]
    for release, point in (
        ("11-mixed", "mixed"),
        ("sid", "plain"),
        ("sid-stay", "stay"),
        ("sid-mixed", "mixed"),
        ("sid-refused", "refused"),
        ("sid-interrupted", "interrupted"),
    )
}


def recorded(name: str) -> Output:
    data = msgspec.json.decode((CASES / f"{name}.json").read_bytes())
    del data["command"]
    return msgspec.convert({"ev": "ended", **data}, Output)


def a_spec(**more: Any) -> PointSpec:
    fields: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": 8000,
        "workload": "http",
        "options": {"protocol": "http/1.1"},
        "timeout_s": 1.0,
    }
    return PointSpec(**fields | more)


def read(name: str, output: Output | None = None) -> LoadReport:
    module = MODULES[name.partition("-")[0]]
    return module.parse(output or recorded(name), a_spec(**RECORDED[name]))


@pytest.mark.parametrize(
    ("name", "scheduled", "succeeded", "errors", "p50_ms"),
    [
        ("httperf-plain", 400, 400, {}, 16.5),
        ("httperf-samples", 1_100, 1_100, {}, 9.5),
        ("httperf-german", 200, 200, {}, 16.5),
        ("httperf-debian-11", 200, 200, {}, 17.5),
        ("httperf-debian-13", 200, 200, {}, 20.5),
        ("httperf-debian-sid", 200, 200, {}, 15.5),
        # Without times: those of failed calls are among the others, or connections have several.
        (
            "httperf-mixed",
            200,
            160,
            {"client-timo": 10, "connreset": 10, "protocol-4xx": 10, "protocol-5xx": 10},
            None,
        ),
        # httperf counts 7 connections with a timeout and 7 reset; which of them the other 73 calls
        # were lost with, it does not print.
        (
            "httperf-calls-mixed",
            200,
            99,
            {"client-timo": 7, "connreset": 7, "other": 73, "protocol-4xx": 7, "protocol-5xx": 7},
            None,
        ),
        ("httperf-calls-closing", 100, 20, {"connreset": 80}, None),
        ("httperf-refused", 50, 0, {"connrefused": 50}, None),
        ("httperf-descriptors", 1_500, 0, {"client-timo": 1_021, "fd-unavail": 479}, None),
        ("httperf-junk", 20, 0, {"protocol-5xx": 20}, None),
        ("httperf-think", 200, 200, {}, None),
        ("tsung-plain", 247, 247, {}, 128.6),
        ("tsung-stay", 1_370, 1_370, {}, 5.58),
        (
            "tsung-mixed",
            228,
            173,
            {"client-timo": 22, "protocol": 11, "protocol-404": 11, "protocol-500": 11},
            17.92,
        ),
        # Of these servers some connections were closed before a user's next call was sent; calls
        # that a user of one of them, or of a timeout, had still to make are `other`.
        (
            "tsung-debian-11-mixed",
            300,
            208,
            {
                "client-timo": 14,
                "connreset": 6,
                "other": 16,
                "protocol": 28,
                "protocol-404": 14,
                "protocol-500": 14,
            },
            0.638,
        ),
        (
            "tsung-debian-sid-mixed",
            300,
            213,
            {
                "client-timo": 14,
                "connreset": 3,
                "other": 11,
                "protocol": 30,
                "protocol-404": 15,
                "protocol-500": 14,
            },
            2.499,
        ),
        ("tsung-debian-sid", 300, 300, {}, 6.971),
        ("tsung-debian-sid-stay", 1_500, 1_500, {}, 6.691),
        ("tsung-debian-sid-refused", 300, 0, {"connrefused": 300}, None),
        ("tsung-refused", 246, 0, {"connrefused": 246}, None),
        ("tsung-closing", 279, 279, {}, 62.1),
    ],
)
def test_every_call_is_counted_once_and_times_are_those_of_the_tool(
    name: str, scheduled: int, succeeded: int, errors: Errors, p50_ms: float | None
) -> None:
    report = read(name)
    counts = report.counts
    assert (counts.scheduled, counts.succeeded, counts.errors) == (scheduled, succeeded, errors)
    assert counts.scheduled == counts.succeeded + sum(errors.values()) + counts.in_flight
    # Neither measures from a schedule.
    assert (counts.late, counts.established, report.histograms.latency) == (None, None, "")
    times = histogram.percentiles(report.histograms.service)
    assert times is None or times.count == succeeded
    assert (times and times.p50) == (p50_ms and pytest.approx(p50_ms * 1000, rel=0.001))


@pytest.mark.parametrize(
    ("name", "per_s"),
    [
        ("httperf-plain", 198),
        ("httperf-samples", 100),
        # Calls of connections that stay for 0.4 s.
        ("httperf-think", 98),
        # It prints one rate for the whole test, which here waits for a timeout.
        ("httperf-mixed", 55.5),
        ("tsung-plain", 247 / 3),
        # 274 users in 6 s with 5 calls each are 228 calls a second, after a ramp of 1.6 s.
        ("tsung-stay", 228.5),
        # It says itself in which time it started its users.
        ("tsung-debian-sid", 300 / 3.403),
        ("tsung-debian-sid-stay", 228.75),
    ],
)
def test_the_reply_rate_is_that_of_the_schedule(name: str, per_s: float) -> None:
    report = read(name)
    assert report.replies_in_schedule / report.schedule_s == pytest.approx(per_s, rel=0.01)


@pytest.mark.parametrize(
    ("name", "begun"),
    [
        ("httperf-interrupted", 148),
        ("tsung-interrupted", 108),
        ("tsung-debian-sid-interrupted", 202),
    ],
)
def test_what_an_interrupted_tool_has_measured_is_kept(name: str, begun: int) -> None:
    counts = read(name).counts
    assert counts.succeeded == begun and counts.errors == {}
    assert counts.in_flight == counts.scheduled - begun > 0


def test_several_httperfs_add_up_as_in_autobench() -> None:
    """Counts and rates are summed; percentiles are those of both histograms together."""
    both = merged([read("httperf-debian-11"), read("httperf-debian-13")])
    assert both.counts.scheduled == both.counts.succeeded == 400
    assert both.replies_in_schedule / both.schedule_s == pytest.approx(396, rel=0.01)
    times = histogram.percentiles(both.histograms.service)
    assert times is not None and times.count == 400 and 17_000 < times.p50 < 21_000
    assert merged([read("httperf-plain"), read("httperf-mixed")]).histograms.service == []


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_truncated_output_is_no_result(name: str) -> None:
    output = recorded(name)
    last = "ftab-full" if name.startswith("httperf") else "EndMonitor"
    whole = output.output.rfind(last)
    for end in range(0, max(0, whole), 97):
        cut = msgspec.structs.replace(output, output=output.output[:end])
        with pytest.raises(Unreadable):
            read(name, cut)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("httperf-plain", "httperf: illegal uri\n", "illegal uri"),
        ("httperf-plain", "", "printed nothing"),
        ("tsung-plain", "Config Error, aborting ! {invalid_xml,x}\n", "scenario: {invalid_xml"),
    ],
)
def test_a_tool_that_refuses_is_quoted(name: str, text: str, said: str) -> None:
    with pytest.raises(Unreadable, match=re.escape(said)):
        read(name, Output(status=1, output=text))


def test_figures_of_another_locale_are_refused() -> None:
    """httperf prints a point in any locale; a comma would be another program's."""
    output = recorded("httperf-plain")
    foreign = msgspec.structs.replace(output, output=re.sub(r"(\d)\.(\d)", r"\1,\2", output.output))
    with pytest.raises(Unreadable):
        read("httperf-plain", foreign)


def test_lost_calls_are_divided_without_a_remainder() -> None:
    drawn = random.Random(5)
    names = ["client-timo", "connreset", "connrefused", "fd-unavail"]
    for _ in range(500):
        events = {name: drawn.randrange(4) for name in names}
        calls, lost = drawn.randrange(1, 6), drawn.randrange(60)
        errors, in_flight = lost_calls(events, lost, calls, whole=names[2:])
        assert sum(errors.values()) + in_flight == lost and in_flight >= 0
    assert lost_calls({"connrefused": 2, "connreset": 1}, 14, 5, whole=["connrefused"]) == (
        {"connrefused": 10, "connreset": 4},
        0,
    )
    assert lost_calls({"connreset": 1}, 9, 5, interrupted=True) == ({"connreset": 1}, 8)


def httperf_command(**more: Any) -> list[str]:
    found = load_tool("httperf").command
    assert found is not None
    return shlex.split(found(a_spec(**{"rate_per_s": 100.0, "connections": 50, **more}), 1))


def test_the_command_of_httperf_is_the_point() -> None:
    plain = httperf_command()
    assert "--hog" not in plain
    assert {"--rate=100", "--num-conns=50", "--num-calls=1", "--uri=/"} <= set(plain)
    assert "--http-version=1.0" in httperf_command(workload="pong", options={"protocol": "pong"})
    assert "--period=e0.01" in httperf_command(arrivals="poisson")
    assert "--wsess=50,3,0.5" in httperf_command(calls_per_connection=3, think_time_s=0.5)
    options = {"protocol": "http/1.1", "path": "/a?b", "headers": [("X-A", "b\\c"), ("Host", "h")]}
    sent = httperf_command(options=options)
    assert "--add-header=X-A: b\\\\c\\n" in sent and "--no-host-hdr" in sent


def test_several_httperfs_share_the_rate_and_have_arrivals_of_their_own() -> None:
    spec = a_spec(rate_per_s=300.0, connections=100, arrivals="poisson", seed=65_536 + 7)
    parts = [httperf.invocation(part, 1).argv for part in shared(spec, 3)]
    assert [argv[4] for argv in parts] == [f"--client={n}/65536" for n in (7, 8, 9)]
    each = shared(spec, 3)
    assert sum(part.rate_per_s for part in each) == pytest.approx(300)
    assert len({round(part.connections / part.rate_per_s, 9) for part in each}) == 1


def test_a_scenario_of_tsung_says_what_the_plan_says() -> None:
    options = {"protocol": "http/1.1", "path": '/?a="<&>"', "headers": [("X", "é'\"<")]}
    spec = a_spec(
        rate_per_s=500.0,
        connections=150_000,
        seconds=300.0,
        calls_per_connection=13,
        think_time_s=5.0,
        think_times="exponential",
        arrivals="poisson",
        options=options,
    )
    root = ET.fromstring(tsung.scenario(spec))
    (phase,), (users,) = root.iter("arrivalphase"), root.iter("users")
    assert (users.attrib["maxnumber"], users.attrib["arrivalrate"]) == ("150000", "500.000000")
    # It starts the last of them later than planned, as it may.
    assert phase.attrib["duration"] == "330000"
    loop = root.find(".//for")
    assert loop is not None and int(loop.attrib["to"]) == 12
    (pause,) = root.iter("thinktime")
    assert pause.attrib == {"value": "5.000000", "random": "true"}
    assert pause in list(loop)  # Not after the last call.
    calls = list(root.iter("http"))
    assert {call.attrib["url"] for call in calls} == {'/?a="<&>"'} and len(calls) == 2
    assert {header.attrib["value"] for header in root.iter("http_header")} == {"é'\"<"}


def test_tsung_starts_no_daemon_and_listens_nowhere() -> None:
    made = tsung.invocation(a_spec(rate_per_s=1.0, seconds=1.0), 1)
    assert "-start_epmd false" in made.env["ERL_FLAGS"]
    assert "-dist_listen false" in made.env["ERL_FLAGS"]
    assert made.shown().startswith("HOME=. ERL_FLAGS='-start_epmd false")


def test_calls_are_counted_where_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "log" / "20261122-2145"
    folder.mkdir(parents=True)
    rows = [
        "#date;HTTP status;size;duration",
        *(f"1;200;5;{n}.251" for n in range(9)),
        "1;404;5;1.0",
    ]
    (folder / "tsung.dump").write_text("\n".join([*rows, "1;200"]), "utf-8")
    columns = ["HTTP status", "duration"]
    found = run_program.counted(tmp_path, "log/*/tsung.dump", columns)
    assert found["200\t3.251"] == found["404\t1.0"] == 1 and sum(found.values()) == 10
    monkeypatch.setattr(run_program, "MOST_VALUES", 5)
    assert run_program.counted(tmp_path, "log/*/tsung.dump", columns)["200\t3.25"] == 1
    assert run_program.counted(tmp_path, "log/*/none", columns) == {}
    known = run_program.counted(tmp_path, "log/*/tsung.dump", ["HTTP status"], rows[0])
    assert known["200"] == 10  # The row that is cut, too.
    assert run_program.counted(tmp_path, "log/*/tsung.dump", ["other"]) == {}
    assert json.dumps(found)


def test_users_begin_with_the_first_of_their_calls(tmp_path: Path) -> None:
    """One call ended at 10.0 s after 3 s, one of the same user at 10.5 s after 0.2 s, others at
    10.5 s after 0.5 s and at 12.0 s after 4.5 s."""
    rows = ["1;10.0;3000.0", "1;10.5;200.0", "2;10.5;500.000", "3;12.0;4500.0", "4;12.5;-", "5;12"]
    (tmp_path / "calls").write_text("\n".join(["id;date;duration", *rows]), "utf-8")
    columns = ["id", "date", "duration"]
    assert run_program.span(tmp_path, "calls", columns) == {"begun": 3, "seconds": 3.0}
    for name, absent in (("calls", ["id", "date", "other"]), ("none", columns)):
        assert run_program.span(tmp_path, name, absent) == {"begun": 0, "seconds": 0.0}


@pytest.mark.parametrize("seconds", [2.46, 3.69])
def test_tsungs_users_were_offered_in_the_time_in_which_it_started_them(seconds: float) -> None:
    """247 users, asked for within 3 s, and started sooner or later than that."""
    spans = {tsung.CALLS: Span(247, seconds)}
    output = msgspec.structs.replace(recorded("tsung-plain"), spans=spans)
    report = tsung.parse(output, a_spec(rate_per_s=247 / 3, seconds=3.0))
    assert report.offered_in_s == report.schedule_s == pytest.approx(seconds * 247 / 246)
    both = merged([report, read("tsung-plain")])
    assert both.offered_in_s == max(report.schedule_s, 3.0)
    # Where it has not written the calls of all its users, the plan's time stands for it.
    cut = msgspec.structs.replace(output, spans={tsung.CALLS: Span(200, seconds)})
    unknown = tsung.parse(cut, a_spec(rate_per_s=247 / 3, seconds=3.0))
    assert (unknown.offered_in_s, unknown.schedule_s) == (None, 3.0)


def test_of_an_output_its_text_is_kept_and_of_a_long_one_beginning_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_program, "MOST_OUTPUT", 20)
    output = tmp_path / "output"
    assert run_program.text_of(output) == ""
    output.write_bytes(b"as text: \xff\0\xc3\xa4\r20 b\r\n")
    assert run_program.text_of(output) == "as text: ä\n20 b\n"
    output.write_text("beginning " + "x" * 1_000 + "the result")
    assert run_program.text_of(output) == "beginning \n...\nthe result"


@pytest.mark.parametrize(
    ("tool", "fields", "said"),
    [
        ("httperf", {}, []),
        ("httperf", {"protocol": "pong"}, []),
        ("httperf", {"body": "x", "method": "POST"}, ["sends no body"]),
        ("httperf", {"tls": "full"}, ["without TLS"]),
        ("httperf", {"expect_status": 302}, ["2xx alone for a success"]),
        ("httperf", {"calls_per_connection": 2, "pipeline": 2}, ["pipelining"]),
        (
            "httperf",
            {"calls_per_connection": 13, "think_time_s": 5.0, "think_times": "exponential"},
            ["constant think times", "uses select()"],
        ),
        ("tsung", {"arrivals": "poisson"}, []),
        ("tsung", {}, ["at random instants only"]),
        ("tsung", {"arrivals": "poisson", "tls": "full"}, ["leave workload.tls out"]),
    ],
)
def test_what_an_open_loop_tool_cannot_offer_is_said_before_the_run(
    tool: str, fields: dict[str, Any], said: list[str]
) -> None:
    asked = workload(**{"protocol": "http/1.1", **fields})
    plan = Plan(servers=["x"], workload=asked, rates=[100.0, 500.0], seconds=2.0, load_tool=tool)
    found = [each.text() for each in problems(load_tool(tool), plan)]
    assert len(found) == len(said), found
    assert all(words in each for words, each in zip(said, found, strict=True))
