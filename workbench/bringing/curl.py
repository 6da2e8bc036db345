"""Reads curl commands, as browsers copy them and as people write them.

The shell's rules are those of `shlex`; the options are those of curl 8. They are parsed here
because no library that does so is kept up.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from workbench import paths
from workbench.bringing.gathering import FORM, JSON, MULTIPART, Gathering, basic, multipart
from workbench.config.yaml import load_yaml, read_text
from workbench.errors import BadInput
from workbench.workloads.http.requests import MOST_BODY

_AS_HEADERS = {
    "compressed": ("Accept-Encoding", "gzip, deflate, br"),
    "user-agent": ("User-Agent", "{}"),
    "range": ("Range", "bytes={}"),
    "referer": ("Referer", "{}"),
    "oauth2-bearer": ("Authorization", "Bearer {}"),
}
_BODIES = ("data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json")


@cache
def _options() -> tuple[frozenset[str], frozenset[str], dict[str, str]]:
    """Return those with a value, those that are heeded, and the names of short ones."""
    found: Any = load_yaml(paths.RESOURCES / "curl.yaml", what="options")
    return frozenset(found["values"].split()), frozenset(found["heeded"].split()), found["short"]


def is_command(text: str) -> bool:
    """Whether a text is a curl command, or begins with one."""
    return re.match(r"\s*(?:\$\s+)?curl(?:\.exe)?\s", text) is not None


def gather(text: str) -> Gathering:
    """Gather the requests of curl commands. Raises BadInput."""
    gathered = Gathering()
    for words in _commands(text, gathered):
        _Command(gathered).read(words)
    return gathered


def _commands(text: str, gathered: Gathering) -> Iterator[list[str]]:
    """Yield the words of each command after "curl". Raises BadInput."""
    text = re.sub(r"\A\s*\$\s+", "", text)
    if re.search(r'\^"|\^\r?\n', text):  # copied for Windows' cmd
        text = re.sub(r"\^(\r?\n|.)", lambda found: found[1].strip("\r\n"), text)
    lexer = shlex.shlex(_QUOTED.sub(_requoted, text), posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = [*lexer]
    except ValueError as error:
        raise BadInput(f"The curl command is not whole: {str(error).lower()}.") from None
    ends = [place for place, word in enumerate(words) if set(word) <= set(";&|<>")]
    for start, end in zip([-1, *ends], [*ends, len(words)], strict=True):
        match words[start + 1 : end]:
            case ["curl" | "curl.exe", *given]:
                yield given
            case [first, *_]:
                gathered.leave(first, "Other commands, and files for the output")


_QUOTED = re.compile(
    r"""'[^']*'|"((?:\\.|[^"\\])*)"|\$'((?:\\.|[^'\\])*)'|\\\r?\n|\\.|(\n)""", re.DOTALL
)


def _requoted(found: re.Match[str]) -> str:
    """Write what a shell reads and `shlex` does not as it reads it."""
    double, escaped, ended = found.groups()
    if double is not None:
        return shlex.quote(re.sub(r"\\(?:([$`\"\\])|\n)", lambda m: m[1] or "", double))
    if escaped is not None:
        return shlex.quote(re.sub(_ESCAPE, _meant, escaped, flags=re.DOTALL))
    if ended:
        return " ; "
    return " " if found[0].endswith("\n") and found[0][0] == "\\" else found[0]


_ESCAPE = r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))"
_LETTERS = dict(zip("nrtabfve", "\n\r\t\a\b\f\v\x1b", strict=True))


def _meant(found: re.Match[str]) -> str:
    *codes, octal, letter = found.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    code = int(octal, 8) if octal else int(next(filter(None, codes)), 16)
    return chr(code) if code <= sys.maxunicode else "\ufffd"


class _Command:
    """The words of one command after "curl", up to --next."""

    def __init__(self, gathered: Gathering) -> None:
        self._gathered = gathered
        self._values, self._heeded, self._short = _options()
        self._urls: list[str] = []
        self._given: dict[str, list[str]] = {}
        """Values by option, "" of those without one."""
        self._bodies: list[tuple[str, str]] = []
        """Option and value, in their order."""

    def read(self, words: Sequence[str]) -> None:
        """Read the words, and take over their requests. Raises BadInput."""
        waiting = list(words)
        while waiting:
            word = waiting.pop(0)
            if word.startswith("--") and len(word) > 2:
                self._option(word[2:], waiting)
            elif word.startswith("-") and len(word) > 1:
                self._letters(word[1:], waiting)
            else:
                self._urls.append(word)
        self._take()

    def _letters(self, letters: str, waiting: list[str]) -> None:
        while letters:
            name, letters = self._short.get(letters[0], letters[0]), letters[1:]
            if name in self._values and letters:
                waiting.insert(0, letters)
                letters = ""
            self._option(name, waiting)

    def _option(self, name: str, waiting: list[str]) -> None:
        if name == "next":
            self._take()
            self.__init__(self._gathered)  # type: ignore[misc]
            return
        value = waiting.pop(0) if waiting and name in self._values else ""
        if name == "url":
            self._urls.append(value)
        elif name in _BODIES:
            self._bodies.append((name, value))
        else:
            self._given.setdefault(name, []).append(value)
            if name == "insecure":
                self._gathered.insecure = True
            if name not in self._heeded:
                dashes = "--" if len(name) > 1 else "-"
                self._gathered.leave(f"{dashes}{name}", "Options that a plan does not have")

    def _take(self) -> None:
        for url in self._urls:
            parts = re.match(r"(?:(\w+)://)?([^/?#]*)(.*)", url, re.DOTALL)
            assert parts
            if not parts[1] and not re.search(r"[.:]|^localhost$", parts[2]):
                self._gathered.leave(url, "Words that are no address")
            elif re.search(r"[{}[\]]", parts[3]) and "globoff" not in self._given:
                self._gathered.leave(url.partition("?")[0], "Patterns of addresses")
            else:
                self._request(url if parts[1] else f"http://{url}")

    def _request(self, url: str) -> None:
        try:
            body, kind = self._body()
        except BadInput as error:
            self._gathered.leave(url.partition("?")[0], str(error).removesuffix("."))
            return
        method = "POST" if kind else "GET"
        if "get" in self._given and body:
            url, body, kind, method = _with_query(url, body), "", "", "GET"
        for query in self._given.get("url-query", []):
            url = _with_query(url, _urlencoded(query))
        method = "HEAD" if "head" in self._given else method
        method = self._given.get("request", [method])[-1]
        self._gathered.take(method, url, self._headers(kind), body)

    def _headers(self, kind: str) -> list[tuple[str, str]]:
        """Return those that curl sends of itself and by its options; `kind`: of the body."""
        headers = {"user-agent": ("User-Agent", "curl/8"), "accept": ("Accept", "*/*")}
        if kind:
            headers["content-type"] = "Content-Type", kind
        if any(option == "json" for option, _ in self._bodies):
            headers["accept"] = "Accept", JSON
        for option, (name, pattern) in _AS_HEADERS.items():
            for value in self._given.get(option, []):
                headers[name.lower()] = name, pattern.format(value.removesuffix(";auto"))
        for value in self._given.get("user", []):
            login = basic(value if ":" in value else f"{value}:")
            headers["authorization"] = "Authorization", login
        cookies = [value for value in self._given.get("cookie", []) if "=" in value]
        if cookies:
            headers["cookie"] = "Cookie", ";".join(cookies)
        if len(cookies) < len(self._given.get("cookie", [])):
            self._gathered.leave("--cookie", "Files of cookies")
        own: list[tuple[str, str]] = []
        for line in self._given.get("header", []):
            if line.startswith("@"):
                self._gathered.leave(line, "Files of headers")
                continue
            name, colon, value = line.partition(":")
            name = name.strip() if colon else name.removesuffix(";")
            headers.pop(name.lower(), None)
            if value.strip() or not colon:  # "Name;" is a header without a value
                own.append((name, value.strip()))
        return [*(pair for pair in headers.values() if pair[1]), *own]

    def _body(self) -> tuple[str, str]:
        """Return the body, and its type; empty: there is none. Raises BadInput."""
        if "upload-file" in self._given:
            raise BadInput("A file is uploaded")
        fields = [*self._given.get("form", []), *self._given.get("form-string", [])]
        if fields:
            pairs = [tuple(each.split("=", 1)) for each in fields if "=" in each]
            if any(value[:1] in ("@", "<") for value in self._given.get("form", [""])):
                raise BadInput("A file is uploaded")
            return multipart(pairs), MULTIPART  # type: ignore[arg-type]
        if not self._bodies:
            return "", ""
        if all(option == "json" for option, _ in self._bodies):
            return "".join(_content(*each) for each in self._bodies), JSON
        return "&".join(_content(*each) for each in self._bodies), FORM


def _content(option: str, value: str) -> str:
    """Return what an option adds to the body. Raises BadInput."""
    if option == "data-urlencode":
        return _urlencoded(value)
    if option == "data-raw" or not value.startswith("@"):
        return value
    text = _file(value[1:])
    return text if option in ("data-binary", "json") else re.sub(r"[\r\n]", "", text)


def _urlencoded(value: str) -> str:
    found = re.match(r"([^=@]*)([=@]?)(.*)", value, re.DOTALL)
    assert found
    name, sign, content = found.groups()
    if not sign:
        return quote_plus(name, safe="")
    content = _file(content) if sign == "@" else content
    return f"{name}=" * bool(name) + quote_plus(content, safe="")


def _file(name: str) -> str:
    return read_text(Path(name).expanduser(), what="request's body", most_bytes=MOST_BODY)


def _with_query(url: str, query: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{query}"
