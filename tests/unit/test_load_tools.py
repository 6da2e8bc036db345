"""What is read of the outputs of wrk, ab and h2load, as recorded from the real programs.

`tests/cases/load_tools` has what they wrote through the launcher: those of Debian 12 (wrk 4.1.0, ab
of Apache 2.4.71, h2load 1.52.0), under the locale C, unless the name says otherwise; Debian 11 has
ab of Apache 2.4.62, Debian 13 of 2.4.68, and both another build of wrk 4.1.0 with another LuaJIT.
"""

from __future__ import annotations

import contextlib
import random
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from workbench.analysis import histogram
from workbench.documents import Errors
from workbench.load import ab, h2load, httperf, tsung, wrk
from workbench.load.base import LoadReport, PointSpec
from workbench.load.merge import merged, shared
from workbench.load.program import Output, Unreadable, checked
from workbench.load.registry import load_tool, problems
from workbench.plan.model import Plan
from workbench.servers.programs import PROGRAMS
from workbench.workloads.registry import workload

CASES = Path(__file__).parents[1] / "cases" / "load_tools"
MODULES = {"wrk": wrk, "ab": ab, "h2load": h2load, "httperf": httperf, "tsung": tsung}


def recorded(name: str) -> Output:
    data = msgspec.json.decode((CASES / f"{name}.json").read_bytes())
    del data["command"]
    return msgspec.convert({"ev": "ended", **data}, Output)


def a_spec(**more: Any) -> PointSpec:
    fields: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": 8000,
        "workload": "http",
        "mode": "closed",
        "concurrency": 4,
        "seconds": 1.0,
        "calls_per_connection": 100,
    }
    return PointSpec(**fields | more)


def read(name: str, output: Output | None = None) -> LoadReport:
    module = MODULES[name.partition("-")[0]]
    return checked(module.parse, output or recorded(name), a_spec())


@pytest.mark.parametrize(
    ("name", "succeeded", "errors", "p50_us"),
    [
        ("wrk-kept", 711, {}, 5_223),
        ("wrk-kept-german", 709, {}, 5_243),
        ("wrk-debian-11", 716, {}, 5_427),
        ("wrk-debian-13", 716, {}, 5_387),
        ("wrk-interrupted", 363, {}, 5_255),
        ("wrk-slow", 312, {"client-timo": 4}, 5_215),
        ("wrk-statuses", 512, {"protocol-status": 252}, None),
        ("wrk-reset", 0, {"other-read": 1_920}, None),
        ("ab-kept", 736, {}, 5_271),
        ("ab-kept-german", 736, {}, 5_259),
        ("ab-debian-11", 611, {}, 6_147),
        ("ab-debian-13", 606, {}, 6_163),
        ("ab-closing", 630, {}, 5_835),
        ("ab-counted", 150, {}, 5_207),
        ("ab-interrupted", 360, {}, 5_247),
        ("ab-lengths", 552, {"protocol-body": 181}, None),
        ("ab-statuses", 477, {"protocol-status": 237}, None),
        ("ab-reset", 0, {"other-receive": 2_645}, None),
        ("ab-refused", 0, {"other-receive": 55_020}, None),
        ("h2load-cleartext", 1_256, {}, 5_691),
        ("h2load-tls", 1_256, {}, 5_775),
        ("h2load-statuses", 1_131, {"protocol-503": 126}, 5_675),
        ("h2load-reset", 0, {"other-stream": 1_362}, None),
    ],
)
def test_counts_and_times_are_those_of_the_tool(
    name: str, succeeded: int, errors: Errors, p50_us: int | None
) -> None:
    report = read(name)
    counts = report.counts
    assert (counts.succeeded, counts.errors) == (succeeded, errors)
    assert counts.scheduled == succeeded + sum(errors.values())
    # None has a schedule, and where calls failed wrk and ab have their times among the others.
    assert (counts.late, counts.established, report.histograms.latency) == (None, None, "")
    times = histogram.percentiles(report.histograms.service)
    assert (times and times.p50) == p50_us
    assert times is None or times.count == succeeded


