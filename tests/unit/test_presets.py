"""Presets, shipped and the user's own, saved as readable files."""

from pathlib import Path

import pytest

from workbench import paths
from workbench.errors import BadInput
from workbench.plan import library
from workbench.plan.model import Plan, Range, WarmUp
from workbench.plan.reading import load_plan
from workbench.workloads.registry import workload as a_workload

PLAN = Plan(
    name="Two",
    servers=["tornado", "twisted"],
    rates=Range(from_=1000, to=8000, step=500),
    seconds=3,
    repeats=5,
    order="interleaved",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return paths.data_dir() / "plans"


def test_quick_look_comes_first_and_every_shipped_plan_states_its_purpose() -> None:
    found = library.presets()
    assert [p.id for p in found[:3]] == ["quick", "demo", "thorough"]
    assert all(p.plan and p.plan.description for p in found)
    assert not any(p.own for p in found)


def test_a_saved_plan_is_found_by_its_name_and_is_the_same() -> None:
    made = library.save(PLAN, "  Räte, weekly  ")
    assert made.id == "rate-weekly"
    again = load_plan("rate-weekly")
    assert again.name == "Räte, weekly"
    assert again.rates == PLAN.rates
    assert library.presets()[-1] == made


def test_the_file_contains_only_non_default_values(home: Path) -> None:
    assert library.to_yaml(PLAN) == (
        "name: Two\n"
        "servers: [tornado, twisted]\n"
        "rates: {from: 1000, to: 8000, step: 500}\n"
        "seconds: 3\n"
        "repeats: 5\n"
        "order: interleaved\n"
    )


@pytest.mark.parametrize(
    "plan",
    [
        Plan(
            servers=["a"],
            rates=[0.5, 1e6],
            connections=100,
            warm_up=None,
            give_up=None,
            with_=["httperf"],
        ),
        Plan(
            name="1_000",
            description="yes: # no",
            servers=["on", "12"],
            workload=a_workload(mode="closed", path="/a?b", timeout_s=0.25),
            concurrency=[1, 10],
            seconds=2,
            warm_up=WarmUp(seconds=0.5),
        ),
    ],
    ids=["open", "closed"],
)
def test_a_plan_survives_being_saved_and_loaded(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(library.to_yaml(plan))
    again = load_plan(path)
    assert library.to_yaml(again) == library.to_yaml(plan) or not plan.name
    assert again.workload == plan.workload
    assert again.servers == plan.servers
    assert again.warm_up == plan.warm_up
    assert again.load_tools == plan.load_tools
    assert again.give_up == plan.give_up


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Mine", "There is a plan of yours named 'mine'; choose another name."),
        ("Demo", "There is a plan that comes with Pongbench named 'demo'"),
        (" .. ", "letters or digits"),
    ],
)
def test_a_name_that_is_taken_or_empty_is_refused(name: str, message: str) -> None:
    library.save(PLAN, "Mine")
    with pytest.raises(BadInput) as refused:
        library.save(PLAN, name)
    assert message in str(refused.value)


def test_a_users_own_plan_can_be_replaced_and_deleted(home: Path) -> None:
    library.save(PLAN, "Mine")
    library.save(Plan(servers=["a"], rates=[1], seconds=1), "Mine", over="mine")
    assert load_plan("mine").servers == ["a"]
    library.delete("mine")
    assert not list(home.iterdir())
    with pytest.raises(BadInput, match="any more"):
        library.delete("mine")


def test_shipped_plans_and_other_files_cannot_be_deleted() -> None:
    for id_ in ("demo", "../../plans/demo"):
        with pytest.raises(BadInput):
            library.delete(id_)
    assert load_plan("demo")


def test_a_plan_that_cannot_be_read_hides_no_other(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "broken.yaml").write_text("servers: [a\n")
    library.save(PLAN, "Mine")
    own = [p for p in library.presets() if p.own]
    assert [p.name for p in own] == ["broken", "Mine"]
    assert "broken.yaml" in own[0].problem


def test_a_read_only_folder_is_reported_with_a_message(home: Path) -> None:
    home.parent.mkdir(parents=True)
    home.write_text("not a folder")
    with pytest.raises(BadInput, match="Plans cannot be saved in"):
        library.save(PLAN, "Mine")
