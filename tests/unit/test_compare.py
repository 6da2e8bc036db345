"""Sessions side by side: differences of servers and conditions, and the command for them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path

import msgspec
import pytest

from app.__main__ import main
from tests.comparisons import RATES, UNCLEAR, changed, faster, passes, said_of, side
from tests.recording import record_session
from tests.synthetic import session
from workbench.analysis.intervals import Difference, PassKnee, difference
from workbench.documents import NOT_RECORDED, PointStop
from workbench.results import sustained
from workbench.results.comparison import Contender, compare, pairwise
from workbench.results.differences import alike_in, by_one_pass, difference_text, groups, pairs

# How two servers differ


def test_two_servers_are_equal_also_with_one_of_unseen_limit_between_them() -> None:
    a = side("A", session(1, rates=RATES, untrusted_from=6000))
    b = side("B", session(1, rates=[250.0 * n for n in range(1, 40)]))
    c = side("C", session(1, rates=RATES))
    found = compare([a, b, c])
    assert [(x.tag, sustained.column(x.result)) for x in found.ranked()] == [
        ("B", "5,250/s"),
        ("A", "≥ 5,000/s"),
        ("C", "5,000/s"),
    ]
    assert groups(found) == [(0, 2)]


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
        (
            passes(*[(6000, 6020)] * 4),
            passes(*[(6100, 6120)] * 4),
            "equal",
            -130,
            -70,
        ),
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
    first: Sequence[PassKnee],
    second: Sequence[PassKnee],
    outcome: str,
    low: float,
    high: float,
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


def test_pairs_that_one_pass_cannot_distinguish_are_named_in_one_sentence() -> None:
    one, other = side("A", session(2, rates=RATES)), side("B", session(2, rates=RATES, seed=2))
    both, alone = compare([one, other]), compare([one])
    assert all(by_one_pass(both, *pair) for pair in pairs(both))
    assert alike_in(both, pairs(both)) == (
        "Cannot be distinguished by one pass: asyncio Protocol in A and B;"
        " asyncio streams in A and B."
    )
    assert alike_in(alone, pairs(alone)) == (
        "Cannot be distinguished by one pass: asyncio Protocol and asyncio streams."
    )
    assert not by_one_pass(alone, *pairs(alone)[0])
    assert alike_in(alone, []) == ""


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
