"""Locustfiles before they run: their requests and errors are read, nothing is executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from workbench.axis import rates_count
from workbench.consent import ForeignCode, agreed
from workbench.errors import BadInput, PongbenchError
from workbench.load.registry import load_tool
from workbench.load.registry import problems as tool_problems
from workbench.plan.checks import problems
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan, plan_from_data, read_plan, to_data
from workbench.plan.schedule import sweep
from workbench.remote.generators.locust import sentence
from workbench.workloads.locust.declaration import DECLARATION, LocustWorkload
from workbench.workloads.locust.reading import requests, users

FILES = Path(__file__).parents[1] / "cases" / "locustfiles"


def a_plan(file: str, **more: Any) -> Plan:
    workload = LocustWorkload(locustfile=file, **more)
    return Plan(servers=["cheroot"], rates=[100], seconds=2, workload=workload)


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("http_user.py", ["GET /", "GET /item"]),
        ("sequential.py", ["GET 1 look", "POST 2 pay"]),
        ("log_in.py", ["POST /login", "POST /logout", "GET /account"]),
        ("custom_client.py", ["RAW ping"]),
        ("events_used.py", ["GET page"]),
        ("weights.py", ["GET watch", "other requests"]),
        ("fast_http.py", ["GET /json"]),
        ("../nowhere.py", []),
    ],
)
def test_requests_are_named_as_locust_names_them(file: str, names: list[str]) -> None:
    assert requests(str(FILES / file)) == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "no such file or directory"),
        ("from locust import task\n\ndef page(:\n", "page.py, line 3: invalid syntax."),
        (
            "import locust\nclass Steps(locust.LoadTestShape):\n    pass\n",
            "page.py, line 2: Steps is a LoadTestShape, and the plan decides the load;",
        ),
        (b"# \xff\n", "page.py cannot be read: it is not text in UTF-8."),
    ],
    ids=["missing", "syntax", "shape", "encoding"],
)
def test_what_cannot_run_is_one_sentence(
    tmp_path: Path, text: str | bytes | None, sentence: str
) -> None:
    file = tmp_path / "page.py"
    if text is not None:
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    (problem,) = problems(a_plan(str(file)))
    assert sentence in problem.text()
    assert problem.keys == ("workload.locustfile",)


def test_packages_have_versions_and_files_lie_beside_it() -> None:
    file = str(FILES / "log_in.py")
    assert list(problems(a_plan(file, requirements=["faker==40.1.0"], files=["common"]))) == []
    for line in ("faker", "-r more.txt", "faker @ https://example.org/f.whl"):
        (problem,) = problems(a_plan(file, requirements=[line]))
        assert problem.code == "requirement-invalid"
    for name in ("absent.csv", "../profiles", "."):
        (problem,) = problems(a_plan(file, files=[name]))
        assert (problem.code, problem.keys) == ("locustfile-missing", ("workload.files",))


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ({"engine": "locust"}, []),
        ({"engine": "locust", "master": "[::1]:5557", "expect_workers": 2}, []),
        ({"engine": "locust", "expect_workers": 2}, ["master-invalid"]),
        ({"engine": "locust", "master": "h1:x:y", "expect_workers": 2}, ["master-invalid"]),
        ({"engine": "locust", "master": "0.0.0.0:5557"}, ["master-invalid"]),
        ({"web_port": 8089}, ["of-other-engine"]),
    ],
)
def test_keys_of_the_master_are_checked_with_the_plan(
    given: dict[str, Any], codes: list[str]
) -> None:
    plan = a_plan(str(FILES / "http_user.py"), **given)
    assert [problem.code for problem in problems(plan)] == codes


def test_the_engine_decides_the_load_tool_and_what_is_counted() -> None:
    file = str(FILES / "shape.py")
    by_users = {"mode": "closed", "locustfile": file}
    data = {"servers": ["cheroot"], "concurrency": [9], "seconds": 2}
    plan = plan_from_data({**data, "workload": {**by_users, "engine": "locust"}}, name="p")
    assert (plan.load_tool, plan.axis.replies, plan.axis.counts) == (
        "locust-master",
        "requests",
        "users",
    )
    assert plan_from_data(to_data(plan), name="again") == plan
    rates = {"servers": ["cheroot"], "rates": [9], "seconds": 2}
    (given,) = list(
        tool_problems(
            load_tool("locust-master"),
            plan_from_data(
                {**rates, "workload": {"locustfile": file, "engine": "locust"}}, name="p"
            ),
        )
    )
    assert given.code == "tool-cannot-vary"


def test_a_plan_names_the_file_beside_it_and_needs_no_protocol(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from locust import HttpUser\n")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "servers: [cheroot]\nworkload: {locustfile: mine.py}\nrates: [100]\nseconds: 2\n"
    )
    read = load_plan(plan)
    assert isinstance(read.workload, LocustWorkload)
    assert read.workload.locustfile == str(tmp_path / "mine.py")
    assert (read.load_tool, read.unit) == ("locust", "tasks")
    with pytest.raises(BadInput, match="none is named; give the path of a locustfile"):
        plan_from_data(
            {
                "servers": ["cheroot"],
                "workload": {"protocol": "locust"},
                "rates": [9],
                "seconds": 2,
            },
            name="p",
        )


BLOCKED = """\
Timeout (0:00:05)!
Thread 0x00007f10 (most recent call first):
  File "/run/files/helper.py", line 3 in wait
