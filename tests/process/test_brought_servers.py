"""Servers that people bring: their projects, incomplete requirements, the example of the docs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from chosen import chosen

from workbench import paths
from workbench.cli import main
from workbench.errors import BadInput
from workbench.servers.recognising import recognise

ROOT = Path(__file__).parents[2]
PROJECTS = ROOT / "tests/cases/projects"
DOCS = (ROOT / "docs/servers.md").read_text("utf-8")
GUNICORN = ["{python}", "-m", "gunicorn", "--bind", "{host}:{port}", "--backlog", "{backlog}"]
BY_PORT = ["/usr/bin/env", "HOST={host}", "PORT={port}"]


@pytest.fixture
def servers(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's own servers."""
    return paths.data_dir() / "servers"


@pytest.mark.parametrize(
    ("name", "kind", "command", "packages"),
    [
        ("flask", "Flask", [*GUNICORN, "app:app"], ["flask", "gunicorn"]),
        ("flask-factory", "Flask", [*GUNICORN, "shop:create_app()"], ["flask>=3", "gunicorn"]),
        ("django", "Django", [*GUNICORN, "site_.wsgi:application"], ["django", "gunicorn"]),
        (
            "fastapi",
            "FastAPI",
            [
                *("{python}", "-m", "uvicorn", "main:api", "--host", "{host}", "--port", "{port}"),
                *("--backlog", "{backlog}", "--no-access-log"),
            ],
            ["fastapi", "uvicorn"],
        ),
        ("express", "Express", [*BY_PORT, "{node}", "{made}/src/server.js"], []),
        ("go", "Go", ["{made}/server", "-addr", "{host}:{port}"], []),
    ],
)
def test_a_project_is_recognised_by_its_files(
    name: str, kind: str, command: list[str], packages: list[str]
) -> None:
    project = recognise(PROJECTS / name)
    assert (project.kind, project.entry["command"]) == (kind, command)
    assert project.requirements == packages
    assert project.assumed


