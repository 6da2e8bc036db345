"""Sessions side by side: differences of servers and conditions, and the command for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.__main__ import main
from tests.comparisons import RATES, UNCLEAR, changed, faster, passes, said_of, side
from tests.recording import record_session
from tests.synthetic import contestants, session
from workbench.analysis.knee import Difference, PassKnee, difference
from workbench.analysis.published import figures_of, question_of, sources
from workbench.analysis.summary import summarise
from workbench.documents import NOT_RECORDED, AnyDocument, PointStop, RunStart
from workbench.results import sustained
from workbench.results.comparison import Contender, compare, pairwise
from workbench.results.conditions import conditions
from workbench.results.differences import difference_text, sustained_in
from workbench.results.render.data import of_session
from workbench.results.setup import Setup

# How two servers differ


@pytest.mark.parametrize(
    ("first", "second", "outcome", "low", "high"),
    [
        (passes((5000, 6000)), passes((3000, 4000)), "more", 1000, 3000),
        (passes((3000, 4000)), passes((4000, 5000)), "less", -2000, 0),
        (passes((5000, 6000)), passes((5000, 6000)), "indistinguishable", -1000, 1000),
        (
            passes((4000, 5000), (6000, 7000)),
            passes((5000, 6000), (5000, 6000)),
            "indistinguishable",
            -13968,
            13968,
        ),
        (passes(*[(6000, 6020)] * 4), passes(*[(6100, 6120)] * 4), "equal", -130, -70),
        (passes((9000, inf)), passes((7000, 8000)), "more", 1000, inf),
        (passes((9000, inf)), passes((9000, inf)), "unknown", -inf, inf),
        (passes((5000, inf)), passes((7000, 8000)), "unknown", -3000, inf),
    ],
    ids=[
        "apart",
        "touching",
        "same",
        "overlapping",
        "equal",
        "at least",
        "neither shown",
        "cut short",
    ],
)
def test_a_difference_comes_with_an_interval(
    first: Sequence[PassKnee], second: Sequence[PassKnee], outcome: str, low: float, high: float
) -> None:
    found = difference(first, second)
    assert found is not None
    assert found.outcome == outcome
    assert (found.low, found.high) == pytest.approx((low, high), abs=1)


def test_interleaved_passes_are_compared_one_by_one() -> None:
    """The machine drifted: together they overlap, pass by pass one is always ahead."""
    first = passes((5000, 5100), (6000, 6100), (7000, 7100))
    second = passes((4500, 4600), (5500, 5600), (6500, 6600))
    apart, together = difference(first, second, paired=True), difference(first, second)
    assert apart is not None
    assert together is not None
    assert together.outcome == "indistinguishable"
    assert apart.outcome == "more"
    # As steady as that, all that is left to doubt is the step between the rates.
    assert (apart.low, apart.high) == pytest.approx((400 - 101, 600 + 101), abs=1)


def test_only_an_interleaved_session_pairs_its_passes() -> None:
    for order in ("interleaved", "sequential"):
        documents = changed(session(2, rates=RATES, repeats=3), plan={"order": order})
        found = compare([side("A", documents)])
        pair = found.difference(*found.contenders)
        assert pair is not None
        assert pair.paired == (order == "interleaved")


def test_what_cannot_be_distinguished_is_described_so() -> None:
    one, other = side("A", session(3, rates=RATES)), side("B", session(3, rates=RATES, seed=2))
    found = compare([one, other])
    a, b = one.contenders[2], other.contenders[2]
    message = difference_text(a, b, found.difference(a, b))
    assert message == "gevent in A and gevent in B cannot be distinguished by one pass."


def test_a_gap_after_one_pass_is_reported_as_uncertain() -> None:
    one, other = side("A", session(3, rates=RATES)), side("B", session(faster(3, 0.5), rates=RATES))
    found = compare([one, other])
    a, b = other.contenders[2], one.contenders[2]
    message = difference_text(a, b, found.difference(a, b))
    assert message == (
        "gevent in A sustains 4,000/s more than gevent in B (3,000 to 5,000/s; 75 to 125 %)."
        " One pass cannot show significance."
    )


def test_a_difference_reads_the_same_from_either_side() -> None:
    found = compare([side("A", session(2, rates=RATES))])
    less, more = found.contenders
    difference = Difference(-2_000.0, -3_000.0, -0.0, "less")
    message = difference_text(less, more, difference, tagged=False)
    assert message.startswith(
        "asyncio Protocol sustains 2,000/s more than asyncio streams (up to 3,000/s; up to "
    )
    flipped = Difference(2_000.0, 0.0, 3_000.0, "more")
    assert difference_text(more, less, flipped, tagged=False) == message
    assert "-0" not in difference_text(more, less, Difference(-1.0, -2.0, 0.0, "less"))


def test_servers_of_one_session_are_identified_by_name_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(record_session(tmp_path / "a.yaml", session(2, rates=RATES)))]) == 0
    out = capsys.readouterr().out
    assert "asyncio Protocol sustains 2,000/s more than asyncio streams (1,000 to 3,000/s;" in out


# One rate for all


def test_all_servers_are_compared_at_the_highest_rate_all_sustained() -> None:
    found = compare([side("A", session(3, rates=RATES)), side("B", session(1, rates=RATES[::2]))])
    assert found.shared == RATES[::2]
    assert found.rate == 5000
    assert all(c.result.at(5000) is not None for c in found.contenders)


def test_sessions_without_a_common_rate_are_compared_at_none() -> None:
    other = side("B", session(1, rates=[1500.0, 2500.0]))
    found = compare([side("A", session(1, rates=RATES)), other])
    assert found.rate is None
    assert found.shared == []


def test_percentiles_of_several_passes_come_from_all_their_calls() -> None:
    (server,) = side("A", session(1, rates=RATES, repeats=3)).contenders
    at = server.result.at(4000)
    assert at is not None
    assert at.latency_us is not None
    singles = [stop.latency_us.count for stop in at.stops if stop.latency_us]
    assert len(singles) == 3
    assert at.latency_us.count == sum(singles)


def test_a_difference_is_that_of_the_two_figures_next_to_it() -> None:
    cpus, sizes = iter([9.2, 8.3]), iter([32_400_000, 18_900_000])
    first, second = side("A", session(2, rates=[1000.0])).contenders
    for each in (first, second):
        (stop,) = each.result.stops
        each.result.stops = [
            msgspec.structs.replace(stop, server_cpu_pct=next(cpus), server_rss_bytes=next(sizes))
        ]
    data = {figure.what: figure for figure in pairwise(first, second, 1000.0)}
    assert (data["CPU"].first, data["CPU"].second) == ("9.20 %", "8.30 %")
    assert data["CPU"].text.startswith("+0.90 percentage points, no spread")
    assert (data["memory"].first, data["memory"].second) == ("32.4 MB", "18.9 MB")
    assert data["memory"].text.startswith("+13.5 MB, no spread")


def repeated(server: Contender, cpu_us: Sequence[float]) -> Contender:
    """With a pass for each of these costs of a call."""
    (stop,) = server.result.stops
    server.result.stops = [
        msgspec.structs.replace(stop, pass_number=number, values={"cpu_us_per_call": cost})
        for number, cost in enumerate(cpu_us, start=1)
    ]
    return server


@pytest.mark.parametrize(
    ("first", "second", "message", "finding"),
    [
        ([94, 92, 93, 94], [85, 84, 85, 85], "7.7 to 12 % more", "more"),
        ([85, 84, 85, 85], [94, 92, 93, 94], "7.1 to 11 % less", "less"),
        ([85, 84, 85, 85], [85.5, 85, 84, 85], "equal within 5 %", "equal"),
        ([85, 80, 85, 90], [88, 84, 80, 85], f"{UNCLEAR} by up to 9", None),
        ([85, 120], [88, 80], f"{UNCLEAR} by more than 100 %", None),
        ([85, 86], [85], "no spread: one has a single pass", None),
    ],
)
def test_a_figure_over_passes_has_an_interval(
    first: list[float], second: list[float], message: str, finding: str | None
) -> None:
    a, b = side("A", session(2, rates=[1000.0])).contenders
    data = {f.what: f for f in pairwise(repeated(a, first), repeated(b, second), 1000.0)}
    cost = data["CPU per call"]
    assert message in cost.text
    assert finding is None or cost.finding == finding


def test_drift_cancels_out_in_interleaved_passes() -> None:
    a, b = side("A", session(2, rates=[1000.0])).contenders
    drifting = [85.0, 95.0, 108.0, 90.0]
    a, b = repeated(a, [1.1 * cost for cost in drifting]), repeated(b, drifting)
    apart, together = (
        next(f for f in pairwise(a, b, 1000.0, paired=paired) if f.what == "CPU per call")
        for paired in (True, False)
    )
    assert apart.text == "9.5 to 11 % more"
    assert together.finding == "indistinguishable"


def test_a_closed_loop_is_ranked_by_what_it_answered() -> None:
    documents = [
        msgspec.structs.replace(d, concurrency=int(d.x / 20), rate_per_s=0.0, x=NOT_RECORDED)
        if isinstance(d, PointStop) and d.purpose == "sweep"
        else d
        for d in changed(session(2, rates=RATES[:3]), workload={"mode": "closed"})
    ]
    found = compare([side("A", documents)])
    assert found.axis.key == "concurrency"
    assert found.shared == [50, 100, 150]
    assert found.rate == 150
    assert all(c.result.interval is None for c in found.contenders)
    assert found.difference(*found.contenders) is None
    assert {sustained.column(c.result).partition(" ")[2] for c in found.contenders} == {"replies/s"}
    differing, warnings = said_of(documents, session(2))
    assert not any(each.startswith("What rates count") for each in differing)
    assert warnings[0].startswith(
        "Not comparable: A varied the concurrent connections, B the offered rate."
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"facts": {"kernel": "Linux 5.10.0-32"}},
            "Kernel of the target: A Linux 6.1.0-41-amd64, B Linux 5.10.0-32.",
        ),
        ({"facts": {"cpu_count": 2}}, "Cores of the target: A 4, B 2."),
        ({"backlog": 128}, "Backlog in force: A 512, B 128."),
        ({"plan": {"seconds": 5.0}}, "Point length: A 2 s, B 5 s."),
        ({"plan": {"nofile": 1024}}, "Descriptor limit: A 20,000, B 1,024."),
        ({"workload": {"timeout_s": 2.0}}, "Timeout: A 5 s, B 2 s."),
        ({"version": "uvloop 9"}, "Version of asyncio streams: A CPython 3.11.7, B uvloop 9."),
    ],
    ids=["kernel", "cores", "backlog", "length", "descriptors", "timeout", "version"],
)
def test_differences_are_named_with_both_values(change: dict[str, Any], text: str) -> None:
    differing, warnings = said_of(session(1), changed(session(1), **change))
    assert differing == [text]
    assert warnings


def test_a_session_that_other_programs_disturbed_did_not_have_the_same_conditions() -> None:
    rates = [1000.0 * n for n in range(1, 13)]

    def taking(pct: float, *, above: float = 7000) -> list[AnyDocument]:
        def taken(stop: PointStop) -> dict[str, float]:
            return {"others_cpu_pct": pct if stop.rate_per_s > above else 0.0}

        return [
            msgspec.structs.replace(d, evidence=taken(d)) if isinstance(d, PointStop) else d
            for d in session(1, rates=rates)
        ]

    differing, warnings = said_of(taking(3.0), taking(153.0))
    assert differing == [
        "Background load: A took next to no CPU, B took up to 153 % of a core, at 5 of 12 points."
    ]
    assert warnings[-1].startswith("Differences between sessions may come from their set-up")
    # A single difference is listed and is not a different set-up.
    differing, warnings = said_of(taking(3.0), taking(36.0, above=11_000))
    assert differing == [
        "Background load: A took next to no CPU, B took up to 36 % of a core, at 1 of 12 points."
    ]
    assert not any("set-ups" in warning for warning in warnings)


def test_failed_audits_are_listed_with_what_they_taint_in_each_session() -> None:
    def taking(pct: float) -> list[AnyDocument]:
        taken = {"others_cpu_pct": pct}
        return [
            msgspec.structs.replace(d, evidence=taken) if isinstance(d, PointStop) else d
            for d in session(1, rates=RATES)
        ]

    def audits(*documents: list[AnyDocument]) -> list[str]:
        sides = [side(tag, each) for tag, each in zip("AB", documents, strict=True)]
        return [audit.text for audit in conditions(sides).audits]

    failed = f"{len(RATES)} points of asyncio streams"
    (one,) = audits(taking(3.0), taking(153.0))
    assert one == f"Audit failed in B: quiet host: A passed, B {failed}."
    (both,) = audits(taking(153.0), taking(153.0))
    assert both == f"Audit failed in A and B: quiet host: A {failed}, B {failed}."
    assert not audits(session(1), session(2))


def test_the_reason_for_no_difference_names_what_was_seen_above() -> None:
    message = "The sustained rates of asyncio streams and asyncio Protocol cannot be compared: "
    small = [replace(each, capacity_per_s=1e6) for each in contestants(2)]
    for documents, why in (
        (session(small, rates=RATES), "the limit was not reached."),
        (
            session(2, rates=RATES, untrusted_from=2000.0),
            "no reliable point of either shows a limit.",
        ),
    ):
        a, b = side("A", documents).contenders
        between = compare([side("A", documents)]).difference(a, b)
        assert difference_text(a, b, between, tagged=False) == message + why


def test_a_kernel_setting_that_differs_is_named() -> None:
    one, other = ({"sysctls": {"net.core.somaxconn": n}} for n in (4096, 128))
    differing, _ = said_of(changed(session(1), facts=one), changed(session(1), facts=other))
    assert differing == ["net.core.somaxconn of the target: A 4096, B 128."]


def test_servers_that_agreed_on_different_versions_of_tls_are_named() -> None:
    def over(version: str) -> list[AnyDocument]:
        start, *others = session(1)
        assert isinstance(start, RunStart)
        servers = [
            msgspec.structs.replace(each, gate=each.gate | {"tls": version})
            for each in start.servers
        ]
        return [msgspec.structs.replace(start, servers=servers), *others]

    documents = over("TLSv1.3, A")
    assert [each["tls"] for each in of_session(summarise(documents))["servers"].values()] == [
        "TLSv1.3, A"
    ]
    start = documents[0]
    assert isinstance(start, RunStart)
    start = msgspec.structs.replace(
        start, plan={"workload": {"protocol": "http/1.1", "tls": "full"}}
    )
    assert Setup(start).protocol == "HTTP/1.1, full TLS handshakes, TLS 1.3 with A"
    stays = {"calls_per_connection": 13, "think_time_s": 0.75, "think_times": "exponential"}
    start = msgspec.structs.replace(start, plan={"workload": stays})
    assert Setup(start).calls == "13 calls per connection, think time 0.75 s on average"
    name = next(iter(summarise(documents).servers.values())).name
    differing, _ = said_of(documents, over("TLSv1.2, B"))
    assert differing == [f"TLS of {name}: A TLSv1.3, A, B TLSv1.2, B."]


def test_a_different_workload_is_listed_before_a_different_set_up() -> None:
    other = changed(
        session(1),
        facts={"kernel": "Linux 5.10"},
        workload={"protocol": "http/1.1"},
        plan={"repeats": 3},
    )
    differing, warnings = said_of(session(1), other)
    assert [text.partition(":")[0] for text in differing] == [
        "Protocol",
        "Kernel of the target",
        "Passes",
    ]
    assert warnings == (
        "Not comparable: the sessions measured different workloads (protocol). A difference is not"
        " one between servers.",
    )


def test_rates_that_count_different_things_are_warned_of_and_not_subtracted() -> None:
    requests = changed(session(1), plan={"rate_of": "requests"})
    _, warnings = said_of(session(1), requests)
    assert warnings[0].startswith("Not comparable: A counts connections, B counts requests.")
    found = compare([side("A", session(1)), side("B", requests)])
    assert [c.tag for c in found.comparable()] == ["A"]
    assert found.difference(*found.contenders) is None


def test_the_same_session_twice_has_no_differences_and_is_reported() -> None:
    found = conditions([side("A", session(2)), side("B", session(2))])
    reported = ("A and B are the same session; keep one of them.",)
    assert (found.differing, found.warnings) == ([], reported)
    assert found.same_text().startswith("The same: point length, CPU, cores, kernel and ")


def test_what_an_old_session_did_not_record_is_no_difference() -> None:
    old = session(1)
    assert isinstance(old[0], RunStart)
    (machine,) = old[0].machines
    bare = msgspec.structs.replace(machine, facts={})
    old[0] = msgspec.structs.replace(old[0], machines=[bare])
    assert said_of(session(1), old) == ([], ())


def test_published_figures_are_compared_only_with_the_same_workload() -> None:
    plan = session(1)[0].plan  # type: ignore[union-attr]
    assert [each.at for each in figures_of(plan, ["tornado"])] == [7400]
    (epoll,) = figures_of(plan, ["circuits"])
    assert (epoll.at, epoll.requests) == (4000, 20859), "of a reader: that of 2009 used no epoll"
    assert not figures_of(plan | {"workload": {"protocol": "http/1.1"}}, ["tornado"])
    asked = plan | {"source": "gasc-2015-slow-db", "workload": {"mode": "open", "path": "/agents"}}
    assert [each.mean_ms for each in figures_of(asked, ["flask"])] == [18.74]
    assert question_of(asked | {"workload": {"mode": "closed", "path": "/agents"}}) is None
    assert len(sources()) >= 4


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[str]]:
    def make(*sessions: list[AnyDocument]) -> list[str]:
        return [
            str(record_session(tmp_path / f"{tag}.pong.yaml", documents))
            for tag, documents in zip("abcdefg", sessions, strict=False)
        ]

    return make


def test_as_json_it_is_one_object_with_the_same_figures(
    files: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["compare", *files(session(2, rates=RATES), session(1, rates=RATES)), "--json"]) == 0
    )
    out, err = capsys.readouterr()
    assert err == ""
    data = json.loads(out)
    assert list(data["sessions"]) == ["A", "B"]
    first = data["servers"][0]
    assert (first["session"], first["server"], first["knee_per_s"]) == (
        "A",
        "asyncio-protocol",
        7000,
    )
    assert first["limit"] == {"low_per_s": 7000, "high_per_s": 8000, "passes": 1, "coverage": None}
    assert data["common_rate_per_s"] == 5000
    (pair,) = data["differences"]
    assert pair["outcome"] == "indistinguishable"


def test_a_file_that_cannot_be_read_is_refused_and_the_others_are_compared(
    files: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = tmp_path / "foreign.yaml"
    foreign.write_text("just: yaml\n")
    newer = tmp_path / "newer.yaml"
    newer.write_text("# pongbench session\n---\nkind: run_start\nv: 99\n---\n")
    paths = files(session(1, rates=RATES))
    assert main(["compare", str(foreign), str(newer), *paths]) == 2
    out, err = capsys.readouterr()
    assert str(foreign) in err
    assert str(newer) in err
    assert "asyncio streams" in out
    assert main(["compare", str(foreign)]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--server", "gevnt"], "No session has a server 'gevnt'; known: asyncio-streams."),
        (
            ["--rate", "77"],
            "--rate: 77 was not offered to all servers; common rates: 1,000, 2,000, ",
        ),
    ],
    ids=["server", "rate"],
)
def test_a_missing_name_is_reported_with_the_available_ones(
    files: Callable[..., list[str]],
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    message: str,
) -> None:
    assert main(["compare", *files(session(1, rates=RATES)), *more]) == 2
    assert message in capsys.readouterr().err


def test_more_than_six_sessions_are_too_many(
    files: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = files(session(1, rates=RATES[:2]))
    assert main(["compare", *paths * 7]) == 2
    assert "7 sessions cannot be compared at once; the most is 6." in capsys.readouterr().err


def test_sessions_of_different_axes_are_not_ranked_together(
    files: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    closed = [
        msgspec.structs.replace(d, concurrency=int(d.x / 20), rate_per_s=0.0, x=NOT_RECORDED)
        if isinstance(d, PointStop) and d.purpose == "sweep"
        else d
        for d in changed(session(2, rates=RATES[:3]), workload={"mode": "closed"})
    ]
    found = compare([side("A", session(2, rates=RATES[:3])), side("B", closed)])
    assert [c.tag for c in found.ranked()] == ["A", "A", "B", "B"]
    assert [sustained_in(found, c) for c in found.ranked()[2:]] == ["not comparable"] * 2
    assert main(["compare", *files(session(2, rates=RATES[:3]), closed)]) == 0
    output = capsys.readouterr().out
    assert "A varied the offered rate, B the concurrent connections" in output
    assert "from 0/s" not in output