Thread 0x00007f25 (most recent call first):
  File "/usr/lib/python3.11/re.py", line 7 in search
  File "/run/files/common/forms.py", line 12 in parse
  File "/run/files/shop.py", line 40 in buy
  File "/bundle/locust/user/task.py", line 300 in execute_task
"""


@pytest.mark.parametrize(
    ("dump", "said"),
    [
        (BLOCKED, "common/forms.py, line 12, in parse, blocked all users of the worker"),
        ("Timeout (0:00:05)!\n", "a call blocked all users of the worker"),
        (
            "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f25 (most recent call"
            ' first):\n  File "/run/files/shop.py", line 9 in buy\n',
            "shop.py, line 9, in buy, ended the worker: Segmentation fault",
        ),
    ],
    ids=["helper", "unknown", "crash"],
)
def test_what_blocks_or_crashes_a_worker_is_named_with_its_line(dump: str, said: str) -> None:
    assert sentence(dump, "/run/files").startswith(said)


def test_a_closed_loop_varies_users_and_its_replies_are_tasks() -> None:
    plan = a_plan("shop.py", mode="closed")
    plan = msgspec.structs.replace(plan, rates=[], concurrency=[1, 50])
    assert (plan.axis.title, plan.axis.at(50), plan.axis.at(1)) == ("Users", "50 users", "1 user")
    assert rates_count(to_data(plan)) == "tasks"


def test_servers_of_http_run_it() -> None:
    assert DECLARATION.serves("locust", ["http/1.0"])
    assert not DECLARATION.serves("locust", ["pong", "zeromq"])


def test_the_users_of_a_closed_loop_start_before_it_is_measured() -> None:
    workload = LocustWorkload(locustfile="shop.py", mode="closed", spawn_s=3)
    assert workload.longest_stay_s == 3
    assert LocustWorkload(locustfile="shop.py", spawn_s=3).longest_stay_s == 0


def test_users_are_warmed_up_with_no_more_than_the_plan_asks_for() -> None:
    """Unless it says so itself: a user's shop gets every order."""

    def warmed_up_at(data: dict[str, Any]) -> float | None:
        workload = {"locustfile": str(FILES / "tags.py"), **data.pop("workload", {})}
        plan = plan_from_data(
            {"servers": ["cheroot"], "seconds": 2, "workload": workload, **data}, name="users"
        )
        first = next(sweep(plan, "cheroot"))
        return first.connection_rate_per_s if first.purpose == "warm_up" else None

    assert warmed_up_at({"rates": [20, 100]}) == 100
    assert warmed_up_at({"rates": {"from": 10, "to": 60, "step": 10}}) == 60
    assert warmed_up_at({"rates": [100], "warm_up": {"seconds": 3}}) == 100
    assert warmed_up_at({"rates": [100], "warm_up": {"rate_per_s": 300}}) == 300
    assert warmed_up_at({"rates": [2_000]}) == 500
    users = {"workload": {"mode": "closed"}, "concurrency": [5]}
    assert warmed_up_at(dict(users)) is None
    assert warmed_up_at({**users, "warm_up": {"rate_per_s": 5, "seconds": 1}}) == 5


async def test_foreign_code_needs_consent_and_ours_none() -> None:
    asked: list[ForeignCode] = []

    async def refuse(code: ForeignCode) -> bool:
        asked.append(code)
        return False

    shipped = read_plan("locust").workload
    assert DECLARATION.foreign_code(shipped, ()) is None
    mine = LocustWorkload(locustfile=str(FILES / "tags.py"), requirements=["faker==40.1.0"])
    code = DECLARATION.foreign_code(mine, ("bolt", "volt"))
    with pytest.raises(PongbenchError, match=r"tags\.py runs on bolt and volt .* with faker==40"):
        await agreed(code, refuse)
    assert len(asked) == 1


def test_the_tasks_of_each_user_are_read_with_their_weights() -> None:
    assert users("shop.py") == {"Visitor": ["look (4)", "buy"]}
    assert users("/nowhere/at/all.py") == {}
