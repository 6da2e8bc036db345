"""Flame graphs: how stacks become boxes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from workbench.analysis.flame import ALL, OTHER, flame, module
from workbench.messages.outcomes import Profile


def profile(stacks: list[tuple[int, list[int]]], *frames: str, other: int = 0) -> Profile:
    flat = [n for count, calls in stacks for n in (count, len(calls), *calls)]
    samples = sum(count for count, _ in stacks) + other
    return Profile(
        name="a", tool="t", x=1.0, seconds=1.0, samples=samples, frames=list(frames), stacks=flat,
        other=other,
    )  # fmt: skip


TWO = profile([(1, [0, 2]), (6, [0, 1]), (2, [0]), (1, [3, 1])], "main", "send", "recv", "gc")


def test_callees_lie_below_their_caller_the_widest_at_the_left() -> None:
    root = flame(TWO)
    assert [(b.name, b.depth, b.samples, b.own) for b in root.all()] == [
        (ALL, 0, 10, 0),
        ("main", 1, 9, 2),
        ("send", 2, 6, 6),
        ("recv", 2, 1, 1),
        ("gc", 1, 1, 0),
        ("send", 2, 1, 1),
    ]
    main = root.callees[0]
    assert (main.start, main.share) == (0, approx(0.9))
    assert (main.callees[1].start, main.callees[1].share) == (approx(0.6), approx(0.1))


def test_omitted_functions_have_a_box_of_their_own() -> None:
    root = flame(profile([(3, [0])], "main", other=1))
    assert [(box.name, box.share) for box in root.callees] == [("main", 0.75), (OTHER, 0.25)]


def test_a_function_that_calls_itself_counts_once_in_each_sample() -> None:
    recursive = profile([(4, [0, 0, 1]), (1, [0, 0])], "walk", "leaf")
    assert recursive.hottest() == [("leaf", 4, 4), ("walk", 1, 5)]
    twice = profile([(4, [0, 1]), (1, [0, 2])], "main", "work", "work")
    assert twice.hottest() == [("work", 5, 5), ("main", 0, 5)]


def test_functions_of_one_file_have_one_colour() -> None:
    assert module("send (socket.py)") == module("recv (socket.py)") == "socket.py"
    assert module("runtime.main") == module("runtime.mallocgc") == "runtime"


@given(st.lists(st.tuples(st.integers(1, 9), st.lists(st.integers(0, 3), min_size=1, max_size=6))))
def test_boxes_never_overlap_and_never_leave_their_caller(
    stacks: list[tuple[int, list[int]]],
) -> None:
    root = flame(profile(stacks, "a", "b", "c", "d"))
    for box in root.all():
        assert box.own + sum(callee.samples for callee in box.callees) == box.samples
        at = box.start
        for callee in box.callees:
            assert callee.start >= at - 1e-9
            at = callee.start + callee.share
            assert at <= box.start + box.share + 1e-9
