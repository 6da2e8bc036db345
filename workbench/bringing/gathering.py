"""What is taken over of a foreign description of requests, without its secrets, and its plan."""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast, get_args
from urllib.parse import quote, urlsplit

import msgspec

from workbench.consent import is_loopback
from workbench.plan.model import Plan
from workbench.plan.reading import of_address, plan_from_data
from workbench.servers.address import PORTS, is_address, parse
from workbench.untrusted import one_line
from workbench.workloads.http import requests as http

Headers: TypeAlias = Sequence[tuple[str, str | http.Secret]]

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
BOUNDARY = "----pongbench"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"

_KEYS = re.compile(
    rf"{http.CREDENTIAL.pattern}|^(?:auth|key|jwt|otp|pass|pin|pwd|sid|sig)$|(?:access|api).?key",
    re.IGNORECASE,
)
"""Names in queries and bodies whose values are taken for secrets: rather too many."""
_TOKEN = re.compile(
    r"(?P<value>eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*"
    r"|\b(?:sk|pk|rk|gh[oprsu]|github_pat|glpat|xox[a-z]|AKIA|AIza)[-_A-Za-z0-9]{16,})"
)
"""A JSON Web Token, and keys that say of which service they are."""
_PATTERNS = (
    re.compile(r'(?:^|(?<=[?&;]))(?P<key>[^=&;?\s"{<]{1,100})=(?P<value>[^&\s]+)'),
    re.compile(
        r'"(?P<key>[^"\\]{1,100})\\?"\s*:\s*\\?"?(?P<value>(?:(?<=")(?:[^"\\]|\\.)+|[-\d.]+))'
    ),
    re.compile(r'name="(?P<key>[^"]+)"\r?\n(?:[^\r\n]+\r?\n)*\r?\n(?P<value>[^\r\n]+)'),
    re.compile(r"<(?P<key>[\w:.-]{1,100})>(?P<value>[^<]+)</"),
    _TOKEN,
)
"""Of a query or a form, JSON, a form in parts, XML, and anything."""


class Login(NamedTuple):
    """A header or a part of the query that is a secret, whatever its name."""

    place: str
    """ "header" or "query"."""
    name: str
    value: str = ""
    scheme: str = ""