@pytest.mark.parametrize(
    ("kind", "command", "files"),
    [
        (
            "Node.js",
            [*BY_PORT, "{node}", "{made}/app.js"],
            {
                "Procfile": "web: npm start\n",
                "package.json": '{"scripts": {"start": "node app.js"}}',
                "app.js": "",
            },
        ),
        ("Go", ["{made}/server", "-p", "{port}"], {"Procfile": "web: bin/shop -p ${PORT:-80}\n"}),
        (
            "Rust",
            [*BY_PORT, "{made}/bin/shop"],
            {
                "Cargo.toml": '[package]\nname = "shop"\n',
                "src/main.rs": 'fn main() { std::env::var("PORT"); }\n',
            },
        ),
        (
            "Python",
            ["{venv}/bin/granian", "--host", "{host}", "--port", "{port}", "shop:app"],
            {"Procfile": "web: uv run granian --host 0.0.0.0 --port $PORT shop:app\n"},
        ),
        (
            "Python",
            [*BY_PORT, "{python}", "-c", "import sys; from shop import main; sys.exit(main())"],
            {
                "pyproject.toml": '[project]\nname = "shop"\nscripts = {shop = "shop:main"}\n',
                "shop.py": 'import os\nmain = lambda: print(os.environ["PORT"])\n',
            },
        ),
    ],
)
def test_a_project_of_any_kind_is_started_as_its_files_say(
    kind: str, command: list[str], files: dict[str, str], tmp_path: Path
) -> None:
    if kind == "Go":
        files = files | {"go.mod": "module shop\n", "cmd/shop.go": "package main\nfunc main() {}\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    project = recognise(tmp_path)
    assert (project.kind, project.entry["command"]) == (kind, command)


def test_what_cannot_be_told_where_to_listen_or_is_nothing_known_is_refused(tmp_path: Path) -> None:
    for folder in (PROJECTS / "fixed-port", tmp_path, tmp_path / "missing"):
        with pytest.raises(BadInput):
            recognise(folder)


@pytest.mark.parametrize("name", chosen(["flask", "go"], 1))
def test_a_project_becomes_a_server_that_passes_its_check(
    servers: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "go" and not shutil.which("go"):
        pytest.skip("Go is not installed")
    assert main(["catalogue", "new", "Shop", "--from", str(PROJECTS / name)]) == 0
    assert "assumed: " in capsys.readouterr().out
    assert main(["catalogue", "check", "shop"]) == 0


def test_requirements_without_what_they_require_are_named_and_locked(
    servers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example(servers / "mine")
    with (servers / "mine/server.yaml").open("a") as file:
        file.write("requirements: requirements.txt\n")
    (servers / "mine/requirements.txt").write_text("Flask == 3.1.0\n")
    assert main(["catalogue", "check", "mine"]) == 1
    said = capsys.readouterr()
    assert "werkzeug" in said.out + said.err
    assert "catalogue lock mine" in " ".join((said.out + said.err).split())
    assert main(["catalogue", "lock", "mine"]) == 0
    assert "werkzeug==" in (servers / "mine/requirements.txt").read_text()
    assert (servers / "mine/requirements.in").read_text() == "Flask == 3.1.0\n"
    assert main(["catalogue", "check", "mine"]) == 0


def test_versions_that_do_not_suit_each_other_are_named(
    servers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example(servers / "mine")
    with (servers / "mine/server.yaml").open("a") as file:
        file.write("requirements: requirements.txt\n")
    (servers / "mine/requirements.txt").write_text(
        "httpcore==1.0.5\nh11==0.12.0\ncertifi==2024.7.4\n"
    )
    assert main(["catalogue", "check", "mine"]) == 0
    (servers / "mine/server.py").write_text("import nothing_here\n")
    assert main(["catalogue", "check", "mine"]) == 1
    said = capsys.readouterr()
    assert "httpcore requires h11>=0.13,<0.15, not 0.12.0" in " ".join(
        (said.out + said.err).split()
    )


def test_requirements_that_cannot_be_resolved_are_kept(
    servers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example(servers / "mine")
    (servers / "mine/requirements.txt").write_text("flask==3.1.0\nflask==3.1.1\n")
    assert main(["catalogue", "lock", "mine"]) == 2
    assert (servers / "mine/requirements.txt").read_text() == "flask==3.1.0\nflask==3.1.1\n"
    assert main(["catalogue", "lock", "nothing"]) == 2


def test_the_example_of_the_documentation_runs_as_it_stands(servers: Path) -> None:
    example(servers / "mine")
    assert main(["catalogue", "check", "mine"]) == 0


def example(folder: Path) -> None:
    """Write down the files that docs/servers.md shows."""
    folder.mkdir(parents=True)
    blocks = re.findall(r"```\w+\n# (server\.\w+)\n(.*?)```", DOCS, re.DOTALL)
    assert [name for name, _ in blocks] == ["server.yaml", "server.py"]
    for name, text in blocks:
        (folder / name).write_text(text)


def test_a_server_that_died_is_reported_with_its_error_first(
    servers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example(servers / "mine")
    (servers / "mine/server.py").write_text(
        "import atexit, sys\natexit.register(print, 'bye', file=sys.stderr)\nimport nothing_here\n"
    )
    assert main(["catalogue", "check", "mine"]) == 1
    said = capsys.readouterr().out
    error = "ModuleNotFoundError: No module named 'nothing_here'"
    assert said.index(error) < said.index("Traceback (most recent call last)")


@pytest.mark.parametrize(
    ("words", "likely"),
    [
        (["runn", "demo"], "'run'"),
        (["machines", "chek", "x"], "'check'"),
        (["run", "dmo"], "'demo'"),
        (["run", "demo", "--server", "tornaod", "--preview"], "'tornado'"),
        (["catalogue", "show", "tornaod"], "'tornado'"),
        (["run", "quick", "--servers", "tornado"], "'--server'"),
        (["summary", "--jsn", "x"], "'--json'"),
    ],
)
def test_a_mistyped_word_gets_the_likely_correction(
    home: Path, words: list[str], likely: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert f"Did you mean {likely}?" in capsys.readouterr().err
