"""The highest rate a server sustains."""

import msgspec
import pytest
from synthetic import Contestant, knees, session

from workbench.analysis.knee import is_floor, knee, unknown
from workbench.documents import Counts, PointStop, Verdict


def point(
    rate: float, verdict: Verdict = "ok", pass_number: int = 1, lost: int = 0, complete: bool = True
) -> PointStop:
    counts = Counts(
        scheduled=1000,
        unsent=0,
        sent=1000,
        late=0,
        established=1000,
        succeeded=1000 - lost,
        errors={"client-timo": lost},
    )
    return PointStop(
        t_us=0, point=1, server="a", rate_per_s=rate, pass_number=pass_number, complete=complete,
        seconds=1.0, counts=counts, verdict=verdict,
    )  # fmt: skip


def climb(*verdicts: Verdict, pass_number: int = 1) -> list[PointStop]:
    """Points at 1,000/s, 2,000/s and so on."""
    return [point(1000.0 * (i + 1), v, pass_number) for i, v in enumerate(verdicts)]


OK: Verdict = "ok"
GONE: Verdict = "server-limited"
LATE: Verdict = "client-limited"


@pytest.mark.parametrize(
    ("case", "points", "expected"),
    [
        ("nothing measured", [], None),
        ("every rate sustained", climb(OK, OK, OK), 3000.0),
        (
            "the last rate sustained before the first that was not",
            climb(OK, OK, GONE, GONE),
            2000.0,
        ),
        ("a rate sustained above one that was not does not count", climb(OK, GONE, OK), 1000.0),
        ("a rate the clients did not offer is not sustained", climb(OK, LATE, OK), 1000.0),
        ("not even the lowest sustained", climb(GONE, OK), None),
        ("points in any order", climb(OK, OK, GONE)[::-1], 2000.0),
        ("one in a hundred lost is still sustained", [point(1000.0, lost=10)], 1000.0),
        ("eleven in a thousand lost is not", [point(1000.0, lost=11)], None),
        (
            "an interrupted point is excluded",
            [*climb(OK, OK), point(3000.0, "inconclusive", complete=False)],
            2000.0,
        ),
        ("the last attempt at a rate counts", [*climb(OK, GONE, OK), point(2000.0)], 3000.0),
        ("also when it is the worse one", [*climb(OK, OK), point(2000.0, GONE)], 1000.0),
        (
            "an interrupted attempt changes nothing",
            [*climb(OK, OK), point(2000.0, "inconclusive", complete=False)],
            2000.0,
        ),
        (
            "three passes: the median of their knees",
            [
                *climb(OK, OK, OK, GONE),
                *climb(OK, GONE, OK, GONE, pass_number=2),
                *climb(OK, OK, OK, GONE, pass_number=3),
            ],
            3000.0,
        ),
        (
            "two passes: the lower knee",
            [*climb(OK, OK, OK, GONE), *climb(OK, OK, GONE, GONE, pass_number=2)],
            2000.0,
        ),
        (
            "a pass stopped before it found a limit does not contradict the other",
            [*climb(OK, OK, OK, GONE), *climb(OK, pass_number=2)],
            3000.0,
        ),
        (
            "a pass given up early has found its limit",
            [*climb(OK, OK, OK, OK), *climb(OK, GONE, pass_number=2)],
            1000.0,
        ),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_knee_with(case: str, points: list[PointStop], expected: float | None) -> None:
    assert knee(points) == expected, case


def test_warm_up_and_ceiling_points_are_no_part_of_a_sweep() -> None:
    others = [
        msgspec.structs.replace(point(500.0, GONE), purpose="warm_up"),
        msgspec.structs.replace(point(9000.0), purpose="ceiling"),
    ]
    assert knee([*others, *climb(OK, GONE)]) == 1000.0


@pytest.mark.parametrize("untrusted_from", [None, 4000.0])
def test_knees_of_whole_sessions_are_found(untrusted_from: float | None) -> None:
    documents = session(5, 12, repeats=3, untrusted_from=untrusted_from)
    expected = knees(5, 12, untrusted_from=untrusted_from)
    for server, rate in expected.items():
        points = [d for d in documents if isinstance(d, PointStop) and d.server == server]
        assert knee(points) == rate


def test_a_server_that_never_answers_sustains_nothing() -> None:
    dead = Contestant("dead", "Dead", "", 0.0, 100.0, 1 << 20)
    assert knee([d for d in session([dead], 4) if isinstance(d, PointStop)]) is None


@pytest.mark.parametrize(
    ("case", "points", "known"),
    [
        ("the server lost its lowest rate", climb(GONE, GONE), True),
        ("it sustained one", climb(OK, LATE), True),
        ("nothing was measured", [], True),
        ("the clients were the limit everywhere", climb(LATE, LATE), False),
        ("the lowest rate is inconclusive", climb("inconclusive", GONE), False),
        ("one pass shows that the server lost", climb(LATE) + climb(GONE, pass_number=2), True),
        ("no pass shows anything", climb(LATE) + climb(LATE, pass_number=2), False),
    ],
)
def test_no_rate_is_sustained_only_where_the_server_lost_its_lowest(
    case: str, points: list[PointStop], known: bool
) -> None:
    assert (unknown(points) is None) is known, case


@pytest.mark.parametrize(
    ("case", "points", "expected"),
    [
        ("nothing higher was offered", climb(OK, OK), True),
        ("the next rate was lost", climb(OK, OK, GONE), False),
        (
            "the next rate is inconclusive, though a higher one was lost",
            climb(OK, LATE, GONE),
            True,
        ),
        ("one pass lost the next rate", [*climb(OK, GONE), *climb(OK, LATE, pass_number=2)], False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_may_sustain_more_unless_the_next_rate_shows_its_limit(
    case: str, points: list[PointStop], expected: bool
) -> None:
    assert is_floor(points, knee(points)) is expected
