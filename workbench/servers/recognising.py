"""What a folder with somebody's project is, and how it is run as a server here.

A Procfile says how; otherwise Flask, Django, FastAPI, Node.js, Go, Rust and a script of
pyproject.toml are recognised by their files. Nothing of them is run.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.config.yaml import read_text
from workbench.errors import BadInput
from workbench.servers.requirements import normalised
from workbench.uv import uv_binary

SKIPPED = (".*", "__pycache__", "node_modules", "venv", "env", "site-packages")
"""Patterns of files and folders that belong to no project's own code."""
_DEEPEST = 4
_MOST_FILES = 400
_BY_PORT = "It listens on the port of the variable PORT."


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


class NoCommand(BadInput):
    """Nothing says how the project is started."""


def recognise(folder: Path, command: str = "") -> Project:
    """Return what a folder contains. `command`: how it is started; empty: as its files say. Raises
    NoCommand when they do not, BadInput when it listens where nobody can tell it to."""
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}; give that of a project.")
    if command:
        return _started(folder, command, "its command")
    for find in (_procfile, _go, _node, _django, _fastapi, _flask, _rust, _script):
        if project := find(folder):
            reply = "GET / is answered with 200 and Pong!; if not, say what in `reply`."
            closes = "It closes no connection that clients keep; change `protocols` if it does."
            alive = [closes] if "http/1.1" in project.entry["protocols"] else []
            entry = {"family": "hello", **project.entry, "closes_first": "server"}
            return replace(project, entry=entry, assumed=[*project.assumed, *alive, reply])
    raise NoCommand(
        f"{folder} has no Procfile, and is no project of Flask, Django, FastAPI, Node.js, Go or"
        " Rust, as far as its files show; begin with `pongbench catalogue new NAME`."
    )


def _procfile(folder: Path) -> Project | None:
    found = re.search(r"^web:(.+)$", _text(folder / "Procfile"), re.MULTILINE)
    return _started(folder, found[1], "its Procfile") if found else None


def _started(folder: Path, command: str, where: str) -> Project:
    kind, entry, prefix, lines = _built(folder)
    argv = _argv(folder, command, where, prefix)
    of_kinds = ("pyproject.toml", "requirements.txt", "package.json", "go.mod", "Cargo.toml")
    words = (*shlex.split(command), "Procfile", *of_kinds)
    named = (word for word in words if (folder / word).is_file())
    entry |= {
        "family": "hello",
        "command": argv,
        "protocols": ["http/1.0"],
        "source": next(named, ""),
    }
    return Project(kind, entry, lines, [f"{where.capitalize()} says how it is started."])


def _built(folder: Path) -> tuple[str, dict[str, Any], str, list[str]]:
    """Return a project's kind, how it is built, as keys of `server.yaml`, where its programs then
    are, and its requirements."""
    if (folder / "go.mod").is_file():
        go = {**_GO, "make": [_go_build(folder, _go_main(folder))]}
        return "Go", go, "{made}/server", []
    if (folder / "Cargo.toml").is_file():
        return "Rust", {**_RUST}, "{made}/bin/", []
    if (folder / "package.json").is_file():
        return "Node.js", {**_NODE, "make": _npm(folder)}, "{made}/", []
    lines = _listed(folder)[0]
    required = {"requirements": "requirements.txt"} if lines else {}
    return "Python", {**required, "env": _import_path(folder)}, "{venv}/bin/", lines


_SHELL = re.compile(r"[|&;<>`$]")


def _argv(folder: Path, command: str, where: str, prefix: str) -> list[str]:
    """Return a command's arguments, with placeholders. No shell reads it. Raises BadInput."""
    text = re.sub(
        r"\$\{?(PORT|HOST)\b(?::-[^}]*)?\}?", lambda name: f"{{{name[1].lower()}}}", command
    )
    text = text.replace("0.0.0.0", "{host}")
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words or _SHELL.search(text):
        raise BadInput(
            f"{command.strip()!r} of {where} needs a shell; give a command without one, in which"
            " {port} stands for the port."
        )
    if words[0] == "npm" and words[1:2] in (["start"], ["run"]):
        name = words[-1]
        scripts = _package(folder).get("scripts", {})
        if name not in scripts or str(scripts[name]).startswith("npm "):
            raise BadInput(f"{folder / 'package.json'} has no script {name!r}.")
        return _argv(folder, str(scripts[name]), "package.json", prefix)
    if words[:2] in (["uv", "run"], ["poetry", "run"], ["pipenv", "run"]):
        words = words[2:]
    first = next((n for n, word in enumerate(words) if not re.match(r"\w+=", word)), 0)
    words[first:] = _program(words[first:], prefix, folder)
    if not any("{port}" in word for word in words):
        return _by_environment(words)
    return ["/usr/bin/env", *words] if first else words