@dataclass
class Gathering:
    """The requests of a description. `take` and `leave` are called in their order."""

    unresolved: re.Pattern[str] | None = None
    """Variables of the description that have no value."""
    secrets: dict[str, str] = field(default_factory=dict)
    """Values by name; empty: the description has none, and a user has to give it."""
    left: dict[str, list[str]] = field(default_factory=dict)
    """What could not be taken over, by the reason."""
    insecure: bool = False
    """Whether certificates are not to be checked."""
    taken: dict[tuple[str, bytes], http.Request] = field(default_factory=dict)
    """The requests by their server, "https://shop.example" (empty: the description names none), and
    their content. The weight is how often each occurs, which may be more than a plan can have."""

    @property
    def origins(self) -> dict[str, int]:
        """How many requests there are to each server, those with the most first."""
        counts: Counter[str] = Counter()
        for (origin, _), request in self.taken.items():
            counts[origin] += request.weight
        return dict(counts.most_common())

    def leave(self, what: str, why: str) -> None:
        """Note what is left out, and the reason: words without a full stop."""
        known = self.left.setdefault(why, [])
        if (name := one_line(what)) not in known:
            known.append(name)

    def take(
        self,
        method: str,
        url: str,
        headers: Headers = (),
        body: str = "",
        *,
        name: str = "",
        status: int | None = None,
        logins: Sequence[Login] = (),
    ) -> None:
        """Take over a request, or note why that cannot be. `url`: without a scheme and a host where
        the description names none; `status`: the expected one."""
        what = _plain(method, url)
        try:
            parts = urlsplit(url)
            origin = _origin(url)
        except ValueError:
            return self.leave(what, "Addresses that are not valid")
        if parts.scheme not in ("http", "https", ""):
            known = "WebSocket, a workload of its own" if parts.scheme in ("ws", "wss") else ""
            return self.leave(what, known or f"Addresses of {parts.scheme}:")
        if method not in get_args(http.Method):
            return self.leave(what, "Methods that a plan does not have")
        if parts.username:
            login = f"{parts.username}:{parts.password or ''}"
            headers = [*headers, ("Authorization", basic(login))]
        path = _encoded(parts.path or "/") + (f"?{_encoded(parts.query)}" if parts.query else "")
        for each in logins:
            secret = self.secret(origin, each.name, each.value, each.scheme)
            if each.place == "query":
                path += f"{'&' if '?' in path else '?'}{each.name}={{secret: {secret.secret}}}"
            else:
                headers = [*headers, (each.name, secret)]
        safely = partial(self._without_secrets, origin)
        request = http.Request(
            path=safely(path),
            method=cast(http.Method, method),
            headers=self._headers(origin, parts.netloc.rpartition("@")[2], headers),
            body=safely(body),
            name=one_line(name, 40),
            expect_status=status,
        )
        text = " ".join([request.path, request.body, *map(str, request.headers.values())])
        if self.unresolved and (unknown := self.unresolved.search(text)):
            return self.leave(f"{unknown[0]} in {what}", "Variables without a value")
        if wrong := next(http.problems(request), None):
            return self.leave(f"{what}: {wrong.text()}", "Requests that no plan can have")
        key = origin, msgspec.json.encode(msgspec.structs.replace(request, name=""))
        before = self.taken.get(key)
        weight = before.weight + 1 if before else 1
        self.taken[key] = msgspec.structs.replace(before or request, weight=weight)
        return None

    def secret(self, origin: str, name: str, value: str, scheme: str = "") -> http.Secret:
        """Keep a value under a name that no other value has; `scheme`: in place of a value."""
        if self.unresolved and (variable := self.unresolved.search(value)):
            value, scheme = "", variable[0]
        host = urlsplit(origin).netloc
        base = re.sub(r"[^A-Z0-9]+", "_", f"{host}_{name}_{scheme}".upper()).strip("_")[:90]
        base = base if re.match(r"[A-Z]", base) else f"HOST_{base}"
        chosen, number = base, 1
        while self.secrets.get(chosen, value) != value:
            chosen, number = f"{base}_{number + 1}", number + 1
        self.secrets[chosen] = value
        return http.Secret(chosen)

    def _headers(self, origin: str, host: str, given: Headers) -> dict[str, str | http.Secret]:
        """Return those that a plan states: without what follows from the protocol and the body."""
        found: dict[str, tuple[str, str | http.Secret]] = {}
        for name, value in given:
            key = name.lower()
            if key in http.FRAMING or key.startswith(":") or (key, value) == ("host", host):
                continue
            before = found.get(key, (name, ""))[1]
            if isinstance(value, str) and isinstance(before, str) and before:
                found[key] = name, f"{before}{'; ' if key == 'cookie' else ', '}{value}"
            else:
                found[key] = name, value

        def hides(text: str) -> bool:
            return any(_is_secret(found) for each in _PATTERNS for found in each.finditer(text))

        return {
            name: self.secret(origin, name, value)
            if isinstance(value, str) and (http.CREDENTIAL.search(name) or hides(value))
            else value
            for name, value in found.values()
        }

    def _without_secrets(self, origin: str, text: str) -> str:
        def replaced(found: re.Match[str]) -> str:
            if not _is_secret(found):
                return found[0]
            place = self.secret(origin, _key(found), found["value"]).secret
            start, end = (at - found.start() for at in found.span("value"))
            return f"{found[0][:start]}{{secret: {place}}}{found[0][end:]}"

        for pattern in _PATTERNS:
            text = pattern.sub(replaced, text)
        return text


def _is_secret(found: re.Match[str]) -> bool:
    return bool(_KEYS.search(_key(found))) and not http.PLACE.search(found["value"])


def _key(found: re.Match[str]) -> str:
    return found.groupdict().get("key", "token")


