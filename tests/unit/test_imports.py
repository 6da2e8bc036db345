"""Who may import whom, and on which Python it runs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKBENCH = sorted((ROOT / "workbench").rglob("*.py"))
REMOTE = ROOT / "workbench" / "remote"
GENERATORS = {"zeromq": {"zmq"}, "locust": {"gevent", "locust"}}
"""The packages that the lists of `resources/agent` bring."""
BUNDLE = ("agent", "drivers", "generators")


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


@pytest.mark.parametrize("path", sorted(REMOTE.rglob("*.py")), ids=short)
def test_what_runs_elsewhere_needs_only_what_it_is_sent_with_and_python_3_10(path: Path) -> None:
    room, *below = path.relative_to(REMOTE).parts
    allowed = {*sys.stdlib_module_names}
    if room in BUNDLE:
        allowed |= {"workbench", "."}
        allowed |= GENERATORS.get(below[0], set()) if room == "generators" else {"gevent"}
    elif below:
        allowed |= {"."}  # sent as one folder
    assert set(imported(path, python=(3, 10))) <= allowed
    # Of our own only what is in the same bundle, by its whole name; the linter sees to the rest.
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ours = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    rooms = tuple(f"workbench.remote.{each}" for each in BUNDLE)
    assert all(name.startswith(rooms) for name in ours if "workbench" in name)


def test_each_generator_brings_its_packages() -> None:
    there = {
        path.name for path in (REMOTE / "generators").iterdir() if (path / "__init__.py").is_file()
    }
    assert (
        there
        == set(GENERATORS)
        == {path.stem for path in (ROOT / "resources" / "agent").iterdir()} - {"requirements"}
    )