@pytest.mark.parametrize(
    ("requests", "read_errors", "failed"),
    [(610, 610, 0), (610, 607, 0), (610, 700, 90), (610, 90, 90)],
)
def test_a_connection_that_the_server_closes_as_asked_is_no_error(
    requests: int, read_errors: int, failed: int
) -> None:
    """wrk counts it where the reply does not announce it; recorded with 610 of each."""
    output = recorded("wrk-closing")
    line = f"pongbench {requests} 1012731 0 {read_errors} 0 0 0"
    text = output.output.replace("pongbench 610 1012731 0 610 0 0 0", line)
    report = wrk.parse(msgspec.structs.replace(output, output=text), a_spec(calls_per_connection=1))
    assert (report.counts.succeeded, sum(report.counts.errors.values())) == (requests, failed)
    times = histogram.percentiles(report.histograms.service)
    assert times is not None and times.count == requests


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wrk-refused", "unable to connect to 127.0.0.1:28809 Connection refused"),
        ("ab-slow", "Total of 156 requests completed"),
        ("ab-percentile-missing", "its file of percentiles is incomplete"),
        ("h2load-refused", "it established no connection"),
        ("h2load-h1", "the server chose http/1.1"),
        ("wrk-absurd-time", "its times are longer than its timeout"),
    ],
)
def test_a_tool_that_gave_up_is_quoted(name: str, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        read(name)


def test_versions_are_compared_as_numbers() -> None:
    h2load = PROGRAMS["h2load"]
    assert [h2load.too_old(each) for each in ("1.9.1", "1.43.0", "1.52.0", "2.0")] == [True] + [
        False
    ] * 3
    assert not PROGRAMS["wrk"].too_old("0.1")


def damaged(text: str, rng: random.Random) -> str:
    """One of its figures replaced, or a line of it lost, doubled or moved."""
    if rng.random() < 0.7:
        places = list(re.finditer(r"\d+", text))
        if not places:
            return text
        place = rng.choice(places)
        figure = rng.choice(("0", "1", "-1", "nan", "18446744073709551616", "9" * 30, "9" * 400))
        return text[: place.start()] + figure + text[place.end() :]
    lines = text.splitlines(keepends=True) or [""]
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.randrange(3)):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return "".join(lines)


