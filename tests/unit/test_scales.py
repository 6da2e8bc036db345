"""Where axes end, and their labels."""

from __future__ import annotations

import pytest

from app.charts import scales


@pytest.mark.parametrize(
    ("low", "high", "apart", "marks"),
    [
        (9.0, 2100.0, 0.2, [10, 20, 50, 100, 200, 500, 1000, 2000]),
        (9.0, 2100.0, 0.4, [10, 100, 2000]),
        (0.1, 5500.0, 0.2, [0.1, 1, 10, 100, 1000, 5000]),
    ],
    ids=["roomy", "crowded", "many decades"],
)
def test_a_log_scale_has_all_its_steps_or_only_decades(
    low: float, high: float, apart: float, marks: list[float]
) -> None:
    assert scales.log_ticks(low, high, apart) == pytest.approx(marks)


def test_no_ticks_lie_between_whole_numbers() -> None:
    assert scales.ticks(0, 2, 6) == [0, 0.5, 1, 1.5, 2]
    assert scales.ticks(0, 2, 6, whole=True) == [0, 1, 2]


@pytest.mark.parametrize(
    ("value", "end"), [(210, 250), (0.105, 0.12), (1000, 1000), (8001, 10_000)]
)
def test_an_axis_ends_at_the_next_round_figure(value: float, end: float) -> None:
    assert scales.end(value) == pytest.approx(end)


def test_the_last_and_the_first_of_crowded_values_stay() -> None:
    values = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
    assert scales.apart(values, values, 15) == [1, 20, 50, 100]
    assert scales.apart([7.0], [0.0], 15) == [7]
    assert scales.apart([], [], 15) == []
