"""Tests use what users and callers use: none accesses private members."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROOMS = ("gui", "window", "unit", "process", "lab", "cases", "fakes", "hostile", "verify")
FILES = sorted(
    path for room in ROOMS for path in (TESTS / room).rglob("*.py") if path != Path(__file__)
)

REACHES = re.compile(r"(?<!\bself)(?<!\bcls)\.(_[A-Za-z]\w*)")
"""In a program that a test writes down, too."""
FOREIGN = {
    "_base_executable": "of Python",
    "_exit": "of os, and meant for all",
    "_transport": "of asyncssh, which offers no way to stop reading",
}


def private(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each private part that is reached, imported or replaced by its name."""
    for number, line in enumerate(source.splitlines(), start=1):
        yield from ((number, found) for found in REACHES.findall(line) if found not in FOREIGN)
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("attr"):
            names = [str(each.value) for each in node.args[1:2] if isinstance(each, ast.Constant)]
        for name in names:
            if name.startswith("_") and not name.startswith("__") and name not in FOREIGN:
                yield node.lineno, name


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_tests_use_no_private_members(path: Path) -> None:
    found = list(private(path.read_text(encoding="utf-8")))
    assert not found, "Ask for what is shown, or give the class a public way to ask."


@pytest.mark.parametrize(
    "source",
    [
        "page._list.model()",
        "assert window.pages()[0]._question",
        "CODE = 'window._told = True'",
        "from app.pages.live import LivePage, _LOW",
        'monkeypatch.setattr(live, "_LOW", 0)',
        'monkeypatch.setattr("app.pages.live._LOW", 0)',
    ],
)
def test_every_access_to_private_members_is_found(source: str) -> None:
    assert list(private(source))


@pytest.mark.parametrize("source", ["self._list", "os._exit(0)", "page.__class__", "_ = page.list"])
def test_access_to_own_members_is_allowed(source: str) -> None:
    assert not list(private(source))