@pytest.mark.parametrize("case", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_a_damaged_output_is_read_or_unreadable(case: Path) -> None:
    module = MODULES[case.stem.partition("-")[0]]
    output, rng = recorded(case.stem), random.Random(case.stem)
    for _ in range(40):
        changed = msgspec.structs.replace(output, output=damaged(output.output, rng))
        if output.files and rng.random() < 0.5:
            files = {name: damaged(text, rng) for name, text in output.files.items()}
            changed = msgspec.structs.replace(output, files=files)
        spec = a_spec(rate_per_s=100.0, connections=100)
        with contextlib.suppress(Unreadable):
            assert checked(module.parse, changed, spec).counts.scheduled >= 0


@pytest.mark.parametrize("name", ["wrk-kept", "ab-kept"])
def test_of_a_truncated_output_nothing_is_invented(name: str) -> None:
    """Cut anywhere, it is no result, or one without times."""
    whole, output = read(name), recorded(name)
    for end in range(0, len(output.output) - 20, 7):
        cut = msgspec.structs.replace(output, output=output.output[:end], files={})
        try:
            report = read(name, cut)
        except Unreadable:
            continue
        assert report.counts == whole.counts
        assert report.histograms.service == []


def test_calls_of_ab_that_took_longer_than_the_timeout_failed() -> None:
    """Its own timeout ends it only if nothing at all arrives for so long."""
    report = ab.parse(recorded("ab-closing"), a_spec(timeout_s=0.006))
    counts, times = report.counts, histogram.percentiles(report.histograms.service)
    assert counts.errors["client-timo"] == 630 - counts.succeeded > 0
    assert times and times.count == counts.succeeded == report.replies_in_schedule > 300
    assert times.max <= 6_000 * 1.005


def test_the_length_of_a_known_body_is_no_error() -> None:
    """ab prints it where the body is known, and those that differ within brackets."""
    output = recorded("ab-kept")
    assert "Document Length:        Variable" in output.output
    text = output.output.replace("Variable", "5 bytes")
    assert read("ab-kept", msgspec.structs.replace(output, output=text)).counts.errors == {}
    # A connection that breaks has another length, too.
    broken = "Failed requests:        10\n   (Connect: 0, Receive: 6, Length: 4, Exceptions: 0)"
    text = text.replace("Failed requests:        0", broken)
    found = read("ab-kept", msgspec.structs.replace(output, output=text)).counts
    assert found.errors == {"other-receive": 6} and found.succeeded == 730


def test_the_times_that_wrk_added_are_taken_out_again() -> None:
    """`stats_correct` of wrk's src/stats.c, done and undone."""
    drawn = random.Random(3)
    for interval in (1, 7, 90, 400):
        times: dict[int, int] = {}
        for _ in range(500):
            us = round(drawn.expovariate(1 / 300)) + 1
            times[us] = times.get(us, 0) + 1
        corrected = dict(times)
        for us in range(2 * interval, max(times) + 1):
            if count := corrected.get(us, 0):
                for below in range(us - interval, interval, -interval):
                    corrected[below] = corrected.get(below, 0) + count
        assert sum(corrected.values()) > 500
        assert wrk.uncorrected(corrected, interval) == times
    assert wrk.uncorrected({5: 2}, 0) == {5: 2}


def test_percentiles_of_ab_are_exact_to_the_percent_and_never_too_low() -> None:
    drawn = random.Random(4)
    times = sorted(round(drawn.expovariate(1 / 2_000)) for _ in range(3_000))
    by_ms: dict[int, int] = {}
    for us in times:
        ms = (us + 500) // 1000
        by_ms[ms] = by_ms.get(ms, 0) + 1
    percentiles = [times[min(2_999, int(0.5 + 3_000 * q / 100))] for q in range(101)]
    found = sorted(ab.refined(by_ms, percentiles).items())
    each = [us for us, count in found for _ in range(count)]
    assert len(each) == 3_000
    assert all(shown >= us for shown, us in zip(each, times, strict=True))
    assert each[1_500] == percentiles[50] and each[-1] == times[-1]
    assert all(shown - us < 1_000 for shown, us in zip(each, times, strict=True))


def test_a_point_is_divided_in_whole_connections() -> None:
    parts = shared(a_spec(concurrency=5, connections=11), 3)
    assert [part.concurrency for part in parts] == [2, 2, 1]
    assert sum(part.connections for part in parts) == 11
    assert len(shared(a_spec(concurrency=2), 4)) == 2
    assert [p.rate_per_s for p in shared(a_spec(mode="open", rate_per_s=90.0), 2)] == [45, 45]


def test_programs_add_up_and_what_one_cannot_tell_is_unknown() -> None:
    both = merged([read("wrk-kept"), read("wrk-kept-german")])
    assert both.counts.succeeded == both.replies_in_schedule == 711 + 709
    times = histogram.percentiles(both.histograms.service)
    assert times is not None and times.count == 711 + 709
    assert merged([read("wrk-kept"), read("wrk-statuses")]).histograms.service == []


def test_the_command_is_the_point_as_a_user_would_type_it() -> None:
    def command(name: str, **more: Any) -> str:
        found = load_tool(name).command
        assert found is not None
        return found(a_spec(**more), 3)

    # wrk divides connections among threads and drops a remainder.
    assert command("wrk", concurrency=4, timeout_s=2.0) == (
        "wrk -t2 -c4 -d1s --timeout=2s -s point.lua http://127.0.0.1:8000/"
    )
    assert "-c 4 -t 1 -n 100000 -k -l " in command("ab")
    assert " -n 30 " in command("ab", seconds=0.0, connections=3, calls_per_connection=10)
    options = {"path": "/a", "method": "PUT", "body": "x", "headers": [("A", "b c")]}
    assert " -u body -T text/plain -H 'A: b c' " in command("ab", options=options)
    assert command("wrk", host="::1").endswith("'http://[::1]:8000/'")


def test_a_script_for_wrk_contains_no_text_of_the_plan_as_code() -> None:
    options = {"path": "/", "headers": [("X", 'a"\n]] os.exit() --')], "body": "é\\"}
    script = wrk.script(a_spec(options=options, calls_per_connection=1))
    assert "os.exit" not in script and '"\\097\\034' not in script
    assert 'wrk.headers["Connection"] = "close"' in script
    assert 'wrk.body = "\\195\\169\\092"' in script


@pytest.mark.parametrize(
    ("tool", "fields", "said"),
    [
        ("wrk", {"seconds": 2.0}, []),
        ("wrk", {"seconds": 2.5}, ["whole seconds"]),
        ("ab", {"seconds": 2.5, "protocol": "http/1.0"}, ["whole seconds"]),
        ("wrk", {"seconds": 2.0, "timeout_s": 0.5}, ["whole number as workload.timeout_s"]),
        ("wrk", {"connections": 50}, ["cannot end a point by connections"]),
        ("wrk", {"seconds": 2.0, "protocol": "http/1.0"}, ["http/1.1 only, not http/1.0"]),
        ("wrk", {"seconds": 2.0, "tls": "full"}, ["without TLS"]),
        ("wrk", {"seconds": 2.0, "expect_status": 201}, []),
        ("wrk", {"seconds": 2.0, "expect_status": 404}, ["2xx alone for a success; leave"]),
        ("ab", {"connections": 50, "protocol": "http/1.0"}, []),
        ("ab", {"connections": 50}, ["http/1.0 only, not http/1.1"]),
        ("ab", {"seconds": 2.0, "protocol": "pong"}, ["runs HTTP only, not Ping-pong"]),
        ("ab", {"seconds": 2.0, "protocol": "http/1.0", "think_time_s": 1.0}, ["pause"]),
    ],
)
def test_what_a_tool_cannot_offer_is_said_before_the_run(
    tool: str, fields: dict[str, Any], said: list[str]
) -> None:
    of_plan = {k: fields.pop(k) for k in ("seconds", "connections") if k in fields}
    asked = workload(**{"protocol": "http/1.1", "mode": "closed", **fields})
    plan = Plan(servers=["x"], workload=asked, concurrency=[4], load_tool=tool, **of_plan)
    found = [each.text() for each in problems(load_tool(tool), plan)]
    assert len(found) == len(said)
    assert all(words in each for words, each in zip(said, found, strict=True))
