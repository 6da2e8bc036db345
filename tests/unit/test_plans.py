"""Reading plans: shipped, the user's, and invalid ones."""

import re
from pathlib import Path
from typing import Any

import pytest
from synthetic import session

from tests.recording import record_session
from workbench import paths
from workbench.documents import RunStart
from workbench.errors import BadInput
from workbench.messages.problems import Problem, problem
from workbench.plan.model import Plan, WarmUp
from workbench.plan.reading import load_plan, plan_from_data, read_plan, to_data, with_set
from workbench.plan.schedule import points
from workbench.workloads.http.declaration import HttpWorkload
from workbench.workloads.pong.declaration import PongWorkload
from workbench.workloads.registry import PROTOCOLS

SOUND: dict[str, Any] = {"servers": ["tornado"], "rates": [1000, 2000], "seconds": 2}


_PROTOCOLS = " or ".join(", ".join(sorted(PROTOCOLS)).rsplit(", ", 1))
_PIPELINED = {"workload": {"protocol": "http/1.1", "calls_per_connection": 8}}


def refusal(**changes: Any) -> str:
    """Why a valid plan with changes is refused. None removes a key."""
    data = {key: value for key, value in (SOUND | changes).items() if value is not None}
    with pytest.raises(BadInput) as refused:
        plan_from_data(data, name="p.yaml")
    return str(refused.value)


def test_a_plan_needs_only_servers_rates_and_a_size() -> None:
    plan = plan_from_data(SOUND, name="lab.yaml")
    assert plan.name == "lab"
    assert plan.rates_per_s == [1000.0, 2000.0]
    assert plan.unit == "connections"


@pytest.mark.parametrize(
    ("rates", "values"),
    [
        ({"from": 100, "to": 400, "points": 4}, [100, 200, 300, 400]),
        ({"from": 100, "to": 6_400, "points": 4, "spacing": "geometric"}, [100, 400, 1600, 6400]),
        ({"from": 500, "to": 20_777, "points": 3}, [500, 10_600, 20_777]),
        ({"from": 9, "to": 10, "points": 2}, [9, 10]),
    ],
)
def test_a_range_may_have_a_number_of_points(rates: dict[str, Any], values: list[float]) -> None:
    assert plan_from_data(SOUND | {"rates": rates}, name="p").rates_per_s == values


@pytest.mark.parametrize("to", [6_400, "ceiling"])
def test_equal_ratios_are_drawn_at_equal_distances(to: int | str) -> None:
    rates = {"from": 100, "to": to, "points": 4}
    assert plan_from_data(SOUND | {"rates": rates}, name="p").axis.scale == "linear"
    ratios = rates | {"spacing": "geometric"}
    assert plan_from_data(SOUND | {"rates": ratios}, name="p").axis.scale == "log"


def test_rates_to_the_ceiling_stay_open_until_it_is_known() -> None:
    rates = {"from": 500, "to": "ceiling", "points": 3}
    plan = plan_from_data(SOUND | {"rates": rates}, name="p")
    assert (plan.to_ceiling, plan.axis.values, plan.axis.points) == (True, [], 3)
    known = plan.ending_at(10_567)
    # Not above the limit.
    assert (known.to_ceiling, known.rates_per_s) == (False, [500, 5_500, 10_500])
    # A session's plan is run again as it was given.
    assert plan_from_data(to_data(plan), name="p") == plan


def test_rates_count_requests_when_a_connection_makes_several_calls() -> None:
    keep_alive = {"protocol": "http/1.1", "calls_per_connection": 10}
    assert plan_from_data(SOUND | {"workload": keep_alive}, name="p").unit == "requests"


