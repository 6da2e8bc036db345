"""Progress of a run, derived from its documents."""

from __future__ import annotations

import msgspec
import pytest

from tests import synthetic
from tests.repeats import with_repeats
from workbench.documents import AnyDocument, HostSample, PointStart, PointStop, RunStop, Window
from workbench.messages import notes
from workbench.run.progress import RunProgress


def after(documents: list[AnyDocument]) -> RunProgress:
    progress = RunProgress()
    for document in documents:
        progress(document)
    return progress


def upto_point(documents: list[AnyDocument], number: int, kind: type) -> list[AnyDocument]:
    """Up to and with the first `kind` of the `number`th point that is judged."""
    starts = [d for d in documents if isinstance(d, PointStart) and d.purpose == "sweep"]
    point = starts[number].point
    at = next(
        n
        for n, d in enumerate(documents)
        if isinstance(d, kind) and getattr(d, "point", 0) == point
    )
    return documents[: at + 1]


def test_a_whole_run_is_done_with_the_knees_it_has() -> None:
    progress = after(synthetic.session(3, 8))
    assert (progress.done, progress.total) == (24, 24)
    assert isinstance(progress.end, RunStop)
    assert progress.left_s == 0
    sustained = {id_: server.knee for id_, server in progress.servers.items()}
    assert sustained == synthetic.knees(3, 8)


def test_while_a_point_runs_its_last_window_is_shown() -> None:
    cut = upto_point(synthetic.session(2, 4), 5, Window)
    window = cut[-1]
    assert isinstance(window, Window)
    progress = after(cut)
    server = progress.now
    assert server is not None
    assert server.point is not None
    assert server.replies_per_s == pytest.approx(window.replies * 5)
    assert server.latency_us == window.latency_us
    assert server.errors_pct == pytest.approx(100 * sum(window.errors.values()) / window.due)
    assert progress.done == 5


def test_rates_of_connections_are_not_counted_in_calls() -> None:
    documents = synthetic.session(1, 2)
    start = documents[0]
    start.plan["workload"]["calls_per_connection"] = 4  # type: ignore[union-attr]
    cut = upto_point(documents, 0, Window)
    window = cut[-1]
    assert isinstance(window, Window)
    server = after(cut).now
    assert server is not None
    assert server.replies_per_s == pytest.approx(window.replies / 4 * 5)


def test_the_time_left_follows_from_the_points_so_far() -> None:
    documents = synthetic.session(2, 10, seconds=2.0)
    planned_s = after(documents[:2]).left_s
    assert planned_s is not None and 44 < planned_s < 60
    left_s = after(upto_point(documents, 9, PointStop)).left_s
    assert left_s is not None
    # Ten points of 2 s, ten more to come, a warm-up in between.
    assert 20 < left_s < 26


def skipping(documents: list[AnyDocument], server: str) -> list[AnyDocument]:
    """The same run, whose user skips a server in its third point."""
    starts = [d for d in documents if isinstance(d, PointStart) and d.server == server]
    first, last = documents.index(starts[3]), documents.index(starts[-1])
    while not isinstance(documents[last], PointStop):
        last += 1
    kept = documents[last + 1 :]
    gone_us = kept[0].t_us - documents[first].t_us  # type: ignore[union-attr]
    skipped = notes.notice("skipped", name=server).note(documents[first].t_us, server=server)  # type: ignore[union-attr]
    moved = [msgspec.structs.replace(d, t_us=d.t_us - gone_us) for d in kept]  # type: ignore[type-var, union-attr]
    return [*documents[:first], skipped, *moved]


@pytest.mark.parametrize("skipped", [False, True])
def test_the_time_left_is_near_the_truth_from_the_tenth_second_on(skipped: bool) -> None:
    documents = synthetic.session(4, 8, seconds=1.5)
    if skipped:
        documents = skipping(documents, "asyncio-protocol")
    progress, end_us, seen = RunProgress(), documents[-1].t_us, 0  # type: ignore[union-attr]
    for document in documents:
        progress(document)
        truth_s = (end_us - progress.t_us) / 1e6
        if progress.t_us >= 10_000_000 and truth_s > 3:
            seen += 1
            assert progress.left_s is not None
            assert truth_s / 1.5 < progress.left_s < truth_s * 1.5
    assert seen > 100


