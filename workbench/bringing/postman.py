"""Reads Postman collections, version 2."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from workbench.bringing.gathering import FORM, JSON, MULTIPART, Gathering, Login, basic, multipart

_VARIABLE = re.compile(r"\{\{([^{}]{1,200})\}\}")
_DEEPEST = 20


def gather(collection: Mapping[str, Any]) -> Gathering:
    gathered = Gathering(unresolved=_VARIABLE)
    given = [(each.get("key"), each.get("value")) for each in _maps(collection, "variable")]
    known = {str(key): str(value) for key, value in given if value not in (None, "")}
    _Reader(gathered, known).folder(collection, [], None, 0)
    return gathered


def _maps(of: Any, key: str) -> list[Mapping[str, Any]]:
    """Return the mappings of a list that are not switched off."""
    found = of.get(key) if isinstance(of, Mapping) else None
    every = found if isinstance(found, list) else []
    return [each for each in every if isinstance(each, Mapping) and not each.get("disabled")]


class _Reader:
    def __init__(self, gathered: Gathering, variables: Mapping[str, str]) -> None:
        self._gathered = gathered
        self._variables = variables

    def folder(
        self, folder: Mapping[str, Any], within: Sequence[str], auth: Any, deep: int
    ) -> None:
        """Take over the requests of a folder, or of the collection."""
        auth = folder.get("auth") or auth
        self._leave_scripts(folder, "/".join(within) or "the collection")
        for item in _maps(folder, "item"):
            name = str(item.get("name", ""))
            if "request" in item:
                self._request(item, name, auth)
            elif deep < _DEEPEST:
                self.folder(item, [*within, name], auth, deep + 1)

    def _leave_scripts(self, of: Mapping[str, Any], name: str) -> None:
        for each in _maps(of, "event"):
            self._gathered.leave(f"{each.get('listen', 'script')} of {name}", "Scripts")

    def _request(self, item: Mapping[str, Any], name: str, auth: Any) -> None:
        self._leave_scripts(item, name)
        given = item["request"]
        given = {"url": given} if isinstance(given, str) else given
        request = given if isinstance(given, Mapping) else {}
        headers = self._pairs(request, "header")
        if isinstance(text := request.get("header"), str):
            lines = [line.partition(":") for line in self._filled(text).splitlines()]
            headers = [(name.strip(), value.strip()) for name, _, value in lines if name.strip()]
        if not request.get("url"):
            return self._gathered.leave(name, "Requests without an address")
        url = self._url(request["url"])
        try:
            body, kind = self._body(request.get("body"))
        except ValueError as error:
            return self._gathered.leave(name, str(error))
        if kind and "content-type" not in {key.lower() for key, _ in headers}:
            headers.append(("Content-Type", kind))
        self._gathered.take(
            str(request.get("method", "GET")),
            url,
            headers,
            body,
            name=name,
            logins=self._logins(request.get("auth") or auth),
        )

    def _filled(self, text: Any) -> str:
        """Put in the values of variables, also of those within."""
        filled = str("" if text is None else text)
        for _ in range(5):
            filled = _VARIABLE.sub(lambda m: self._variables.get(m[1].strip(), m[0]), filled)
        return filled

    def _pairs(self, of: Any, key: str) -> list[tuple[str, str]]:
        return [
            (self._filled(each.get("key")), self._filled(each.get("value")))
            for each in _maps(of, key)
        ]

    def _url(self, given: Any) -> str:
        if not isinstance(given, Mapping):
            url = self._filled(given)
        else:
            parts = [given.get(key) or [] for key in ("host", "path")]
            host, path = (each if isinstance(each, list) else [each] for each in parts)
            built = f"{'.'.join(map(str, host))}/{'/'.join(map(str, path))}"
            url = self._filled(given.get("raw") or built)
            # One without a value is left out as other variables are.
            known = {
                f":{key}": quote(value, safe="{}") if value else "{{" + key + "}}"
                for key, value in self._pairs(given, "variable")
            }
            before, mark, query = url.partition("?")
            url = "/".join(known.get(step, step) for step in before.split("/")) + mark + query
        # The address is often a variable that only an environment of Postman knows.
        if _VARIABLE.match(url):
            return _VARIABLE.sub("", url, count=1)
        return url if re.match(r"\w+://", url) else f"http://{url}"

    def _logins(self, auth: Any) -> list[Login]:
        kind = str(auth.get("type", "")) if isinstance(auth, Mapping) else ""
        of = dict(self._pairs(auth, kind))
        match kind:
            case "" | "noauth":
                return []
            case "basic":
                login = f"{of.get('username', '')}:{of.get('password', '')}"
                known = not _VARIABLE.search(login)
                return [Login("header", "Authorization", basic(login) if known else login)]
            case "bearer" | "oauth2":
                token = of.get("token") or of.get("accessToken") or "{{token}}"
                return [Login("header", "Authorization", f"Bearer {token}")]
            case "apikey":
                return [Login(of.get("in", "header"), of.get("key", ""), of.get("value", ""))]
        self._gathered.leave(kind, "Kinds of login")
        return []

    def _body(self, given: Any) -> tuple[str, str]:
        """Return the body and its type. Raises ValueError with the reason."""
        mode = str(given.get("mode", "")) if isinstance(given, Mapping) else ""
        match mode:
            case "":
                return "", ""
            case "raw":
                options = given.get("options") or {}
                text = self._filled(given.get("raw"))
                is_json = options.get("raw", {}).get("language") == "json"
                return text, (JSON if is_json else "text/plain") if text else ""
            case "urlencoded":
                return urlencode(self._pairs(given, mode), safe="{}"), FORM
            case "formdata":
                if any(each.get("type") == "file" for each in _maps(given, mode)):
                    raise ValueError("Requests that upload a file")
                return multipart(self._pairs(given, mode)), MULTIPART
            case "graphql":
                of = given.get(mode) or {}
                variables = self._filled(of.get("variables")) or "{}"
                query = {"query": self._filled(of.get("query"))}
                text = msgspec.json.encode(query).decode()
                return f'{text[:-1]},"variables":{variables}}}', JSON
        raise ValueError("Requests that upload a file")
