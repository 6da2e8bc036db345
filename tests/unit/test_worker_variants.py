"""Servers in several worker processes: ids, commands, plans."""

from pathlib import Path

import pytest

from workbench.errors import BadInput
from workbench.plan.reading import load_plan, plan_from_data, to_data
from workbench.servers.catalogue import Catalogue, in_counts
from workbench.servers.entry_reading import load_entry

SHIPPED = Catalogue.load(extra_dirs=[])


def test_a_plan_names_a_server_and_its_number_of_processes() -> None:
    servers = ["gevent", *({"server": "tornado", "processes": n} for n in (1, 4))]
    plan = plan_from_data({"servers": servers, "rates": [10], "seconds": 1}, name="mine")
    assert plan.servers == ["gevent", "tornado", "tornado-4w"]
    assert plan_from_data(to_data(plan), name="again").servers == plan.servers


@pytest.mark.parametrize(
    "server",
    [
        {"server": "tornado"},
        {"server": "tornado", "processes": 0},
        {"server": "tornado", "processes": "4"},
        {"server": "tornado", "processes": 2, "threads": 3},
    ],
)
def test_anything_else_is_described_with_an_example(server: object) -> None:
    wanted = r"^plan mine, servers: .* is no server; .*\{server: tornado, processes: 4\}"
    with pytest.raises(BadInput, match=wanted):
        plan_from_data({"servers": [server], "rates": [10], "seconds": 1}, name="mine")


def test_a_variant_is_the_same_program_started_several_times_on_one_port() -> None:
    one, four = SHIPPED["tornado"], SHIPPED["tornado-4w"]
    assert "tornado-4w" in SHIPPED and len(SHIPPED.entries) == len({entry.id for entry in SHIPPED})
    assert (four.name, four.processes) == ("Tornado, 4 workers", 4)
    assert four.command == ["{python}", "workers.py", "4", *one.command[1:]]
    assert {*one.files(), "workers.py"} == set(four.files())
    assert four.unequal[-1].endswith("(SO_REUSEPORT).")
    assert SHIPPED["uvicorn-2w"].command[-2:] == ["--workers", "2"]


def test_an_entry_of_that_name_comes_first() -> None:
    assert SHIPPED["gunicorn-3w"].folder.name == "gunicorn-3w"


@pytest.mark.parametrize(
    ("id", "sentence"),
    [
        ("go-2w", "Go net/http cannot be started in several processes"),
        ("tornado-1w", "Tornado runs in 1 to 64 processes, not in 1"),
        ("tornado-65w", "Tornado runs in 1 to 64 processes, not in 65"),
        ("tornadoes-2w", "There is no server 'tornadoes-2w'"),
    ],
)
def test_what_cannot_be_started_so_is_described(id: str, sentence: str) -> None:
    assert id not in SHIPPED
    with pytest.raises(BadInput, match=sentence):
        SHIPPED[id]


def test_all_servers_that_can_are_replaced_by_one_two_and_four_processes() -> None:
    wanted = ["go", "tornado", "tornado-2w", "tornado-4w"]
    assert in_counts(["go", "tornado"], SHIPPED) == wanted
    assert in_counts(wanted, SHIPPED) == wanted


def test_every_server_of_sockets_runs_in_several_processes_or_says_why_not() -> None:
    for entry in SHIPPED:
        if entry.family == "socket" and not entry.unavailable:
            said = " ".join([*entry.notes, *entry.unequal])
            cannot = "cannot run in several processes" in said or "thread per core" in said
            assert bool(entry.workers) != cannot, entry.id


def test_the_preset_asks_for_each_server_in_one_two_and_four_processes() -> None:
    servers = load_plan("scaling").servers
    assert servers == in_counts(servers[::3], SHIPPED) and len(servers) == 9


@pytest.mark.parametrize(
    ("workers", "problem"),
    [
        ('["--workers", "4"]', "{workers} is missing"),
        ('["--workers", "{count}"]', r"there is no \{count\}"),
        ("reuse-port", "reuse-port needs a command of {python} and a program"),
    ],
)
def test_a_wrong_way_to_start_several_is_described(
    tmp_path: Path, workers: str, problem: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "server.py").write_text("")
    (folder / "server.yaml").write_text(
        "name: Mine\nfamily: socket\nprotocols: [pong]\n"
        f'command: ["{{python}}", -m, server, "{{port}}"]\nworkers: {workers}\n'
    )
    with pytest.raises(BadInput, match=problem.replace("{workers}", r"(\{workers\})")):
        load_entry(folder)