def test_the_time_left_falls_while_a_long_point_runs() -> None:
    documents = synthetic.session(2, 2, seconds=60.0, ceiling=False)
    for number, rest_s in ((0, 240), (1, 180), (2, 120)):
        begun = after(upto_point(documents, number, PointStart)).left_s
        begin, end = (upto_point(documents, number, kind) for kind in (PointStart, PointStop))
        running = after(documents[: (len(begin) + len(end)) // 2]).left_s
        assert begun == pytest.approx(rest_s, abs=6)
        assert running == pytest.approx(rest_s - 30, abs=6)


def test_points_given_up_are_not_waited_for() -> None:
    documents = upto_point(synthetic.session(2, 10), 3, PointStop)
    gave_up = notes.notice("gave-up", x=1.0, success_below_pct=50.0, points=3, left_out=1)
    progress = after([*documents, gave_up.note(0)])
    assert progress.done == 10


def test_a_server_that_was_left_out_is_skipped() -> None:
    documents = synthetic.session(3, 4)
    second = synthetic.contestants(3)[1].id
    kept = [d for d in documents if getattr(d, "server", "") != second]
    assert after(upto_point(kept, 4, PointStop)).done == 9


def test_a_new_start_begins_afresh() -> None:
    documents = synthetic.session(1, 2)
    assert after([*documents, documents[0]]).done == 0


def test_added_data_is_discarded_when_a_session_restarts() -> None:
    documents = with_repeats(synthetic.session(2, 4), 4500, "asyncio-streams")
    assert after(documents).total == 9
    assert after([*documents, *documents]).total == 9


def test_a_turn_added_for_a_repeat_is_counted_when_it_is_announced() -> None:
    documents = synthetic.session(2, 4)[:-1]
    first = next(d for d in documents if isinstance(d, PointStart) and d.purpose == "sweep")
    again = notes.notice("again", look=1, pass_number=1, rates_per_s=[first.rate_per_s]).note(
        documents[-1].t_us, server=first.server
    )
    progress = after([*documents, again])
    assert (progress.done, progress.total) == (8, 9)
    assert (progress.block, progress.repeat_block) == ((2, 2), (1, 1))
    progress(msgspec.structs.replace(first, t_us=again.t_us, point=99, look=2))
    assert progress.repeat_block == (1, 1)
    assert progress.done == 8
    stop = next(d for d in documents if isinstance(d, PointStop) and d.point == first.point)
    progress(msgspec.structs.replace(stop, t_us=again.t_us, point=99, look=2))
    assert (progress.done, progress.in_block) == (9, (1, 1))


def test_a_pause_does_not_change_the_time_remaining() -> None:
    documents = upto_point(synthetic.session(2, 4), 3, PointStop)
    progress = after(documents)
    before, at_us = progress.left_s, progress.t_us
    assert before is not None
    progress(notes.notice("paused").note(at_us))
    progress(HostSample(t_us=at_us + 60_000_000, machine="localhost"))
    assert progress.left_s == before
    progress(notes.notice("resumed").note(at_us + 60_000_000))
    assert progress.left_s == pytest.approx(before)


def test_between_two_turns_the_next_server_is_current() -> None:
    documents = upto_point(synthetic.session(2, 4), 3, PointStop)
    progress = after(documents)
    assert progress.current_server is progress.servers["asyncio-protocol"]
    assert progress.block == (2, 2)
    assert progress.block_left_s == progress.left_s


def test_an_announced_round_of_repeats_begins_with_its_first_server() -> None:
    documents = with_repeats(synthetic.session(2, 8), 4500.0, "asyncio-streams", "asyncio-protocol")
    announced = max(n for n, d in enumerate(documents) if getattr(d, "topic", "") == "again")
    progress = after(documents[: announced + 1])
    assert progress.repeat_block == (1, 2)
    assert progress.current_server is progress.servers["asyncio-streams"]
    assert (progress.block_left_s or 0) > 0