def _program(words: list[str], prefix: str, folder: Path) -> list[str]:
    name, *rest = words
    if "{" in name or name.startswith("/"):
        return words
    if prefix == "{venv}/bin/":
        python = re.fullmatch(r"python[\d.]*", name)
        own = (folder / name).is_file()
        return [name if own else "{python}" if python else prefix + name, *rest]
    if prefix == "{made}/":
        return ["{node}", *(prefix + each if (folder / each).is_file() else each for each in rest)]
    return [prefix + Path(name).name if prefix.endswith("/") else prefix, *rest]


def _go(folder: Path) -> Project | None:
    if not (folder / "go.mod").is_file():
        return None
    main = _go_main(folder)
    text = "\n".join(map(_text, main.parent.glob("*.go")))
    argv, how = _go_address(text, main.relative_to(folder))
    entry = {
        **_GO,
        "framework": "go",
        "make": [_go_build(folder, main)],
        "source": main.relative_to(folder).as_posix(),
        "command": argv,
        "protocols": ["http/1.0", "http/1.1"],
    }
    return Project("Go", entry, assumed=[how])


_GO = {"language": "Go", "runtime": "none", "programs": ["go"]}


def _go_main(folder: Path) -> Path:
    files = _files(folder, ".go")
    mains = (each for each in files if re.search(r"^func main\(", _text(each), re.M))
    if main := next(mains, None):
        return main
    raise BadInput(f"{folder} has a go.mod, but no `func main()`.")


def _go_build(folder: Path, main: Path) -> list[str]:
    package = "./" + main.parent.relative_to(folder).as_posix().removeprefix(".")
    return ["{go}", "build", "-o", "{made}/server", package.rstrip("/") or "."]


def _go_address(text: str, main: Path) -> tuple[list[str], str]:
    """Return the command, and how the server is told where to listen."""
    server = "{made}/server"
    for kind, value in (("addr|address|listen|bind|http", "{host}:{port}"), ("port", "{port}")):
        if found := re.search(rf'flag\.\w+\((?:&\w+, *)?"((?:{kind}))"', text):
            return [server, f"-{found[1]}", value], f"-{found[1]} says where it listens."
    if re.search(r'os\.(?:Getenv|LookupEnv)\("PORT"\)', text):
        return _by_environment([server]), _BY_PORT
    if "os.Args" in text:
        return [server, "{host}", "{port}", "{backlog}"], "Its arguments are host, port, backlog."
    raise _fixed(main)


_RUST = {
    "language": "Rust",
    "runtime": "none",
    "programs": ["cargo"],
    "make": [["{cargo}", "install", "--locked", "--path", ".", "--root", "{made}"]],
}


def _rust(folder: Path) -> Project | None:
    if not (folder / "Cargo.toml").is_file():
        return None
    cargo = _toml(folder / "Cargo.toml")
    programs = [each.get("name") for each in cargo.get("bin", []) if isinstance(each, dict)]
    name = str([*programs, cargo.get("package", {}).get("name", "")][0])
    main = next((each for each in _files(folder, ".rs") if each.name == "main.rs"), None)
    if main is None or not name:
        raise BadInput(f"{folder} has a Cargo.toml, but no package with a main.rs.")
    if not any('"PORT"' in _text(each) for each in _files(folder, ".rs")):
        raise _fixed(main.relative_to(folder))
    entry = {
        **_RUST,
        "source": main.relative_to(folder).as_posix(),
        "command": _by_environment([f"{{made}}/bin/{name}"]),
        "protocols": ["http/1.0", "http/1.1"],
    }
    return Project("Rust", entry, assumed=[_BY_PORT])


_NODE = {"language": "JavaScript", "runtime": "none", "programs": ["node", "npm"]}


def _npm(folder: Path) -> list[list[str]]:
    how = "ci" if (folder / "package-lock.json").is_file() else "install"
    options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
    npm = ["{npm}", how, "--prefix", "{made}", "--cache", "{packages}/npm", *options]
    return [["cp", "-R", ".", "{made}"], npm]


