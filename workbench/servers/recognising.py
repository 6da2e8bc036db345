"""What a folder with somebody's project is, and how it is run as a server here.

Flask, Django, FastAPI, Express and Go are recognised by their files; nothing of them is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.config.yaml import read_text
from workbench.errors import BadInput
from workbench.servers.requirements import normalised

SKIPPED = (".*", "__pycache__", "node_modules", "venv", "env", "site-packages")
"""Patterns of files and folders that belong to no project's own code."""
_DEEPEST = 4
_MOST_FILES = 400
_GO_MAIN = r"^func main\("


@dataclass(frozen=True)
class Project:
    """A recognised project."""

    kind: str
    """As its makers write it: "Flask"."""
    entry: dict[str, Any]
    """Keys of `server.yaml`, without the name."""
    requirements: list[str] = field(default_factory=list)
    """Lines of what its packages are, not locked; empty: it is not in Python."""
    assumed: list[str] = field(default_factory=list)
    """Sentences about what its files do not say."""


def recognise(folder: Path) -> Project:
    """Return what a folder contains. Raises BadInput when it is nothing known, or listens where
    nobody can tell it to."""
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}; give that of a project.")
    for find in (_go, _express, _django, _fastapi, _flask):
        if project := find(folder):
            reply = "GET / is answered with 200 and Pong!; if not, say what in `reply`."
            closes = "It closes no connection that clients keep; change `protocols` if it does."
            alive = [closes] if "http/1.1" in project.entry["protocols"] else []
            return Project(
                project.kind,
                {"family": "hello", **project.entry, "closes_first": "server"},
                project.requirements,
                [*project.assumed, *alive, reply],
            )
    raise BadInput(
        f"{folder} is no project of Flask, Django, FastAPI, Express or Go, as far as its files"
        " show; begin with `pongbench catalogue new NAME`."
    )


def _go(folder: Path) -> Project | None:
    if not (folder / "go.mod").is_file():
        return None
    mains = (each for each in _files(folder, ".go") if re.search(_GO_MAIN, _text(each), re.M))
    main = next(mains, None)
    if main is None:
        raise BadInput(f"{folder} has a go.mod, but no `func main()`.")
    package = "./" + main.parent.relative_to(folder).as_posix().removeprefix(".")
    text = "\n".join(map(_text, main.parent.glob("*.go")))
    argv, how = _go_address(text, main.relative_to(folder))
    return Project(
        "Go",
        {
            "language": "Go",
            "runtime": "none",
            "programs": ["go"],
            "framework": "go",
            "make": [["{go}", "build", "-o", "{made}/server", package.rstrip("/") or "."]],
            "source": main.relative_to(folder).as_posix(),
            "command": argv,
            "protocols": ["http/1.0", "http/1.1"],
        },
        assumed=[how],
    )


def _go_address(text: str, main: Path) -> tuple[list[str], str]:
    """Return the command, and how the server is told where to listen."""
    server = "{made}/server"
    for kind, value in (("addr|address|listen|bind|http", "{host}:{port}"), ("port", "{port}")):
        if found := re.search(rf'flag\.\w+\((?:&\w+, *)?"((?:{kind}))"', text):
            return [server, f"-{found[1]}", value], f"-{found[1]} says where it listens."
    if re.search(r'os\.(?:Getenv|LookupEnv)\("PORT"\)', text):
        return _by_environment([server]), "It listens on the port of the variable PORT."
    if "os.Args" in text:
        return [server, "{host}", "{port}", "{backlog}"], "Its arguments are host, port, backlog."
    raise _fixed(main)


def _express(folder: Path) -> Project | None:
    path = folder / "package.json"
    if not path.is_file():
        return None
    try:
        package = json.loads(read_text(path, what="package"))
    except ValueError:
        raise BadInput(f"{path} is no JSON; npm cannot read it, either.") from None
    wanted = package.get("dependencies", {}) if isinstance(package, dict) else {}
    if "express" not in wanted:
        return None
    started = re.search(r"node\s+(\S+\.[cm]?js)", str(package.get("scripts", {}).get("start", "")))
    names = [started[1] if started else "", str(package.get("main", ""))]
    names += ["server.js", "app.js", "index.js"]
    main = next((name for name in names if name and (folder / name).is_file()), "")
    if not main:
        raise BadInput(f"{path} names no program: give its `start` script as `node FILE`.")
    if not any("process.env.PORT" in _text(each) for each in _files(folder, ".js", ".mjs", ".cjs")):
        raise _fixed(Path(main))
    how = "ci" if (folder / "package-lock.json").is_file() else "install"
    options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
    npm = ["{npm}", how, "--prefix", "{made}", "--cache", "{packages}/npm", *options]
    return Project(
        "Express",
        {
            "language": "JavaScript",
            "runtime": "none",
            "programs": ["node", "npm"],
            "version": f"express {wanted['express']}",
            "make": [["cp", "-R", ".", "{made}"], npm],
            "source": main,
            "command": _by_environment(["{node}", f"{{made}}/{main}"]),
            "protocols": ["http/1.0", "http/1.1"],
        },
        assumed=["It listens on the port of the variable PORT.", f"npm {how} gets its packages."],
    )


