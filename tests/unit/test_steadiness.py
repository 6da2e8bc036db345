"""Steady state and dependence within points, in simulation with known truth, and as audits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import exp

import msgspec
import numpy as np
import pytest
from chosen import chosen
from numpy.typing import NDArray
from synthetic import session

from workbench.analysis.audits import audits_of
from workbench.analysis.steadiness import steadiness
from workbench.documents import AnyDocument, PointStop, Window

Rng = np.random.Generator
Values = NDArray[np.float64]
TRIES = 500


def chain(rng: Rng, n: int, r: float, deviation: float) -> Values:
    """Each value depends on the one before."""
    values = [rng.normal(0, deviation)]
    for _ in range(n - 1):
        values.append(r * values[-1] + rng.normal(0, deviation * (1 - r * r) ** 0.5))
    return np.array(values)


def first_fifth(n: int) -> Values:
    return (np.arange(n) < -(-n // 5)).astype(float)


STEADY: dict[str, Callable[[Rng, int], Values]] = {
    "normal": lambda rng, n: rng.normal(0, 0.1, n),
    "heavy tails": lambda rng, n: 0.1 * rng.standard_t(2, n),
    "skewed": lambda rng, n: 0.2 * rng.exponential(1, n),
    "whole microseconds": lambda rng, n: np.log(np.round(85 + rng.normal(0, 1, n))),
    "a little dependent": lambda rng, n: chain(rng, n, 0.2, 0.1),
}
UNSTEADY: dict[str, tuple[Callable[[Rng, int], Values], str]] = {
    "slow at first": (lambda rng, n: rng.normal(0, 0.05, n) + 0.3 * first_fifth(n), "warm-up"),
    "ever slower": (lambda rng, n: rng.normal(0, 0.05, n) + np.linspace(0, 0.25, n), "drift"),
    "ever faster": (lambda rng, n: rng.normal(0, 0.05, n) - np.linspace(0, 0.25, n), "drift"),
}
SHAPES = [(5, 9), (5, 40), (25, 5), (100, 1), (300, 1)]
"""(Windows of a point, points)."""


def kinds(make: Callable[[Rng, int], Values], windows: int, points: int) -> Counter[str]:
    rng = np.random.default_rng(windows + points)
    found: Counter[str] = Counter()
    for _ in range(TRIES):
        judged = steadiness([make(rng, windows) for _ in range(points)])
        assert judged is not None
        found[judged.kind] += 1
    return found


@pytest.mark.parametrize(("windows", "points"), chosen(SHAPES, 2))
@pytest.mark.parametrize("name", STEADY)
def test_steady_servers_are_called_so(name: str, windows: int, points: int) -> None:
    """Asked for are 1 % of false alarms; slightly dependent windows may double and triple them."""
    found = kinds(STEADY[name], windows, points)
    assert found["steady"] >= 0.97 * TRIES


@pytest.mark.parametrize(("windows", "points"), chosen(SHAPES, 2))
@pytest.mark.parametrize("name", UNSTEADY)
def test_unsteady_servers_are_named(name: str, windows: int, points: int) -> None:
    make, kind = UNSTEADY[name]
    assert kinds(make, windows, points)[kind] >= 0.9 * TRIES


def test_slow_waves_are_no_steady_state_and_their_windows_carry_little_information() -> None:
    found = kinds(lambda rng, n: chain(rng, n, 0.8, 0.2), 25, 9)
    assert found["no-steady-state"] >= 0.9 * TRIES
    rng = np.random.default_rng(1)
    judged = steadiness([chain(rng, 300, 0.8, 0.2) for _ in range(20)])
    assert judged is not None
    assert judged.dependent
    assert judged.autocorrelation == pytest.approx(0.8, abs=0.1)
    assert judged.worth == pytest.approx(0.2 / 1.8, abs=0.06)


def test_changes_too_small_to_matter_are_ignored() -> None:
    rng = np.random.default_rng(1)
    slight = [rng.normal(0, 0.001, 100) + np.linspace(0, 0.03, 100) for _ in range(5)]
    judged = steadiness(slight)
    assert judged is not None
    assert (judged.kind, judged.change) == ("steady", 0.0)


def test_few_windows_show_nothing() -> None:
    assert steadiness([]) is None
    assert steadiness([[1.0, 2.0, 3.0]] * 50) is None
    assert steadiness([[1.0] * 5] * 3) is None
    same = steadiness([[1.0] * 5] * 8)
    assert same is not None
    assert (same.kind, same.autocorrelation) == ("steady", 0.0)


def planted(factor: Callable[[float], float]) -> list[AnyDocument]:
    """A session whose service times are longer by a factor at each share of a point."""
    documents: list[AnyDocument] = []
    for document in session(2, rates=[1000.0, 2000.0], seconds=4.0, repeats=3):
        if isinstance(document, Window) and document.service_us:
            p50 = document.service_us.p50 * factor(document.index / 20)
            times = msgspec.structs.replace(document.service_us, p50=round(p50))
            documents.append(msgspec.structs.replace(document, service_us=times))
        else:
            documents.append(document)
    return documents


@pytest.mark.parametrize(
    ("factor", "state", "message"),
    [
        (lambda at: 1.0, "passed", "are steady within points"),
        (lambda at: 1.5 if at < 0.2 else 1.0, "failed", "warms up, 50 % slower in its first"),
        (lambda at: exp(0.5 * at), "failed", "drifts, "),
    ],
)
def test_the_audit_names_what_is_not_steady(
    factor: Callable[[float], float], state: str, message: str
) -> None:
    documents = planted(factor)
    (audit,) = [each for each in audits_of(documents) if each.code == "steady-state"]
    assert audit.state == state
    assert message in audit.message.text()
    measured = {d.server for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"}
    assert set(audit.servers) == (measured if state == "failed" else set())


def test_sessions_of_few_windows_are_inconclusive() -> None:
    documents = session(2, rates=[1000.0], seconds=1.0)
    found = {each.code: each.state for each in audits_of(documents)}
    assert (found["steady-state"], found["independence"]) == ("not-known", "not-known")
