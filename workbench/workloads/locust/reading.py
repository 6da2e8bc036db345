"""What a locustfile says of itself before it runs: nothing of it is executed here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from workbench import paths
from workbench.errors import why
from workbench.messages.problems import Problem, problem

OTHER = "other requests"
"""Label of those whose name is not a literal."""
MOST_NAMES = 20
_METHODS = {"get", "post", "put", "patch", "delete", "head", "options"}


def located(path: str) -> Path:
    """Return the place of a locustfile; a name without a folder may be one that is shipped."""
    shipped = paths.RESOURCES / "locust" / path
    mine = paths.expanded(path)
    return shipped if not mine.exists() and Path(path).name == path and shipped.exists() else mine


def problems(path: str, *, shapes: bool = False) -> Iterator[Problem]:
    """Return why a locustfile cannot be run. `shapes`: whether a `LoadTestShape` is of use."""
    if not path:
        yield problem("locustfile-missing")
        return
    try:
        tree = _parsed(located(path))
    except OSError as error:
        yield problem("locustfile-missing", path=path, said=why(error))
    except UnicodeDecodeError:
        yield problem("locustfile-missing", path=path, said="it is not text in UTF-8")
    except (SyntaxError, ValueError) as error:
        line, said = getattr(error, "lineno", 0) or 0, getattr(error, "msg", str(error))
        yield problem("locustfile-invalid", path=path, at_line=line, said=said)
    else:
        if not shapes and (given := _shape(tree)):
            yield problem("load-shape-given", path=path, at_line=given.lineno, name=given.name)


def shape(path: str) -> str | None:
    """Return the name of its `LoadTestShape`; None: it has none."""
    found = _shape(_parsed(located(path)))
    return found.name if found else None


def _shape(tree: ast.Module) -> ast.ClassDef | None:
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return next((each for each in classes if "LoadTestShape" in map(_last, each.bases)), None)


def users(path: str) -> dict[str, list[str]]:
    """Return decorated tasks by user: {"Shopper": ["browse (3)", "buy"]}. Empty: unknown."""
    tasks = {each.name: [*_tasks(each)] for each in _nodes(path) if isinstance(each, ast.ClassDef)}
    return {name: found for name, found in tasks.items() if found}


def _tasks(user: ast.ClassDef) -> Iterator[str]:
    for node in user.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and _last(mark.func) == "task":
                weights = [ast.unparse(each) for each in mark.args]
                yield f"{node.name} ({weights[0]})" if weights else node.name
            elif _last(mark) == "task":
                yield node.name


def requests(path: str) -> list[str]:
    """Return its requests, such as "GET /cart", and `OTHER` if not literal. Empty: unknown."""
    calls = [node for node in _nodes(path) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    names = dict.fromkeys(name for call in calls if (name := _name(call)) is not None)
    known = [name for name in names if name][:MOST_NAMES]
    return [*known, OTHER] if len(known) < len(names) else known


def _name(call: ast.Call) -> str | None:
    """Return the name of a request; empty: it is not a literal; None: the call is no request."""
    if not isinstance(call.func, ast.Attribute):
        return None
    given = {each.arg: each.value for each in call.keywords if each.arg}
    method, of = call.func.attr, _last(call.func.value)
    if method == "fire" and of in ("request", "request_event"):
        kind, name = _literal(given.get("request_type")), _literal(given.get("name"))
        return f"{kind} {name}" if kind and name else ""
    takes_method = method in ("rest", "rest_") or (of, method) == ("client", "request")
    if not takes_method and not (of == "client" and method in _METHODS):
        return None
    arguments = [*call.args]
    kind = method.upper()
    if takes_method:
        kind = _literal(arguments.pop(0)) if arguments else _literal(given.get("method"))
    first = arguments[0] if arguments else given.get("url", given.get("path"))
    name = _literal(given["name"]) if "name" in given else _literal(first)
    return f"{kind} {name}" if kind and name else ""


def _literal(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _last(node: ast.expr) -> str:
    """Return the last name of a dotted one."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _nodes(path: str) -> list[ast.AST]:
    """Return all of a locustfile; empty: it cannot be read."""
    try:
        return [*ast.walk(_parsed(located(path)))]
    except (OSError, ValueError, SyntaxError):
        return []


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), path.name)
