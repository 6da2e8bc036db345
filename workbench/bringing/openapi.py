"""Reads OpenAPI descriptions, versions 2 and 3: the operations that have examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from workbench.bringing.gathering import FORM, Gathering, Login

_METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
_DEEPEST = 12
_NONE: Any = object()
"""In place of an example that there is not."""


def gather(described: Mapping[str, Any]) -> Gathering:
    gathered = Gathering()
    reader = _Reader(described, gathered)
    for path, given in _map(described.get("paths")).items():
        item = reader.resolved(given)
        for method in _METHODS:
            if isinstance(operation := item.get(method), Mapping):
                reader.operation(str(path), method.upper(), item, operation)
    return gathered


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(of: Any, key: str) -> list[Any]:
    found = _map(of).get(key)
    return found if isinstance(found, list) else []


class _Missing(Exception):
    """What has no example."""


class _Reader:
    def __init__(self, described: Mapping[str, Any], gathered: Gathering) -> None:
        self._all = described
        self._gathered = gathered

    def resolved(self, value: Any) -> Mapping[str, Any]:
        """Return a mapping, or the one that its $ref names in this description; empty: none."""
        for _ in range(_DEEPEST):
            reference = _map(value).get("$ref")
            if not isinstance(reference, str):
                break
            where, _, pointer = reference.partition("#/")
            if where:
                self._gathered.leave(where, "References to other files")
            value = None if where else self._all
            for step in pointer.split("/"):
                value = _map(value).get(step.replace("~1", "/").replace("~0", "~"))
        return _map(value)

    def operation(
        self, path: str, method: str, item: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> None:
        url, query, headers = path, [], []
        origin = self._origin(operation, item)
        try:
            for each in self._parameters(item, operation):
                name, value = str(each.get("name")), self._parameter(each)
                if value is _NONE:
                    continue
                match each.get("in"):
                    case "path":
                        url = url.replace(f"{{{name}}}", quote(_text(value), safe=""))
                    case "query":
                        values = value if isinstance(value, list) else [value]
                        query += [(name, _text(one)) for one in values]
                    case "header":
                        headers.append((name, _text(value)))
                    case "cookie":
                        headers.append(("Cookie", f"{name}={_text(value)}"))
            body, kind = self._body(operation)
        except _Missing as missing:
            self._gathered.leave(f"{missing} of {method} {path}", "Operations without an example")
            return
        if kind:
            headers.append(("Content-Type", kind))
        self._gathered.take(
            method,
            f"{origin}{url}{'?' if query else ''}{urlencode(query)}",
            headers,
            body,
            name=str(operation.get("operationId", "")),
            logins=self._logins(operation),
        )

    def _origin(self, *where: Mapping[str, Any]) -> str:
        """Return the server's address without a slash at its end, or the path where it begins."""
        for each in (*where, self._all):
            for server in _list(each, "servers")[:1]:
                url = str(_map(server).get("url", ""))
                for name, variable in _map(_map(server).get("variables")).items():
                    default = _map(variable).get("default", "")
                    url = url.replace(f"{{{name}}}", str(default))
                return url.rstrip("/")
        base = str(self._all.get("basePath", "")).rstrip("/")
        if not (host := self._all.get("host")):
            return base
        schemes = [*map(str, _list(self._all, "schemes")), "https"]
        return f"{schemes[0]}://{host}{base}"

    def _parameters(self, *where: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return those of a path, and in place of those of the same name an operation's."""
        found = [self.resolved(each) for of in where for each in _list(of, "parameters")]
        return [*{(each.get("in"), each.get("name")): each for each in found}.values()]

    def _parameter(self, given: Mapping[str, Any]) -> Any:
        if given.get("in") in ("body", "formData"):
            return _NONE
        schema = given.get("schema") or given
        found = self._example(given, schema)
        if found is _NONE and (given.get("required") or given.get("in") == "path"):
            raise _Missing(given.get("name"))
        return found

    def _body(self, operation: Mapping[str, Any]) -> tuple[str, str]:
        described = self.resolved(operation.get("requestBody"))
        content = _map(described.get("content"))
        if content:
            kind = next((each for each in content if "json" in each), next(iter(content)))
            value = self._example(content[kind], _map(content[kind]).get("schema"))
            if value is _NONE and not described.get("required"):
                return "", ""
            return _written(value, kind)
        fields: dict[str, Any] = {}
        for each in self._parameters(operation):
            if each.get("in") not in ("body", "formData"):
                continue
            value = self._example(each, each.get("schema") or each)
            if value is _NONE and each.get("required"):
                raise _Missing(each.get("name"))
            if value is not _NONE and each["in"] == "body":
                return _written(value, "application/json")
            if value is not _NONE:
                fields[str(each.get("name"))] = value
        return _written(fields, FORM) if fields else ("", "")

    def _example(self, given: Any, schema: Any) -> Any:
        """Return the example of a parameter or a content, else that of its schema."""
        given = _map(given)
        for key in ("example", "x-example"):
            if key in given:
                return given[key]
        for each in _map(given.get("examples")).values():
            if "value" in (found := self.resolved(each)):
                return found["value"]
        return self._of_schema(schema, ())

    def _of_schema(self, schema: Any, within: Sequence[object]) -> Any:
        """`within`: what this schema is a part of, and can have no example of."""
        schema = self.resolved(schema)
        if any(each is schema for each in within):
            return _NONE
        within = [*within, schema]
        for key in ("example", "default", "const"):
            if key in schema:
                return schema[key]
        for key in ("examples", "enum"):
            if found := _list(schema, key):
                return found[0]
        for key in ("oneOf", "anyOf"):
            for each in _list(schema, key)[:1]:
                return self._of_schema(each, within)
        made: dict[str, Any] = {}
        for each in _list(schema, "allOf"):
            part = self._of_schema(each, within)
            made |= part if isinstance(part, dict) else {}
        for name, of in _map(schema.get("properties")).items():
            if (value := self._of_schema(of, within)) is not _NONE:
                made[name] = value
        if "items" in schema and (one := self._of_schema(schema["items"], within)) is not _NONE:
            return [one]
        lacking = set(map(str, _list(schema, "required"))) - set(made)
        return _NONE if lacking or not made else made

    def _logins(self, operation: Mapping[str, Any]) -> list[Login]:
        wanted = _list(operation if "security" in operation else self._all, "security")
        first = _map(wanted[0]) if wanted else {}
        known = _map(_map(self._all.get("components")).get("securitySchemes"))
        known = known or _map(self._all.get("securityDefinitions"))
        found = [(str(name), self.resolved(known.get(name))) for name in first]
        return [
            Login("header", "Cookie", scheme=name)
            if scheme.get("in") == "cookie"
            else Login(str(scheme.get("in")), str(scheme.get("name", "Authorization")), scheme=name)
            for name, scheme in found
        ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _written(value: Any, kind: str) -> tuple[str, str]:
    """Return a body as its type has it. Raises _Missing."""
    if value is _NONE:
        raise _Missing("the body")
    if kind == FORM and isinstance(value, Mapping):
        return urlencode({name: _text(each) for name, each in value.items()}), kind
    if isinstance(value, str) and "json" not in kind:
        return value, kind
    return msgspec.json.encode(value).decode(), kind