def _django(folder: Path) -> Project | None:
    manage = folder / "manage.py"
    if not manage.is_file() or "django" not in _text(manage).lower():
        return None
    for path in _files(folder, ".py"):
        if path.name == "wsgi.py" and "get_wsgi_application" in _text(path):
            application = f"{_module(folder, path)}:application"
            allowed = "Its ALLOWED_HOSTS contain the address that clients connect to."
            return _wsgi("Django", folder, path, application, [allowed])
    raise BadInput(f"{folder} has a manage.py, but no wsgi.py that calls get_wsgi_application.")


def _fastapi(folder: Path) -> Project | None:
    if not (found := _assigned(folder, "FastAPI")):
        return None
    path, name = found
    entry = _python("fastapi", folder, path) | {
        "style": "asyncio",
        "command": [
            *("{python}", "-m", "uvicorn", f"{_module(folder, path)}:{name}", "--host", "{host}"),
            *("--port", "{port}", "--backlog", "{backlog}", "--no-access-log"),
        ],
        "protocols": ["http/1.0", "http/1.1"],
    }
    lines, assumed = _requirements(folder, "fastapi", "uvicorn")
    return Project("FastAPI", entry, lines, ["Uvicorn runs it, in one process.", *assumed])


def _flask(folder: Path) -> Project | None:
    if found := _assigned(folder, "Flask"):
        path, name = found
        return _wsgi("Flask", folder, path, f"{_module(folder, path)}:{name}", [])
    for path in _files(folder, ".py"):
        if re.search(r"^def create_app\(", text := _text(path), re.M) and "Flask(" in text:
            return _wsgi("Flask", folder, path, f"{_module(folder, path)}:create_app()", [])
    return None


def _wsgi(kind: str, folder: Path, path: Path, application: str, more: list[str]) -> Project:
    entry = _python(kind.lower(), folder, path) | {
        "style": "pre-fork, serial",
        "command": [
            *("{python}", "-m", "gunicorn", "--bind", "{host}:{port}", "--backlog", "{backlog}"),
            application,
        ],
        "protocols": ["http/1.0"],
    }
    lines, assumed = _requirements(folder, kind.lower(), "gunicorn")
    return Project(kind, entry, lines, ["Gunicorn runs it, in one process.", *assumed, *more])


def _python(framework: str, folder: Path, path: Path) -> dict[str, Any]:
    return {
        "requirements": "requirements.txt",
        "framework": framework,
        "source": path.relative_to(folder).as_posix(),
    }


def _requirements(folder: Path, framework: str, server: str) -> tuple[list[str], list[str]]:
    """Return the packages that it lists, with the framework and the server, and what was added."""
    lines: list[str] = []
    listed, project = folder / "requirements.txt", folder / "pyproject.toml"
    if listed.is_file():
        lines = read_text(listed, what="requirements").splitlines()
        where = listed.name
    elif project.is_file():
        import tomllib  # noqa: PLC0415

        try:
            data = tomllib.loads(read_text(project, what="project"))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{project} is no TOML: {error}.") from None
        lines = list(map(str, data.get("project", {}).get("dependencies", [])))
        where = project.name
    else:
        where = "its files"
    found = (re.match(r"[\w.-]+", line.strip()) for line in lines)
    there = {normalised(name[0]) for name in found if name}
    added = [name for name in (framework, server) if name not in there]
    told = f"The newest {' and '.join(added)}, missing in {where}, will do."
    return [*lines, *added], [told] if added else []


def _assigned(folder: Path, kind: str) -> tuple[Path, str] | None:
    """Return where an application of that class is made, and its name."""
    pattern = re.compile(rf"^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?{kind}\(", re.MULTILINE)
    for path in _files(folder, ".py"):
        if found := pattern.search(_text(path)):
            return path, found[1]
    return None


def _by_environment(argv: list[str]) -> list[str]:
    return ["/usr/bin/env", "HOST={host}", "PORT={port}", *argv]


def _fixed(main: Path) -> BadInput:
    return BadInput(
        f"{main} listens on a port of its own; let it read the variable PORT, so that it can be"
        " told."
    )


def _module(folder: Path, path: Path) -> str:
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


def _files(folder: Path, *endings: str) -> Iterator[Path]:
    """Return its files, the nearest first; no tests."""
    found = 0
    for depth in range(_DEEPEST):
        for path in sorted(folder.glob("*/" * depth + "*")):
            parts = path.relative_to(folder).parts
            other = any(Path(part).match(each) for part in parts for each in SKIPPED)
            if other or path.suffix not in endings or parts[0] in ("test", "tests"):
                continue
            found += 1
            if found > _MOST_FILES:
                return
            yield path


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")[:200_000]
    except OSError:
        return ""
