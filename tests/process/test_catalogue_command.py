"""`pongbench catalogue` as typed in a shell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from oracle import eventually, processes_with
from pids import kill_at_once

OWN = Path(__file__).parent / "servers"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def pongbench(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", "catalogue", *map(str, arguments)],
        env={**os.environ, "PONGBENCH_HOME": str(home), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_list_names_every_server_and_what_is_broken(home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "data" / "servers" / "broken"
    broken.mkdir(parents=True)
    done = pongbench(tmp_path)
    assert done.returncode == 0
    assert "asyncio-streams" in done.stdout
    assert f"There is no server file {broken}/server.yaml." in done.stderr


def test_show_prints_the_facts_and_the_code(home: Path) -> None:
    done = pongbench(home, "show", "tornado")
    assert done.returncode == 0
    assert "Apache-2.0" in done.stdout
    assert "class PongServer(TCPServer):" in done.stdout
    told = " ".join(pongbench(home, "show", "vertx").stdout.split())
    assert "Version 5.0.8" in told
    assert "Processes seen 9, with 34 threads" in told
    told = " ".join(pongbench(home, "show", "aspen").stdout.split())
    assert (
        "Not comparable Has a pool of 10 threads. Not comparable Runs on Python 2.7, most" in told
    )
    assert "Peer certificates" in " ".join(pongbench(home, "show", "gunicorn").stdout.split())


def test_check_prints_one_json_object_and_nothing_else(home: Path) -> None:
    done = pongbench(home, "check", "--json", "null", OWN / "half-reply")
    assert done.returncode == 1
    null, half = json.loads(done.stdout)["servers"]
    assert (null["id"], null["status"], null["backlog"]) == ("null", "passed", 512)
    assert (null["keep_alive"], null["pipelining"]) == (False, 0)
    assert null["cold_start_s"] > 0
    assert (half["id"], half["status"]) == ("half-reply", "failed")
    assert "3 of 5 body bytes" in half["reason"]


def test_a_check_whose_machine_is_lost_ends_in_one_sentence(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*(sys.executable, "-m", "app", "catalogue", "check"), OWN / "never-ready", "null"],
        env={**os.environ, "PONGBENCH_HOME": str(tmp_path), "COLUMNS": "1000"},
        stderr=subprocess.PIPE,
        text=True,
    ) as program:

        def found(word: str) -> list[int]:
            programs = processes_with(str(tmp_path)).items()
            return [pid for pid, command in programs if word in command]

        assert eventually(lambda: found("server.py"))
        kill_at_once(found("runner"))
        message = program.communicate()[1]
    assert program.returncode == 1
    assert message.count("The machine 'localhost' is gone") == 1, message
    assert "Traceback" not in message
    assert eventually(lambda: not found(""))


def test_a_named_server_that_cannot_be_tested_is_no_success(home: Path) -> None:
    done = pongbench(home, "check", "friendlyflow")
    assert done.returncode == 1
    assert "friendlyflow: Its code was on Google Code" in done.stdout
    assert done.stderr == ""


def test_an_unknown_server_is_bad_input(home: Path) -> None:
    done = pongbench(home, "check", "tornadoes")
    assert done.returncode == 2
    assert "Did you mean 'tornado'?" in done.stderr
    assert "Traceback" not in done.stderr