def basic(login: str) -> str:
    """Return the header's value of a user and a password, "name:password"."""
    return f"Basic {base64.b64encode(login.encode()).decode()}"


def multipart(fields: Sequence[tuple[str, str]]) -> str:
    """Return the body of a form in parts, whose type is `MULTIPART`."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields
    ]
    return "".join([*parts, f"--{BOUNDARY}--\r\n"])


def is_here(origin: str) -> bool:
    """Whether a server is on this computer, or not said to be anywhere."""
    return not origin or is_loopback(urlsplit(origin).hostname or "")


def _origin(url: str) -> str:
    """Raises ValueError."""
    parts = urlsplit(url)
    if not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def _encoded(text: str) -> str:
    """Encode what a request line cannot have; secrets' places stay."""
    pattern = rf"{http.PLACE.pattern}|[^\x21-\x7e]+"
    return re.sub(pattern, lambda m: m[0] if m[0][0] == "{" else quote(m[0]), text)


def _plain(method: str, url: str) -> str:
    """Name a request without what may be secret in its address."""
    return f"{method} {_TOKEN.sub('...', re.sub('//[^/@]*@', '//', url.partition('?')[0]))}"


def sentences(gathered: Gathering, most: int = 5) -> Iterator[str]:
    """Describe what was left out, a line for each reason; `most`: names in it."""
    for why, names in gathered.left.items():
        more = len(names) - most
        shown = [*names[:most], f"{more} more"] if more > 1 else names
        text = f"{why}: {', '.join(shown)}" if names != [""] else why
        yield f"{text.removesuffix('.')}."


def plan_of(gathered: Gathering, origin: str, servers: Sequence[str] = (), *, name: str) -> Plan:
    """Return the plan of the requests to one server, which `servers` replace. What it has no room
    for is added to what was left out. Raises BadInput."""
    servers = servers or [origin]
    data = of_address(servers[0] if is_address(servers[0]) else "http://127.0.0.1/")
    plain: list[dict[str, Any]] = msgspec.to_builtins(_requests(gathered, origin))
    if len(plain) == 1:
        own = {key: value for key, value in plain[0].items() if key in http.OF_ONE}
    else:
        own = {"headers": _shared(plain), "requests": plain}
        del data["workload"]["on_close"]
    data["workload"] |= {key: value for key, value in own.items() if value}
    secure = [each for each in servers if is_address(each) and parse(each).tls]
    running = {each: {"insecure": True} for each in secure if gathered.insecure}
    data |= {"name": name, "servers": [*filter(None, servers)], "running": running}
    return plan_from_data(data, name=name)


def _requests(gathered: Gathering, origin: str) -> list[http.Request]:
    """Return the most frequent ones that a plan has room for, with their weights."""
    found = [request for (of, _), request in gathered.taken.items() if of == origin]
    by_weight = sorted(found, key=lambda each: -each.weight)
    kept, others = by_weight[: http.MOST_REQUESTS], by_weight[http.MOST_REQUESTS :]
    for each in others:
        gathered.leave(each.label, f"More than the {http.MOST_REQUESTS} requests of a plan")
    whole = math.gcd(*(each.weight for each in kept))
    scale = max(whole, max((each.weight for each in kept), default=1) / http.MOST_WEIGHT)
    labels = Counter(each.label for each in kept)
    seen: Counter[str] = Counter()
    made = []
    for each in kept:
        seen[each.label] += 1
        name = each.name
        if labels[each.label] > 1:  # results are by it
            name = f"{each.label[:34]} ({seen[each.label]})"
        weight = max(1, round(each.weight / scale))
        made.append(msgspec.structs.replace(each, weight=weight, name=name))
    return made


def _shared(requests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Take the headers out that all have, and return them."""
    first: dict[str, Any] = requests[0].get("headers", {}) if requests else {}
    shared = {
        name: value
        for name, value in first.items()
        if all(each.get("headers", {}).get(name) == value for each in requests)
    }
    for each in requests if shared else ():
        each["headers"] = {k: v for k, v in each["headers"].items() if k not in shared}
    return shared
