"""A plan while it is edited: all problems, each at its key."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.errors import BadInput
from workbench.messages.problems import problem
from workbench.plan.editing import Draft, examine, number, plan_data
from workbench.plan.model import Plan
from workbench.plan.reading import plan_from_data
from workbench.workloads.registry import workload as a_workload

SOUND: dict[str, Any] = {"servers": ["a", "b"], "rates": [1000, 2000], "seconds": 2}
FACTS = {"sysctls": {"net.ipv4.ip_local_port_range": "32768 60999"}}


@dataclass
class Entry:
    id: str
    name: str = "Entry"
    closes_first: str = "server"
    protocols: list[str] = field(default_factory=lambda: ["pong"])
    warm_up_s: float = 0.0
    heritage: bool = False
    one_client: bool = False
    processes: int = 1
    rights: dict[str, str] = field(default_factory=dict)
    unavailable: object = None


class Shelf(dict[str, Entry]):
    def __missing__(self, id: str) -> Entry:
        raise BadInput(f"There is no server {id!r} in the catalogue.")


def draft(**changes: Any) -> Draft:
    shelf = Shelf(a=Entry("a"), b=Entry("b"), web=Entry("web", "Web", protocols=["http/1.1"]))
    return examine(SOUND | changes, shelf, FACTS)


def test_a_valid_draft_shows_its_cost_and_when_each_point_runs() -> None:
    found = draft(repeats=3)
    assert found.sound
    assert found.budget is not None
    assert found.connections == (2000 + 4000) * 3 * 2
    warm_up, first, second = found.steps
    assert warm_up.point.purpose == "warm_up"
    assert (first.begin_s, first.end_s) == pytest.approx((1.2, 3.2))
    assert second.begin_s == pytest.approx(3.4)
    assert (second.point.load, second.point.samples) == ("2,000/s", 4000)


def test_all_problems_are_reported_at_once_next_to_their_keys() -> None:
    found = draft(
        rates={"from": -5, "to": None, "step": 100},
        seconds="soon",
        repeats=0,
        workload={"timeout_s": 0, "path": "/"},
        warm_up={"rate_per_s": "x", "seconds": 1},
    )
    assert not found.sound
    assert found.faults == {
        "rates.from": "Expected a number above 0, got -5.",
        "rates.to": "Enter a number.",
        "seconds": "Expected a number, got 'soon'.",
        "repeats": "Expected a whole number of at least 1, got 0.",
        "workload.timeout_s": "Expected a number above 0, got 0.",
        "warm_up.rate_per_s": "Expected a number, got 'x'.",
    }


def unfit(foreign: int, idle: int, unknown: int) -> str:
    """What is reported of a plan with servers that do not speak its protocol, cannot be run, or
    are not in the catalogue, by number, and one that is well."""
    gone = SimpleNamespace(reason="No registry has it.")
    found = [
        Entry("a"),
        *(
            Entry(f"i{n}", f"Idle {n}", unavailable=gone, protocols=["http/1.1"])
            for n in range(idle)
        ),
        *(Entry(f"f{n}", f"Web {n}", protocols=["http/1.1"]) for n in range(foreign)),
    ]
    servers = [*(f"x{n}" for n in range(unknown)), *(entry.id for entry in found)]
    reported = examine(SOUND | {"servers": servers}, Shelf((e.id, e) for e in found), FACTS)
    return reported.faults["servers"]


def test_many_unsuitable_servers_are_grouped_by_cause_the_protocol_first() -> None:
    assert unfit(foreign=20, idle=6, unknown=2) == (
        "20 servers do not support pong: Web 0, Web 1, Web 2 and 17 more."
        " 6 servers cannot be run: Idle 0, Idle 1, Idle 2 and 3 more."
        " 2 servers are not in the catalogue: x0 and x1. Leave them out."
    )


def test_a_few_unsuitable_servers_are_all_named_and_a_single_one_with_the_reason() -> None:
    assert unfit(foreign=4, idle=1, unknown=1) == (
        "4 servers do not support pong: Web 0, Web 1, Web 2 and Web 3."
        " Idle 0 cannot be run: No registry has it."
        " There is no server 'x0' in the catalogue. Leave them out."
    )


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"servers": []}, "servers", problem("no-servers", "servers").text()),
        ({"servers": ["a", "zz"]}, "servers", "There is no server 'zz' in the catalogue."),
        ({"servers": ["web"]}, "servers", "Web supports http/1.1"),
        (
            {"rates": [2000, 1000]},
            "rates",
            problem("not-ascending", "rates", earlier=2000, later=1000, twice=False).text(),
        ),
        ({"rates": [100, "fast"]}, "rates", "got 'fast'"),
        (
            {"rates": {"from": 9, "to": 4, "step": 1}},
            "rates",
            problem("range-descends", "rates", first=9, last=4).text(),
        ),
        ({"seconds": None}, "seconds", problem("length-unclear", "seconds", both=False).text()),
        ({"seconds": 0.5}, "seconds", "At 1,000/s a point lasts 0.5 s: too short for a verdict"),
        (
            {"workload": {"path": "x"}},
            "workload.path",
            problem("invalid-path", "workload.path").text(),
        ),
        (
            {"workload": {"calls_per_connection": 5}},
            "workload.calls_per_connection",
            problem("one-call-only", "workload.calls_per_connection", protocol="pong").text(),
        ),
    ],
)
def test_an_error_is_shown_next_to_its_field(
    changes: dict[str, Any], key: str, message: str
) -> None:
    assert message in draft(**changes).faults[key]


def test_too_few_connections_are_reported_next_to_the_field() -> None:
    found = draft(seconds=None, connections=500)
    assert "Set connections to 2,000 or more" in found.faults["connections"]
    assert found.budget is not None


def test_a_closed_loop_has_steps_without_a_rate() -> None:
    found = draft(rates=[], concurrency=[1, 10], workload={"mode": "closed"})
    assert [step.point.load for step in found.steps] == ["1 concurrent", "10 concurrent"]
    assert found.sound
    assert found.connections == 0


def test_values_no_form_produces_are_refused_with_a_message() -> None:
    assert draft(workload="x").faults == {"workload": "Expected keys with values, got 'x'."}
    assert draft(surprise=1).faults[""]


def test_a_plan_survives_a_round_trip_through_the_form() -> None:
    plan = Plan(servers=["a"], rates=[5.5], seconds=2, name="p", workload=a_workload(path="/x"))
    assert plan_from_data(plan_data(plan), name="p") == plan


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("9,000", 9000),
        (" 1.5 ", 1.5),
        ("", None),
        ("1e3", 1000.0),
        ("a lot", "a lot"),
        ("no", "no"),
    ],
)
def test_figures_are_read_in_the_ways_people_type_them(typed: str, meant: object) -> None:
    assert number(typed) == meant


def test_a_preview_warns_of_rights_and_of_old_servers_that_others_reach() -> None:
    shelf = Shelf(
        a=Entry("a", "Ancient", heritage=True),
        b=Entry("b", "Broad", rights={"files": "It serves what lies elsewhere."}),
    )
    alone = examine(SOUND, shelf, FACTS)
    assert [warning.text() for warning in alone.warnings] == [
        "Broad may read and write what its user may: It serves what lies elsewhere."
    ]
    public = examine(SOUND, shelf, FACTS, listens_on="h1")
    assert [warning.code for warning in public.warnings] == ["old-servers-exposed", "more-rights"]
    assert public.sound
