"""Every command in every environment: locales, homes and paths. None ends in a traceback, and the
sentences name the setting that helps."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests import synthetic
from tests.chosen import chosen
from tests.recording import record_session

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("every_command.py")
PLAN = """\
name: café ≥
servers: [epoll]
rates: [100]
seconds: 1
calibrate: false
warm_up: null
"""
IN_ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
OF_NOBODY = ["unshare", "--user", "--map-user=12345", "--map-group=12345"]


@dataclass
class Environment:
    """How the commands are run."""

    variables: dict[str, str] = field(default_factory=lambda: {"LC_ALL": "C.UTF-8"})
    home: bytes = b"home"
    """PONGBENCH_HOME, below the test's folder; empty: not set."""
    session: bytes = b"run.pong.yaml"
    user_home: str = "{dir}"
    """HOME; empty: not set."""
    around: list[str] = field(default_factory=list)
    runs: bool = True
    """Whether this computer can be used as a machine."""
    saves: bool = True
    """Whether profiles and servers can be saved."""
    says: str = ""
    """What is named where something cannot be done."""
    prints: str = "µs"
    encoding: str = "utf-8"


ENVIRONMENTS = {
    "UTF-8": Environment(),
    "ISO-8859-1": Environment({"LOCPATH": "{dir}/locales", "LC_ALL": "de_DE"}, encoding="latin-1"),
    "ASCII": Environment(IN_ASCII, prints=" us"),
    "a path that is no text": Environment(session=b'caf\351 "x" it\'s; $x.pong.yaml'),
    "no text in ASCII": Environment(IN_ASCII, session=b"caf\351.pong.yaml", prints=" us"),
    "spaces and quotes": Environment(home=b'it\'s "my" home; $x \\ caf\303\251'),
    "a home that is no text": Environment(home=b"caf\351", runs=False, says="PONGBENCH_HOME"),
    "a home that is a file": Environment(
        home=b"plan.yaml", runs=False, saves=False, says="PONGBENCH_HOME"
    ),
    "a home that cannot be made": Environment(
        home=b"/proc/none", runs=False, saves=False, says="PONGBENCH_HOME"
    ),
    "nobody": Environment(around=OF_NOBODY, user_home=""),
    "nobody without a place": Environment(
        home=b"", around=OF_NOBODY, user_home="", runs=False, saves=False, says="PONGBENCH_HOME"
    ),
}


@functools.cache
def can(*command: str) -> bool:
    done = subprocess.run([*command, "true"], capture_output=True, check=False)
    return done.returncode == 0


def commands(folder: bytes, session: bytes, *, whole: bool) -> list[tuple[list[bytes], str]]:
    """Commands, each with what it needs: a home, a home that can be written, or a machine."""
    plan, out = folder + b"/plan.yaml", folder + b"/out-\351"
    every: list[tuple[list[bytes], str]] = [
        ([b"--version"], ""),
        ([b"--help"], ""),
        ([b"plans"], "home"),
        ([b"plans", b"--json"], "home"),
        ([b"run", plan, b"--preview"], "machine"),
        ([b"replay", b"--json", session], "home"),
        ([b"replay", b"--speed", b"max", session], "home"),
        ([b"summary", session], "home"),
        ([b"summary", b"--json", session], "home"),
        ([b"compare", session, session], "home"),
        ([b"compare", b"--json", session, session], "home"),
        ([b"compare", b"--csv", session, session], "home"),
        ([b"report", session, b"-o", out + b".html"], "home"),
        ([b"report", session, b"-o", out + b".csv"], "home"),
        ([b"catalogue"], "home"),
        ([b"catalogue", b"show", b"epoll"], "home"),
        ([b"catalogue", b"features"], "home"),
        ([b"catalogue", b"new", b"x-mine"], "saved"),
        ([b"machines"], "home"),
        ([b"machines", b"show", b"localhost"], "home"),
        ([b"machines", b"add", b"bolt", b"--address", b"10.0.0.1"], "saved"),
        ([b"machines", b"edit", b"bolt", b"--description", b"a lathe"], "saved"),
        ([b"machines", b"duplicate", b"bolt", b"nut"], "saved"),
        ([b"machines", b"remove", b"nut"], "saved"),
        ([b"machines", b"check", b"localhost"], "machine"),
    ]
    if whole:
        every.append(([b"run", plan, b"-o", out + b".pong.yaml"], "machine"))
        every.append(([b"summary", out + b".pong.yaml"], "machine"))
    return every


REFUSED = [
    [b"x\351"],
    [b"run", b"caf\351"],
    [b"summary", b"/nowhere/caf\351.yaml"],
    [b"machines", b"add", b"screw", b"--address", b"caf\351"],
]


@pytest.mark.parametrize("name", chosen(list(ENVIRONMENTS), 4, seed=149))
def test_no_command_ends_in_a_traceback(name: str, tmp_path: Path) -> None:
    environment = ENVIRONMENTS[name]
    if not str(ROOT).isascii() and environment.variables["LC_ALL"] != "C.UTF-8":
        pytest.skip("Python reads the path of this checkout, which is not ASCII, by the locale")
    if environment.around and not can(*environment.around):
        pytest.skip("the kernel permits no user namespaces here")
    if "LOCPATH" in environment.variables:
        (tmp_path / "locales").mkdir()
        make = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(tmp_path / "locales/de_DE")]
        if not shutil.which("localedef") or subprocess.run(make, check=False).returncode:
            pytest.skip("there is no localedef, or no de_DE for it")
    folder = os.fsencode(tmp_path)
    session = folder + b"/" + environment.session
    recorded = record_session(tmp_path / "run.pong.yaml", synthetic.session(3, 12))
    if environment.session != b"run.pong.yaml":
        shutil.copy(recorded, session)
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    asked = commands(folder, session, whole=environment.runs)
    ended, output, complaints = run(environment, tmp_path, [words for words, _ in asked] + REFUSED)
    for (words, needs), end in zip(asked, ended, strict=False):
        met = {
            "": True,
            "home": bool(environment.home),
            "saved": environment.saves,
            "machine": environment.runs,
        }[needs]
        assert (end == 0) == met, (words, end, complaints)
    assert all(end in (1, 2) for end in ended[len(asked) :]), ended[len(asked) :]
    assert environment.says in complaints
    if environment.home:
        assert environment.prints in output


def run(
    environment: Environment, folder: Path, words: list[list[bytes]]
) -> tuple[list[int | str], str, str]:
    """How each command ended, and what they printed on stdout and stderr."""

    def filled(text: str) -> str:
        return text.replace("{dir}", str(folder))

    variables: dict[bytes, bytes] = {
        b"PATH": os.environb[b"PATH"],
        b"PYTHONPATH": os.fsencode(ROOT),
        **{key.encode(): filled(value).encode() for key, value in environment.variables.items()},
    }
    if environment.home:
        variables[b"PONGBENCH_HOME"] = (
            environment.home
            if environment.home.startswith(b"/")
            else os.fsencode(folder) + b"/" + environment.home
        )
    if environment.user_home:
        variables[b"HOME"] = filled(environment.user_home).encode()
    as_json = json.dumps([[word.decode("latin-1") for word in each] for each in words])
    result = folder / "result.json"
    done = subprocess.run(
        [*environment.around, sys.executable, str(PROGRAM), str(result), as_json],
        cwd=folder,
        env=variables,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    ended = json.loads(result.read_text("utf-8"))
    printed = (each.decode(environment.encoding) for each in (done.stdout, done.stderr))
    return ended, *printed