def _package(folder: Path) -> dict[str, Any]:
    path = folder / "package.json"
    try:
        package = json.loads(read_text(path, what="package"))
    except ValueError:
        raise BadInput(f"{path} is no JSON; npm cannot read it, either.") from None
    return package if isinstance(package, dict) else {}


def _node(folder: Path) -> Project | None:
    path = folder / "package.json"
    if not path.is_file():
        return None
    package = _package(folder)
    started = re.search(r"node\s+(\S+\.[cm]?js)", str(package.get("scripts", {}).get("start", "")))
    names = [started[1] if started else "", str(package.get("main", ""))]
    names += ["server.js", "app.js", "index.js"]
    main = next((name for name in names if name and (folder / name).is_file()), "")
    if not main:
        raise BadInput(f"{path} names no program: give its `start` script as `node FILE`.")
    if not any("process.env.PORT" in _text(each) for each in _files(folder, ".js", ".mjs", ".cjs")):
        raise _fixed(Path(main))
    make, express = _npm(folder), package.get("dependencies", {}).get("express")
    entry = {
        **_NODE,
        **({"version": f"express {express}"} if express else {}),
        "make": make,
        "source": main,
        "command": _by_environment(["{node}", f"{{made}}/{main}"]),
        "protocols": ["http/1.0", "http/1.1"],
    }
    assumed = [_BY_PORT, f"npm {make[1][1]} gets its packages."]
    return Project("Express" if express else "Node.js", entry, assumed=assumed)


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


def _script(folder: Path) -> Project | None:
    """The script of pyproject.toml that has its name, or the only one."""
    path = folder / "pyproject.toml"
    project = _toml(path).get("project", {}) if path.is_file() else {}
    scripts = project.get("scripts", {})
    name = project.get("name") if project.get("name") in scripts else next(iter(scripts), "")
    if not name or (len(scripts) > 1 and name != project.get("name")):
        return None
    module, _, function = str(scripts[name]).partition(":")
    if not any("PORT" in _text(each) for each in _files(folder, ".py")):
        raise _fixed(Path(path.name))
    code = f"import sys; from {module} import {function}; sys.exit({function}())"
    entry = {
        **({"requirements": "requirements.txt"} if _listed(folder)[0] else {}),
        "env": _import_path(folder),
        "source": path.name,
        "command": _by_environment(["{python}", "-c", code]),
        "protocols": ["http/1.0"],
    }
    said = f"Its script {name!r} listens on the port of the variable PORT."
    return Project("Python", entry, _listed(folder)[0], [said])


def _import_path(folder: Path) -> dict[str, str]:
    return {"PYTHONPATH": "src:." if (folder / "src").is_dir() else "."}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path, what="project"))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is no TOML: {error}.") from None


def _listed(folder: Path) -> tuple[list[str], str]:
    """Return the packages that a project in Python lists, and the file that does: of those that are
    pinned the first. Raises BadInput."""
    listed, project = folder / "requirements.txt", folder / "pyproject.toml"
    if (folder / "uv.lock").is_file():
        argv = ["export", "--frozen", "--no-dev", "--no-emit-project", "--no-hashes", "--no-header"]
        done = subprocess.run(
            [uv_binary(), *argv, "--quiet"], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no output"])[-1]
            raise BadInput(f"{folder / 'uv.lock'} cannot be read: {said.rstrip('.')}.")
        lines = (line for line in done.stdout.splitlines() if not line.lstrip().startswith("#"))
        return list(lines), "uv.lock"
    if listed.is_file():
        return read_text(listed, what="requirements").splitlines(), listed.name
    if project.is_file():
        wanted = _toml(project).get("project", {}).get("dependencies", [])
        return list(map(str, wanted)), project.name
    return [], "its files"


def _requirements(folder: Path, framework: str, server: str) -> tuple[list[str], list[str]]:
    """Return the packages that it lists, with the framework and the server, and what was added."""
    lines, where = _listed(folder)
    found = (re.match(r"[\w.-]+", line.strip()) for line in lines)
    there = {normalised(name[0]) for name in found if name}
    added = [name for name in (framework, server) if name not in there]
    told = f"The newest {' and '.join(added)}, missing in {where}, will do."
    return [*lines, *added], [told] if added else []


def _assigned(folder: Path, kind: str) -> tuple[Path, str] | None:
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
