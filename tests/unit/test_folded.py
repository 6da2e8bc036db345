"""What profilers write, read from what real ones wrote (`tests/cases/profiles`)."""

from __future__ import annotations

import contextlib
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from workbench.servers import profiling
from workbench.servers.profiling import Stacks

CASES = Path(__file__).parents[1] / "cases" / "profiles"


def text(name: str) -> str:
    return (CASES / name).read_text("utf-8")


def own(stacks: Stacks) -> Counter[str]:
    """By function: how often it was seen to work itself."""
    found: Counter[str] = Counter()
    for stack, count in stacks.items():
        found[stack[-1]] += count
    return found


def test_processes_of_a_server_in_python_are_added_up() -> None:
    assert profiling.py_spy(text("py-spy.txt")) == {
        ("Thread.run (threading.py)", "serve (hot.py)", "burn (hot.py)"): 24,
        ("Thread.run (threading.py)", "serve (hot.py)"): 23,
        (profiling.NATIVE,): 3,
    }


def test_perf_sees_functions_of_a_program_and_of_the_kernel() -> None:
    found = profiling.perf(text("perf.txt"))
    assert own(found).most_common(1)[0][0] == "burn (burn)"
    assert all(
        stack[:2] == ("__libc_start_call_main (libc.so.6)", "main (burn)") for stack in found
    )


def test_perf_names_the_library_where_it_knows_no_function() -> None:
    lines = [
        "nginx ",
        "\t 7f00 [unknown] (/usr/lib/libssl.so.3)",
        "\tff01 do_idle+0x2 ([kernel.kallsyms])",
        "",
    ]
    assert profiling.perf("\n".join(lines)) == {("do_idle+0x2 (kernel)", "[libssl.so.3]"): 1}


def test_node_is_not_charged_for_the_time_it_is_idle() -> None:
    found = profiling.cpuprofile((CASES / "node.cpuprofile").read_bytes())
    assert own(found).most_common(1) == [("burn (hot.js)", 42)]
    assert not any("(idle)" in stack or "(root)" in stack for stack in found)


def test_functions_without_a_name_are_distinguished_by_their_line() -> None:
    frame = {"functionName": "", "url": "file:///srv/a.js", "lineNumber": 6}
    data = msgspec.json.encode({"nodes": [{"id": 1, "callFrame": frame, "hitCount": 3}]})
    assert profiling.cpuprofile(data) == {("(anonymous) (a.js:7)",): 3}


def test_a_profile_with_a_cycle_ends() -> None:
    frame = {"functionName": "f"}
    nodes = [
        {"id": 1, "callFrame": frame, "hitCount": 1, "children": [2]},
        {"id": 2, "callFrame": frame, "children": [1]},
    ]
    found = profiling.cpuprofile(msgspec.json.encode({"nodes": nodes}))
    assert [len(stack) for stack in found] == [profiling.DEEPEST]


def at(time: str) -> float:
    return datetime.fromisoformat(f"2026-11-22T{time}+00:00").astimezone(UTC).timestamp()


def test_a_flight_recording_counts_from_the_start_of_load() -> None:
    recorded = text("jfr.txt")
    everything = profiling.flight_recording(recorded, at("14:08:38"), at("14:08:42"))
    assert own(everything).most_common(1) == [("Hot.burn", 5)]
    assert everything.total() == 6
    later = profiling.flight_recording(recorded, at("14:08:39"), at("14:08:42"))
    assert set(own(later)) == {"Hot.burn"}
    assert later.total() < 6
    assert not profiling.flight_recording(recorded, at("15:00:00"), at("15:00:05"))


def test_a_flight_recording_may_continue_past_midnight() -> None:
    lines = ["jdk.ExecutionSample {", "startTime = 00:00:01.500", "a.b.C.d() line: 7", "}", ""]
    begin = datetime(2026, 11, 22, 23, 59, 58, tzinfo=UTC).timestamp()
    assert profiling.flight_recording("\n".join(lines), begin, begin + 5) == {("C.d (a.b)",): 1}


@given(st.binary(max_size=400))
def test_any_data_of_a_machine_is_read_or_refused(data: bytes) -> None:
    message = data.decode("utf-8", "replace")
    for stacks in (
        profiling.py_spy(message),
        profiling.perf(message),
        profiling.flight_recording(message, 0.0, 5.0),
    ):
        assert all(count > 0 for count in stacks.values())
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
        profiling.cpuprofile(data)


def test_deep_recursion_keeps_the_outermost_calls() -> None:
    found = profiling.py_spy(";".join(f"f{n} (a.py)" for n in range(900)) + " 2")
    (stack,) = found
    assert (stack[0], len(stack), found[stack]) == ("f0 (a.py)", profiling.DEEPEST, 2)