@pytest.mark.parametrize(
    ("case", "changes", "why"),
    [
        ("rate zero", {"rates": [0, 100]}, "rates[1]: expected a number above 0, got 0."),
        ("negative", {"rates": [-5]}, "rates[1]: expected a number above 0, got -5."),
        (
            "absurd",
            {"rates": [1e9]},
            "rates[1]: expected a number of at most 1,000,000, got 1000000000.0.",
        ),
        ("infinite", {"rates": [float("inf")]}, "of at most 1,000,000, got inf."),
        ("not a number", {"rates": [float("nan")]}, "expected a number above 0, got nan."),
        ("a word", {"rates": ["fast"]}, "expected a number, got 'fast'."),
        ("none", {"rates": None}, problem("no-values", "rates")),
        (
            "falling",
            {"rates": [200, 100]},
            problem("not-ascending", "rates", earlier=200, later=100, twice=False),
        ),
        (
            "twice the same",
            {"rates": [100, 100]},
            problem("not-ascending", "rates", earlier=100, later=100, twice=True),
        ),
        (
            "reversed",
            {"rates": {"from": 9000, "to": 400, "step": 100}},
            problem("range-descends", "rates", first=9000, last=400),
        ),
        (
            "neither step nor points",
            {"rates": {"from": 400, "to": 9000}},
            problem("step-or-points"),
        ),
        (
            "both step and points",
            {"rates": {"from": 400, "to": 9000, "step": 100, "points": 9}},
            problem("step-or-points"),
        ),
        (
            "steps without end",
            {"rates": {"from": 400, "to": "ceiling", "step": 100}},
            problem("ceiling-in-points"),
        ),
        (
            "a ceiling that nothing finds",
            {"rates": {"from": 400, "to": "ceiling", "points": 9}, "calibrate": False},
            problem("ceiling-unknown"),
        ),
        (
            "another word",
            {"rates": {"from": 400, "to": "roof", "points": 9}},
            "rates.to: expected ceiling (the client limit), got 'roof'.",
        ),
        (
            "step zero",
            {"rates": {"from": 1, "to": 4, "step": 0}},
            "rates.step: expected a number above 0, got 0.",
        ),
        (
            "far too many",
            {"rates": {"from": 1, "to": 1_000_000, "step": 0.01}},
            problem("too-many-points", "rates", points=99_999_901, most=2000),
        ),
        (
            "a far too long list",
            {"rates": list(range(1, 2002))},
            problem("too-many-points", "rates", points=2001, most=2000),
        ),
        ("no servers", {"servers": []}, problem("no-servers", "servers")),
        (
            "a server twice",
            {"servers": ["a", "b", "a"]},
            problem("server-twice", "servers", server="a"),
        ),
        (
            "both sizes",
            {"connections": 40_000},
            problem("length-unclear", "connections", "seconds", both=True),
        ),
        (
            "no size",
            {"seconds": None},
            problem("length-unclear", "connections", "seconds", both=False),
        ),
        ("an unknown key", {"repeat": 3}, "unknown key 'repeat'. Did you mean 'repeats'?"),
        (
            "an unknown protocol",
            {"workload": {"protocol": "gopher"}},
            f"workload.protocol: expected {_PROTOCOLS}, got 'gopher'.",
        ),
        (
            "several calls of pong",
            {"workload": {"calls_per_connection": 3}},
            problem("one-call-only", "workload.calls_per_connection", protocol="pong"),
        ),
        (
            "a pipeline longer than the calls",
            {"workload": {"protocol": "http/1.1", "calls_per_connection": 2, "pipeline": 3}},
            problem("pipeline-too-deep", "workload.pipeline", pipeline=3),
        ),
        (
            "a path that would split the request",
            {"workload": {"path": "/ HTTP/1.1\r\nX: y"}},
            problem("invalid-path", "workload.path"),
        ),
        (
            "concurrency in open loop",
            {"concurrency": [10, 50]},
            problem("not-in-this-loop", "concurrency", given="concurrency"),
        ),
        (
            "rates in closed loop",
            {"workload": {"mode": "closed"}},
            problem("not-in-this-loop", "rates", given="rates"),
        ),
        (
            "a field that cannot vary",
            {"vary": {"path": [1]}},
            problem("not-varied", "vary", field="path", workload="Ping-pong", fields=[]),
        ),
        (
            "a pipeline below 1",
            {"rates": [100], **_PIPELINED, "vary": {"pipeline": [0, 4]}},
            problem(
                "invalid-value",
                "vary",
                value=0,
                said="expected a whole number of at least 1, got 0.",
            ),
        ),
        (
            "half a call",
            {"rates": [100], **_PIPELINED, "vary": {"pipeline": [1.5]}},
            problem("invalid-value", "vary", value=1.5, said="expected a whole number, got 1.5."),
        ),
        (
            "a pipeline that is varied beyond the calls",
            {"rates": [100], **_PIPELINED, "vary": {"pipeline": [1, 9]}},
            problem("pipeline-too-deep", "workload.pipeline", pipeline=9),
        ),
        (
            "two axes",
            {"rates": [100, 200], **_PIPELINED, "vary": {"pipeline": [1, 4]}},
            problem("one-load-only", "rates", field="pipeline"),
        ),
        (
            "an axis without values",
            {"rates": [100], **_PIPELINED, "vary": {"pipeline": []}},
            problem("no-values", "vary", varied=True),
        ),
        (
            "two fields",
            {"rates": [100], **_PIPELINED, "vary": {"pipeline": [1], "path": [2]}},
            problem("one-field-only", "vary", fields=["pipeline", "path"]),
        ),
        (
            "a timeout of nothing",
            {"workload": {"timeout_s": 0}},
            "expected a number above 0, got 0.",
        ),
        ("no repeats", {"repeats": 0}, "repeats: expected a whole number of at least 1, got 0."),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_plan_is_refused_with(case: str, changes: dict[str, Any], why: str | Problem) -> None:
    refused = refusal(**changes)
    assert refused.startswith("plan p.yaml")
    assert refused.endswith(why if isinstance(why, str) else why.line()), case


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"rates": {"from": 400, "to": 9000, "step": 100}, "give_up": None, "warm_up": None},
        {"workload": {"mode": "closed"}, "rates": [], "concurrency": [50]},
    ],
    ids=["list", "range", "closed loop"],
)
def test_plain_data_gives_the_same_sweep_back(changes: dict[str, Any]) -> None:
    plan = plan_from_data(SOUND | changes, name="p.yaml")
    data = to_data(plan)
    again = plan_from_data(data, name="p.yaml")
    assert isinstance(data["rates"], list)
    assert list(points(again, "tornado")) == list(points(plan, "tornado"))
    assert to_data(again) == data


