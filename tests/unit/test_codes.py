"""Codes, not sentences: nothing parses our own sentences, uses one as a key, or searches for words
in one. What other programs and people wrote has to be read; where that is, is listed here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.messages.topics import TOPICS

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for room in ("workbench", "app") for path in (ROOT / room).rglob("*.py"))

SENTENCES = {"reason", "reasons", "text", "sentence", "sentences", "cause", "warning", "problem"}
"""What sentences are called."""

APART = {"partition", "rpartition", "removeprefix", "removesuffix", "startswith", "endswith"}

READERS = {
    "workbench/remote": "what servers answer, and what programs and /proc print",
    "workbench/load/ab.py": "what ab prints",
    "workbench/load/httperf.py": "what httperf prints",
    "workbench/load/tsung.py": "what Tsung prints",
    "workbench/load/wrk.py": "what wrk prints",
    "workbench/load/wrk2.py": "what wrk2 prints",
    "workbench/load/hgrm.py": "what HdrHistogram prints",
    "workbench/config/hidden.py": "characters of a text",
    "workbench/machines": "what SSH, sudo, uv and our programs there print",
    "workbench/servers/runtimes": "what pip, apt, compilers and linkers print",
    "workbench/servers/profiling": "what profilers print",
    "workbench/terminal.py": "characters that the console lacks",
    "workbench/servers/last_words.py": "what servers print",
    "workbench/servers/recognising.py": "what projects of the user declare",
    "workbench/servers/requirements_lock.py": "what pip's files say",
    "workbench/servers/sources.py": "what git prints",
    "workbench/servers/lint.py": "where PyYAML and Python found an error",
    "workbench/servers/user_servers.py": "files of servers",
    "workbench/servers/entry_reading.py": "files of servers",
    "workbench/servers/requirements.py": "files of requirements",
    "workbench/servers/worker_variants.py": "ids of servers with several workers",
    "workbench/servers/footprint.py": "/proc",
    "workbench/sessions": "files of sessions",
    "workbench/cli.py": "what argparse finds wrong",
    "workbench/doc_table.py": "documents in which it replaces a table",
    "workbench/config/complaints.py": "what msgspec finds wrong",
    "workbench/config/slips.py": "YAML written by people",
    "workbench/config/yaml.py": "YAML written by people",
    "workbench/workloads/http/requests.py": "paths and headers of a workload",
    "workbench/workloads/locust/declaration.py": "requirements of a workload",
    "workbench/workloads/tables.py": "docs, between two marks",
    "workbench/plan/library.py": "a name that becomes a file's",
    "workbench/run/factory.py": "a name that becomes a file's",
    "workbench/plan/editing.py": "a figure typed by a person",
    "workbench/run/tuning.py": "/proc",
    "workbench/fetching.py": "what uv, git and apt print",
    "workbench/spreadsheet.py": "cells that a spreadsheet would compute",
    "workbench/untrusted.py": "control characters",
    "workbench/commands/profile_options.py": "options",
    "workbench/commands/replay.py": "options",
    "app/actions.py": "keys, as Qt writes them",
    "app/shell/palette_sources.py": "what a person types",
    "app/planning/figures.py": "figures typed by a person",
    "app/planning/preset_list.py": "a plan's description, which its author wrote",
    "workbench/servers/recording.py": "server.yaml, and requirements",
    "app/plain.py": "where a line may break",
    "app/machines/editor.py": "keys of a form, and cores typed by a person",
    "app/export": "SVG, and names of files",
    "app/start/quick_start.py": "the name of a kernel",
    "app/about/licences.py": "licences of packages",
    "app/servers": "code, and names that may break",
    "app/log.py": "what Qt prints",
    "app/machines/detail.py": "commands in the log",
}
"""Whose words a module reads, if not ours."""


def reads_others(path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix()
    return any(name == known or name.startswith(f"{known}/") for known in READERS)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def name_of(node: ast.expr) -> str:
    """ "reason" of `stop.reason`, `reason`, `reason.lower()` and `note.text()`."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Call(func=ast.Attribute(attr="lower" | "strip" | "casefold", value=value)):
            return name_of(value)
        case ast.Call(func=func):
            return name_of(func)
        case _:
            return ""


def words_looked_for(module: ast.Module) -> Iterator[ast.AST]:
    """`"..." in reason`, `reason.partition(...)`, `{note.text(): ...}`, `found[note.text()]`."""
    for node in ast.walk(module):
        match node:
            case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()]):
                if name_of(node.comparators[0]) in SENTENCES:
                    yield node
            case ast.Call(
                func=ast.Attribute(attr=attr, value=value), args=[ast.Constant(value=at)]
            ):
                if attr in APART and name_of(value) in SENTENCES and at != "\n":
                    yield node
            case ast.DictComp(key=ast.Call(func=ast.Attribute(attr="text"))):
                yield node
            case ast.Subscript(slice=ast.Call(func=ast.Attribute(attr="text"))):
                yield node
            case _:
                pass


@pytest.mark.parametrize(
    "path", [p for p in MODULES if not reads_others(p)], ids=lambda p: str(p.relative_to(ROOT))
)
def test_no_code_parses_a_sentence(path: Path) -> None:
    module = tree(path)
    imported = {
        alias.name for n in ast.walk(module) if isinstance(n, ast.Import) for alias in n.names
    }
    assert "re" not in imported, "list in READERS whose words it reads"
    assert [ast.unparse(node) for node in words_looked_for(module)] == []


@pytest.mark.parametrize(
    "code",
    [
        '"sign of life" in stop.reason',
        '"late" not in reason.lower()',
        "text.partition(': ')",
        "note.text().startswith('The clients')",
        "{problem.text(): key for problem in problems}",
        "known[warning.text()]",
    ],
)
def test_code_that_parses_a_sentence_is_found(code: str) -> None:
    assert list(words_looked_for(ast.parse(code)))


def test_every_reader_of_foreign_text_is_listed() -> None:
    assert [name for name in READERS if not (ROOT / name).exists()] == []


def test_notes_are_made_from_messages() -> None:
    made = [
        f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
        for path in MODULES
        if path.name != "notes.py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and name_of(node.func) == "Note"
        and "topic" in [keyword.arg for keyword in node.keywords]
    ]
    assert made == []


def test_every_topic_that_code_refers_to_exists() -> None:
    looked_for = {
        node.value
        for path in MODULES
        for pattern in ast.walk(tree(path))
        if isinstance(pattern, ast.MatchClass) and name_of(pattern.cls) == "Note"
        for keyword in pattern.kwd_patterns
        for node in ast.walk(keyword)
        if isinstance(node, ast.Constant)
    }
    assert looked_for
    assert looked_for <= TOPICS.keys()
