"""Who may import whom, and on which Python it runs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.machines.bundle import agent_sources

ROOT = Path(__file__).resolve().parents[2]
WORKBENCH = sorted((ROOT / "workbench").rglob("*.py"))
AGENT = sorted(ROOT / name for name in agent_sources() if name != "workbench/__init__.py")
SINGLE_FILES = [
    ROOT / "workbench" / "machines" / f"{n}.py" for n in ("janitor", "survey", "receive", "uncache")
] + [ROOT / "workbench" / "servers" / name for name in ("confine.py", "profiling/profile_there.py")]
FOLDERS = sorted(
    path
    for folder in ("runner", "sampler")
    for path in (ROOT / "workbench" / "machines" / folder).glob("*.py")
)


def imported(path: Path, *, python: tuple[int, int] = (3, 11)) -> Iterator[str]:
    """Top-level names of the packages a file imports; its own package is "."."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=python)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." if node.level else (node.module or "").split(".")[0]


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", WORKBENCH, ids=short)
def test_the_workbench_needs_neither_qt_nor_the_app(path: Path) -> None:
    assert not {"PySide6", "pyqtgraph", "app"} & set(imported(path))


@pytest.mark.parametrize("path", AGENT, ids=short)
def test_the_agent_needs_only_its_library_and_python_3_10(path: Path) -> None:
    libraries = {"gevent"}
    for folder, own in {"zeromq/generator": {"zmq"}, "locust": {"gevent", "locust"}}.items():
        if f"workloads/{folder}" in path.as_posix():
            libraries = own
    allowed = {*sys.stdlib_module_names, *libraries, ".", "workbench"}
    assert set(imported(path, python=(3, 10))) <= allowed
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ours = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    # A workload's driver knows the agent by its whole name.
    assert all(name.startswith("workbench.agent.") for name in ours if "workbench" in name)


@pytest.mark.parametrize("path", SINGLE_FILES, ids=short)
def test_programs_sent_to_machines_are_single_files_for_python_3_10(path: Path) -> None:
    assert set(imported(path, python=(3, 10))) <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("path", FOLDERS, ids=short)
def test_runner_and_sampler_need_only_their_own_folder_and_python_3_10(path: Path) -> None:
    assert set(imported(path, python=(3, 10))) <= {*sys.stdlib_module_names, "."}
