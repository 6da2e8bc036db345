"""Plans of ZeroMQ: their axis, their generator, and what is rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.errors import BadInput
from workbench.load.registry import load_tool, problems
from workbench.machines.bundle import agent_packages, agent_sources
from workbench.messages.problems import problem
from workbench.plan.budget import assess
from workbench.plan.checks import problems as plan_problems
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.servers.catalogue import Catalogue
from workbench.workloads.registry import workload

PATTERNS = (
    "req-rep",
    "pair",
    "req-two-reps",
    "queue",
    "push-pull",
    "streamer",
    "pub-sub",
    "forwarder",
)


def a_plan(message_size: Any = (64, 1024), more: dict[str, Any] | None = None, **keys: Any) -> Plan:
    given = {"servers": ["zeromq-queue"], "concurrency": [1], "seconds": 2} | keys
    options = {"protocol": "zeromq", "mode": "closed", **(more or {})}
    return Plan(workload=workload(**options), vary={"message_size": list(message_size)}, **given)


def test_the_sizes_of_messages_are_a_logarithmic_axis_without_a_limit() -> None:
    axis = a_plan().axis
    assert (axis.key, axis.scale, axis.limit) == ("message_size", "log", "none")
    assert axis.at(1024) == "1,024 bytes"


def test_the_workload_names_the_generator_in_place_of_the_agent() -> None:
    assert a_plan().load_tool == "zeromq"
    assert a_plan(load_tool="agent").load_tool == "zeromq"
    plan = Plan(servers=["tornado"], rates=[100], load_tool="zeromq")
    (found,) = problems(load_tool(plan.load_tool), plan)
    assert found.code == "tool-of-another-workload"


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (
            a_plan([64, 1 << 25]),
            "33,554,432 is not possible: expected a whole number of at most 16,777,216",
        ),
        (
            a_plan([64, 1 << 21]),
            "A queue of 1,000 messages of 2,097,152 bytes takes more than 1 GiB",
        ),
        (a_plan([16]), "16 is not possible: expected a whole number of at least 32"),
        (a_plan(more={"calls_per_connection": 2}), "It must be 1 with zeromq."),
    ],
    ids=["too large", "too large for its queue", "too small", "several calls"],
)
def test_what_cannot_be_measured_is_rejected_in_one_sentence(plan: Plan, sentence: str) -> None:
    (found,) = plan_problems(plan)
    assert sentence in found.text()


def test_each_worker_has_one_connection() -> None:
    plan = a_plan(concurrency=[1, 10], workers=2)
    tool = load_tool(plan.load_tool)
    (found,) = problems(tool, plan, clients=2)
    assert found == problem("tool-with-one-connection", tool=tool.label, connections=4)
    assert not list(problems(tool, plan, clients=5))


def refused(plan: Plan, clients: int = 1) -> list[str]:
    entries = [Catalogue.load()[server] for server in plan.servers]
    budget = assess(plan, entries, {}, clients=clients)
    return [each.text() for each in budget.problems]


def test_several_clients_of_pair_are_refused_before_the_run() -> None:
    both = {"servers": ["zeromq-pair", "zeromq-push-pull"], "warm_up": None}
    assert not refused(a_plan(workers=3, **both))
    (closed,) = refused(a_plan(workers=3, concurrency=[1, 3], **both))
    assert closed == (
        "ZeroMQ PAIR has one client at a time, here 3; leave it out, or set concurrency to 1."
    )
    rate = Plan(workload=workload(protocol="zeromq"), rates=[500.0], seconds=2, **both)
    assert not refused(rate)
    (several,) = refused(rate, clients=2)
    assert several == (
        "ZeroMQ PAIR has one client at a time, here 2; leave it out, or set workers and clients"
        " to 1."
    )


def test_several_clients_over_inproc_are_refused_before_the_run() -> None:
    inproc = a_plan(more={"transport": "inproc"}, workers=2, concurrency=[2], warm_up=None)
    (said,) = refused(inproc)
    assert said.startswith("The transport inproc has one client at a time, here 2;")


def test_the_server_is_brought_to_the_clients_for_inproc_only() -> None:
    plan = a_plan(more={"transport": "inproc"})
    brought = plan.declared.brought(plan.workload)
    assert brought and list(brought.files) == ["zeromq.py"]
    assert a_plan().declared.brought(a_plan().workload) is None


def test_another_transport_is_refused_with_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "servers: [zeromq-pair]\nworkload: {protocol: zeromq, mode: closed, transport: pgm}\n"
        "concurrency: [1]\nseconds: 1\n"
    )
    with pytest.raises(BadInput, match="expected inproc, ipc or tcp, got 'pgm'"):
        load_plan(path)


@pytest.mark.parametrize("name", ["zeromq-patterns", "zeromq-patterns-scaled"])
def test_the_presets_have_all_patterns(name: str) -> None:
    assert sorted(load_plan(name).servers) == sorted(f"zeromq-{each}" for each in PATTERNS)


def test_clients_get_the_generator_and_pyzmq_in_place_of_gevent() -> None:
    assert "workbench/remote/generators/zeromq.py" in agent_sources()
    packages = agent_packages("zeromq")
    assert "pyzmq==" in packages
    assert "--hash=sha256:" in packages
    assert "gevent" not in packages
