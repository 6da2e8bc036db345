"""Rules of the sources that no linter knows: each is a walk over all files."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from workbench.messages.topics import LEVELS

ROOT = Path(__file__).resolve().parents[2]
REMOTE = ROOT / "workbench" / "remote"
GENERATORS = {"zeromq": {"zmq"}, "locust": {"gevent", "locust"}}
"""The packages that the lists of `resources/agent` bring."""
BUNDLE = ("agent", "drivers", "generators")

Rule = Callable[[ast.AST], bool]
"""Whether a node breaks it."""


def files(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))


@cache
def tree(path: Path, python: tuple[int, int] = (3, 11)) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=python)


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree(path)))


def broken(rule: Rule, paths: list[Path]) -> list[str]:
    """Where a rule is broken, and by what."""
    return [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)[:80]}"
        for path in paths
        for node in nodes(path)
        if rule(node)
    ]


def name_of(node: ast.expr) -> str:
    """ "reason" of `stop.reason`, `reason`, `reason.lower()`; "text()" of `note.text()`."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Call(func=ast.Attribute(attr="lower" | "strip" | "casefold", value=value)):
            return name_of(value)
        case ast.Call(func=ast.Attribute(attr=attr)):
            return f"{attr}()"
        case ast.Call(func=func):
            return name_of(func)
        case _:
            return ""


def imported(found: list[ast.AST]) -> set[str]:
    """Top-level names of the packages a file imports; its own package is "."."""
    names: set[str] = set()
    for node in found:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." if node.level else (node.module or "").split(".")[0])
    return names


def test_the_workbench_needs_neither_qt_nor_the_app() -> None:
    wrong = {"PySide6", "pyqtgraph", "app"}
    assert [path for path in files("workbench") if wrong & imported(nodes(path))] == []


@pytest.mark.parametrize("path", files("workbench/remote"), ids=lambda path: path.stem)
def test_what_runs_elsewhere_needs_only_what_it_is_sent_with_and_python_3_10(path: Path) -> None:
    room, *below = path.relative_to(REMOTE).parts
    allowed = {*sys.stdlib_module_names}
    if room in BUNDLE:
        allowed |= {"workbench", "."}
        allowed |= (
            GENERATORS.get(below[0].removesuffix(".py"), set())
            if room == "generators"
            else {"gevent"}
        )
    elif below:
        allowed |= {"."}  # sent as one folder
    found = list(ast.walk(tree(path, (3, 10))))
    assert imported(found) <= allowed
    # Of our own only what is in the same bundle, by its whole name; the linter sees to the rest.
    ours = [node.module or "" for node in found if isinstance(node, ast.ImportFrom)]
    rooms = tuple(f"workbench.remote.{each}" for each in BUNDLE)
    assert all(name.startswith(rooms) for name in ours if "workbench" in name)


def test_each_generator_brings_its_packages() -> None:
    there = {path.stem for path in (REMOTE / "generators").glob("[!_]*")}
    lists = {path.stem for path in (ROOT / "resources" / "agent").iterdir()} - {"requirements"}
    assert there == set(GENERATORS) == lists


# Tests use what users and callers use.

REACHES = re.compile(r"(?<!\bself)(?<!\bcls)\.(_[A-Za-z]\w*)")
"""In a program that a test writes down, too."""
FOREIGN = {
    "_base_executable": "of Python",
    "_exit": "of os, and meant for all",
    "_transport": "of asyncssh, which offers no way to stop reading",
}
ROOMS = ("gui", "window", "unit", "process", "lab", "cases", "fakes", "hostile", "verify")


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


def test_tests_use_no_private_members() -> None:
    found = [
        (str(path.relative_to(ROOT)), *each)
        for path in files(*(f"tests/{room}" for room in ROOMS))
        if path != Path(__file__)
        for each in private(path.read_text(encoding="utf-8"))
    ]
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


# No widget interprets foreign text as markup, by construction: see app/plain.py.

BARE = {
    *("QLabel", "QMessageBox", "QTextBrowser", "QTextEdit", "QTextDocument", "QStaticText"),
    *("QErrorMessage", "QInputDialog", "QProgressDialog", "QWhatsThis", "QSplashScreen"),
    *("TextItem", "LabelItem", "QGraphicsTextItem"),
    *("setHtml", "insertHtml", "appendHtml", "setMarkdown", "setTextFormat", "setWhatsThis"),
    *("setStatusTip", "setDetailedText"),
}
"""What takes text for markup, or may."""
HERE = {
    "picture.py": {"QTextDocument"},  # filled by a cursor, which inserts plain text
    "plain.py": {"QLabel", "QStaticText", "setTextFormat"},
}
TIPS = {"setToolTip": -1, "setTabToolTip": -1, "showText": 1}
"""Which argument of them is read out."""


