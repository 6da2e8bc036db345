"""The second program of a bundle for Linux, put together as PyInstaller would, and started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import interpreter  # noqa: E402

from workbench import paths  # noqa: E402
from workbench.machines.bundle import agent_sources  # noqa: E402
from workbench.uv import uv_binary  # noqa: E402

ASKED = """
import asyncio, ctypes, decimal, http.server, json, ssl, sys, sysconfig, xml.parsers.expat
import gevent.server, gevent.pywsgi, zope.interface
sysconfig.get_config_vars()
def found(name):
    try:
        return bool(__import__(name))
    except ImportError:
        return False
files = [getattr(module, "__file__", None) or "" for module in sys.modules.values()]
print(json.dumps({
    "prefix": sys.prefix,
    "path": sys.path,
    "files": [file for file in files if file.startswith("/")],
    "theirs": found("of_the_user"),
    "left out": found("tkinter") or found("sqlite3") or found("gevent.tests"),
    "loop": type(gevent.get_hub().loop).__module__,
}))
"""

pytestmark = pytest.mark.skipif(not shutil.which("patchelf"), reason="no patchelf here")


@pytest.fixture(scope="module")
def internal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that is `_internal` in a bundle, under a name of its own."""
    work, place = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("Für Kollegen")
    sources = [(str(path), str(Path(name).parent)) for name, path in agent_sources().items()]
    for entry in (*interpreter.binaries(work), *interpreter.datas(work, sources), *sources):
        folder = place / entry[1]
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(entry[0], folder)
    interpreter.library(place / "base_library.zip", work)
    for name, target, _ in interpreter.links():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).symlink_to(target)
    return place


def test_it_has_the_standard_library_and_gevent_and_nothing_from_elsewhere(
    internal: Path, tmp_path: Path
) -> None:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    theirs = tmp_path / ".local" / "lib" / version / "site-packages"
    theirs.mkdir(parents=True)
    (theirs / "of_the_user.py").write_text("")
    (tmp_path / "asked.py").write_text(ASKED)
    done = subprocess.run(
        [internal / "bin" / "python3", "asked.py"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["prefix"] == str(internal)
    own = (str(internal), str(tmp_path))
    assert [path for path in (*data["path"], *data["files"]) if not path.startswith(own)] == []
    assert data["loop"] == "gevent.libev.corecext"
    assert not data["theirs"] and not data["left out"]


def test_the_agent_starts_on_it_and_leaves_nothing_behind(internal: Path) -> None:
    before = set(internal.rglob("*"))
    done = subprocess.run(
        [internal / "bin" / "python3", "-P", "-m", "workbench.remote.agent", "--workers", "1"],
        env=os.environ | {"PYTHONPATH": str(internal)},
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["ev"] == "hello"
    assert set(internal.rglob("*")) == before


BASED = """
import json, sys
from builders import python
task = json.loads(sys.argv[1])
print(json.dumps(python.run(task)))
"""


def test_where_a_machine_has_no_python_runtimes_are_based_on_it_and_see_none_of_its_packages(
    internal: Path, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    places = {"cache": str(tmp_path / "cache"), "work": str(tmp_path / "work")}
    about = {"uv": uv_binary(), "requirements": "", "imports": ["ssl", "ctypes", "compileall"]}
    words = [internal / "bin" / "python3", "-B", "-c", BASED]
    done = subprocess.run(
        [*words, json.dumps({**places, **about, "build": False, "unreached": "-"})],
        env={"PYTHONPATH": str(paths.CODE / "workbench" / "remote"), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout.splitlines()[-1])
    assert made["base"] == str(internal / "bin" / "python3") and made["packages"] == {}
    lacks = "import importlib.util; print(importlib.util.find_spec('gevent'))"
    assert subprocess.check_output([made["python"], "-c", lacks], text=True) == "None\n"


def test_the_library_contains_neither_build_time_nor_build_path(internal: Path) -> None:
    with zipfile.ZipFile(internal / "base_library.zip") as library:
        assert {"os.pyc", "asyncio/streams.pyc", "encodings/cp1252.pyc"} <= set(library.namelist())
        assert {entry.date_time[0] for entry in library.infolist()} == {1980}
        made_in = str(internal.parent).encode()
        assert not any(made_in in library.read(name) for name in library.namelist())
