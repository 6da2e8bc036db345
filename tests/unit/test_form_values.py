"""What the form of a plan shows of its data, makes of its fields, and keeps when one changes."""

from __future__ import annotations

from typing import Any

import pytest

from app.planning import values
from workbench.plan import library
from workbench.plan.editing import plan_data
from workbench.plan.model import Plan
from workbench.plan.reading import plan_type

RANGE = {"from": 100, "to": 400, "step": 100}


def shown(**plan: Any) -> dict[str, Any]:
    """All values after a plan's data were shown."""
    data = plan_data(Plan(servers=["gevent"], seconds=1.0)) | plan
    empty = {"rates": [], "rates.from": None, "rates.to": None, "rates.step": None}
    empty |= {"search.p99_ms": None, "vary": []}
    return empty | dict(values.STARTS) | values.from_data(data)


@pytest.mark.parametrize("preset", library.presets(), ids=lambda preset: preset.id)
def test_every_shipped_plan_survives_the_form(preset: library.Preset) -> None:
    assert preset.plan is not None
    given = plan_data(preset.plan)
    data = values.to_data(shown(**given))
    assert plan_type(data) is plan_type(given)
    if data["load_tool"] == "agent":
        data["load_tool"] = preset.plan.load_tool
    if isinstance(given["rates"], dict) and data["rates"]:  # defaults are left out
        assert given["rates"].items() <= data["rates"].items()
        given["rates"] = data["rates"]
    given["vary"] = {key: data["vary"][key] for key in given["vary"]}
    assert data == given


@pytest.mark.parametrize(
    ("given", "to", "expected"),
    [
        (RANGE, "list", [100, 200, 300, 400]),
        ([100, 300, 400], "range", {"from": 100, "to": 400, "step": 150}),
        ([250], "range", {"from": 250, "to": 250, "step": 250}),
        (
            {"from": 50, "to": "ceiling", "points": 6},
            "range",
            {"from": 50, "to": 10_000, "step": 1_000},
        ),
        ({"from": 50, "to": "ceiling", "points": 6}, "list", [50]),
        (RANGE, "ceiling", {"from": 100, "to": "ceiling", "points": 10, "spacing": "linear"}),
    ],
)
def test_rates_are_kept_as_far_as_another_way_can_express_them(
    given: Any, to: str, expected: Any
) -> None:
    before = shown(rates=given) | {"rates.spacing": "linear"}
    chosen = before | {"rates.as": to}
    after = chosen | values.adapted(chosen, before["rates.as"])
    assert values.to_data(after)["rates"] == expected


def test_where_a_field_of_the_workload_is_the_axis_the_lowest_rate_stays() -> None:
    before = shown(rates=RANGE, workload={"protocol": "http/1.1"})
    chosen = before | {"vary.key": "pipeline", "vary": [1, 2]}
    after = chosen | values.adapted(chosen, "range")
    data = values.to_data(after)
    assert (data["rates"], data["vary"]) == ([100], {"pipeline": [1, 2]})
    other = after | {"workload.protocol": "pong"}
    assert values.to_data(other | values.adapted(other, "list"))["vary"] == {}


def test_a_search_is_of_a_range() -> None:
    chosen = shown(rates=[100, 200]) | {"method": "search"}
    data = values.to_data(chosen | values.adapted(chosen, "list"))
    assert data["rates"] == []
    assert data["search"] == {
        "from": 100, "to": 200, "step": 100, "errors_pct": 1, "p99_ms": None, "points": 30,
    }  # fmt: skip


@pytest.mark.parametrize(
    "broken",
    [
        {"rates": "fast", "workload": None, "vary": [], "search": 3, "warm_up": "yes"},
        {"rates": {"first": 3}, "with": None, "profile": True, "load_tool": ["wrk"]},
    ],
)
def test_data_that_make_no_sense_are_shown_as_far_as_they_go(broken: dict[str, Any]) -> None:
    assert values.to_data(shown(**broken))["servers"] == ["gevent"]


def test_requests_of_a_plan_are_one_list_in_the_form() -> None:
    several = [{"path": "/x", "weight": 3, "headers": {"B": "3"}}, {"path": "/y"}]
    shop = {"protocol": "http/1.1", "headers": {"A": "1", "B": "2"}, "requests": several}
    found = shown(workload=shop)
    assert found["workload.requests"] == [
        {"path": "/x", "weight": 3, "headers": {"A": "1", "B": "3"}},
        {"path": "/y", "headers": {"A": "1", "B": "2"}},
    ]
    workload = values.to_data(found)["workload"]
    assert (workload["requests"], workload["headers"]) == (found["workload.requests"], {})
    one = {"protocol": "http/1.1", "path": "/z", "method": "POST", "body": "b"}
    workload = values.to_data(shown(workload=one))["workload"]
    assert one.items() <= workload.items() and workload["requests"] == []