def markup(node: ast.AST) -> set[str]:
    """What a node uses that may take text for markup."""
    if isinstance(node, ast.ClassDef):
        return {name_of(base) for base in node.bases} & BARE
    if not isinstance(node, ast.Call):
        return set()
    name = name_of(node.func)
    used = {name} & BARE
    if (place := TIPS.get(name)) is not None:
        text = node.args[place]
        plain = isinstance(text, ast.Call) and name_of(text.func) == "tip"
        if not plain and not isinstance(text, ast.Constant):
            used.add(f"{name} without tip()")
    return used


def test_no_text_in_the_window_is_interpreted_as_markup() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {sorted(used)}"
        for path in files("app")
        for node in nodes(path)
        if (used := markup(node) - HERE.get(path.name, set()))
    ]
    assert not found, "see app/plain.py"


# Codes, not sentences.

SENTENCES = {"reason", "reasons", "text()", "sentence", "sentences", "cause", "warning", "problem"}
"""What our sentences are called."""
APART = {"partition", "rpartition", "removeprefix", "removesuffix", "startswith", "endswith"}
OTHERS = ("workbench/config/yaml.py", "workbench/machines/tuning.py")
"""Whose problems are PyYAML's, or another machine's."""


def looks_for_words(node: ast.AST) -> bool:
    """`"..." in reason`, `reason.partition(...)`, `{note.text(): ...}`, `found[note.text()]`."""
    match node:
        case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()]):
            return name_of(node.comparators[0]) in SENTENCES
        case ast.Call(func=ast.Attribute(attr=attr, value=value), args=[ast.Constant(value=at)]):
            return attr in APART and name_of(value) in SENTENCES and at != "\n"
        case ast.DictComp(key=ast.Call(func=ast.Attribute(attr="text"))):
            return True
        case ast.Subscript(slice=ast.Call(func=ast.Attribute(attr="text"))):
            return True
        case _:
            return False


def test_no_code_parses_a_sentence() -> None:
    others = [ROOT / name for name in OTHERS]
    paths = [path for path in files("workbench", "app") if path not in others]
    assert broken(looks_for_words, paths) == []


@pytest.mark.parametrize(
    "code",
    [
        '"sign of life" in stop.reason',
        '"late" not in reason.lower()',
        "sentence.partition(': ')",
        "note.text().startswith('The clients')",
        "{problem.text(): key for problem in problems}",
        "known[warning.text()]",
    ],
)
def test_code_that_parses_a_sentence_is_found(code: str) -> None:
    assert any(looks_for_words(node) for node in ast.walk(ast.parse(code)))


def test_notes_are_made_from_messages() -> None:
    def made(node: ast.AST) -> bool:
        note = isinstance(node, ast.Call) and name_of(node.func) == "Note"
        return note and "topic" in [keyword.arg for keyword in node.keywords]

    paths = [path for path in files("workbench", "app") if path.name != "base.py"]
    assert broken(made, paths) == []


def test_every_topic_that_code_refers_to_exists() -> None:
    looked_for = {
        node.value
        for path in files("workbench", "app")
        for pattern in nodes(path)
        if isinstance(pattern, ast.MatchClass) and name_of(pattern.cls) == "Note"
        for keyword in pattern.kwd_patterns
        for node in ast.walk(keyword)
        if isinstance(node, ast.Constant)
    }
    assert looked_for
    assert looked_for <= LEVELS.keys()


# One way out, and one writer of tables.

BARE_OUTPUT = {"print", "Console", "sys.stdout.write", "sys.stderr.write"}


def test_there_is_one_way_out_to_the_terminal() -> None:
    def prints(node: ast.AST) -> bool:
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        return name in BARE_OUTPUT or name.endswith("from_markup")

    # What runs on other machines prints for us.
    ours = [path for path in files("workbench", "app") if REMOTE not in path.parents]
    elsewhere = [path for path in ours if path != ROOT / "workbench" / "terminal.py"]
    assert broken(prints, elsewhere) == [], "print with workbench.terminal"


def test_there_is_one_writer_of_tables() -> None:
    writers = [path.name for path in files("workbench", "app") if "csv" in imported(nodes(path))]
    assert writers == ["spreadsheet.py"]