def test_the_shipped_plans_are_valid() -> None:
    shipped = {path.stem for path in (paths.RESOURCES / "plans").glob("*.yaml")}
    assert {"demo", "piel-2009-sockets"} <= shipped
    for name in shipped:
        assert load_plan(name).description


def test_the_demo_compares_the_seven_servers_at_eight_rates_or_more() -> None:
    plan = load_plan("demo")
    assert set(plan.servers) == {
        "asyncio-streams", "asyncio-protocol", "gevent", "tornado", "twisted", "eventlet",
        "circuits",
    }  # fmt: skip
    assert len(plan.rates_per_s) >= 8


def test_the_plan_of_2009_has_the_published_numbers() -> None:
    plan = load_plan("piel-2009-sockets")
    run = list(points(plan, "tornado"))
    assert [p.x for p in run] == [float(rate) for rate in range(400, 9001, 100)]
    assert {(p.connections, p.workload.calls_per_connection) for p in run} == {(40_000, 1)}
    assert (plan.workload.timeout_s, plan.backlog, plan.nofile) == (60.0, 500, 10_000)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a user with one plan."""
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    plans = paths.data_dir() / "plans"
    plans.mkdir(parents=True)
    (plans / "mine.yaml").write_text("servers: [gevent]\nrates: [500]\nseconds: 1.5\n")
    return plans


def test_the_users_own_plans_are_found_by_name(home: Path) -> None:
    assert load_plan("mine").servers == ["gevent"]


def test_a_plan_is_found_by_its_path(home: Path) -> None:
    assert load_plan(home / "mine.yaml").name == "mine"


def test_a_misspelt_name_gets_the_closest_suggestion(home: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no plan 'dmeo'. Did you mean 'demo'\?"):
        load_plan("dmeo")


def test_a_server_in_place_of_a_plan_is_answered_with_how_to_measure_it(home: Path) -> None:
    with pytest.raises(BadInput, match="run quick --server tornado"):
        load_plan("tornaod")


@pytest.mark.parametrize("name", ["127.0.0.1:8000", "[::1]:8000", "shop.example:80"])
def test_an_address_without_its_protocol_is_answered_with_the_whole_one(
    home: Path, name: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(f"run http://{name}/")):
        load_plan(name)


def test_an_unknown_name_is_answered_with_where_to_find_one(home: Path) -> None:
    with pytest.raises(BadInput, match=r"Give a file, or one of `pongbench plans`\."):
        load_plan("zzzz")


def test_a_name_cannot_leave_the_folders_of_plans(home: Path) -> None:
    (home.parent / "secret.yaml").write_text("servers: []")
    with pytest.raises(BadInput, match=r"no plan file \.\./secret"):
        load_plan("../secret")


def test_a_broken_plan_is_refused_with_its_file_and_line(home: Path) -> None:
    (home / "broken.yaml").write_text("servers: [gevent]\nrates: *all\n")
    with pytest.raises(BadInput, match=r"broken\.yaml, line 2, .*alias"):
        load_plan("broken")


def test_a_session_is_run_again_by_its_plan(tmp_path: Path) -> None:
    recorded = session(2, 4)
    path = tmp_path / "then.yaml"
    record_session(path, recorded)
    plan = load_plan(path)
    start = recorded[0]
    assert isinstance(start, RunStart)
    assert plan.servers == ["asyncio-streams", "asyncio-protocol"]
    assert plan.rates_per_s == start.plan["rates"]


def a_plan() -> Plan:
    return plan_from_data({"servers": ["a"], "rates": [100, 200], "connections": 500}, name="p")


def test_keys_are_set_for_one_run() -> None:
    plan = with_set(
        a_plan(), ["seconds=2.5", "rates=[300]", "timeout_s=0.5", "protocol=http/1.1", "path=/x"]
    )
    assert (plan.seconds, plan.connections, plan.rates_per_s) == (2.5, None, [300.0])
    workload = plan.workload
    assert (workload.protocol, workload.timeout_s, workload.own["path"]) == ("http/1.1", 0.5, "/x")
    assert with_set(a_plan(), ["warm_up.seconds=3"]).warm_up == WarmUp(seconds=3)
    assert with_set(a_plan(), []) == a_plan()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("seconds", "--set seconds: write KEY=VALUE, for example seconds=10."),
        ("=3", "--set =3: write KEY=VALUE, for example seconds=10."),
        ("x.a=1", "--set x.a=1: unknown key 'x'; docs/plans.md lists them."),
        ("warmup.seconds=1", "--set warmup.seconds=1: unknown key 'warmup'. Did you mean"),
        ("secnds=3", "plan p: unknown key 'secnds'. Did you mean 'seconds'?"),
        ("timeout_s=-1", "plan p, workload.timeout_s: expected a number above 0, got -1."),
        ("protocol=gopher", f"expected {_PROTOCOLS}, got 'gopher'."),
        ("name.first=x", "--set name.first=x: name has no keys in this plan; give all of it."),
        (
            "servers.first=x",
            "--set servers.first=x: servers has no keys in this plan; give all of it.",
        ),
        ("rates=[1", "--set rates=[1, line 2, column 1: the list"),
    ],
)
def test_a_key_that_cannot_be_set_is_named(change: str, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        with_set(a_plan(), [change])


@pytest.mark.parametrize("change", ["arrivals=poisson", "rate_of=requests", "lengthen=true"])
def test_settings_without_effect_in_a_closed_loop_are_refused_there(change: str) -> None:
    closed = ["mode=closed", "rates=[]", "concurrency=[50]"]
    with pytest.raises(BadInput, match="a closed loop offers no rate, so it has no effect"):
        with_set(a_plan(), [*closed, change])
    assert with_set(a_plan(), [change]).workload.mode == "open"


def test_the_varied_value_is_set_as_the_axis_of_the_plan() -> None:
    changes = ["protocol=http/1.1", "calls_per_connection=8", "rates=[100]", "vary={pipeline: [1]}"]
    assert with_set(a_plan(), [*changes, "vary.pipeline=[2, 4]"]).axis.values == [2, 4]
    with pytest.raises(BadInput, match=r"varies it; set its values, vary={pipeline: \[...\]}"):
        with_set(a_plan(), [*changes, "pipeline=4"])


def test_a_key_that_is_missing_can_be_set(home: Path) -> None:
    (home / "short.yaml").write_text("servers: [gevent]\nrates: [100]\n")
    assert read_plan("short", ["seconds=3"]).seconds == 3
    with pytest.raises(BadInput, match="neither is given"):
        load_plan("short")


def test_all_problems_are_reported_at_once() -> None:
    data = {"servers": ["a", "a"], "rates": []}
    with pytest.raises(BadInput, match=r"listed twice.* none is given.* neither is given") as error:
        plan_from_data(data, name="p")
    assert str(error.value).count("listed twice") == 1


def test_a_recorded_plan_is_read_with_its_workload() -> None:
    recorded = {"protocol": "pong", "path": "/", "calls_per_connection": 1, "pipeline": 1}
    recorded |= {
        "think_time_s": 0.0,
        "think_times": "constant",
        "timeout_s": 5.0,
        "arrivals": "uniform",
        "mode": "open",
    }
    data = {"servers": ["a"], "rates": [100], "seconds": 2, "workload": recorded}
    plan = plan_from_data(data, name="p")
    assert plan.workload == PongWorkload() and to_data(plan)["workload"] == recorded
    kept = plan_from_data(data | {"workload": {"protocol": "http/1.1", "pipeline": 1}}, name="p")
    assert isinstance(kept.workload, HttpWorkload)
    assert plan_from_data(to_data(kept), name="p") == kept
