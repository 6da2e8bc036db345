"""Tells the formats of descriptions of requests apart, and reads HAR files.

Browsers and proxies write these of what they requested. Only what is used is decoded: the bodies of
replies, which are most of such a file, are passed over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from workbench.bringing import curl, openapi, postman
from workbench.bringing.gathering import FORM, MULTIPART, Gathering, multipart
from workbench.config.yaml import loads_yaml, read_bytes
from workbench.errors import BadInput

MOST_BYTES = 512 << 20
"""Of a HAR with the bodies of its replies."""
MOST_OTHER = 32 << 20
_MOST_NODES = 1_000_000
_FILE = "HAR, Postman or OpenAPI"
_KINDS = (
    "a curl command, a HAR, a Postman collection (version 2) or an OpenAPI description (2 or 3)"
)


class _Sign(msgspec.Struct):
    """The keys by which the formats are told apart."""

    log: msgspec.Raw = msgspec.Raw()
    item: msgspec.Raw = msgspec.Raw()
    paths: msgspec.Raw = msgspec.Raw()


def read_file(path: Path) -> Gathering:
    """Gather the requests of a file. Raises BadInput."""
    return gather(read_bytes(path, what=_FILE, most_bytes=MOST_BYTES), name=str(path))


def gather(data: bytes, *, name: str) -> Gathering:
    """Gather the requests of a description; `name`: for messages. Raises BadInput, also where it
    has none."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        gathered = _gathered(data, name)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadInput(f"{name} is damaged: {error}; it should be {_KINDS}.") from None
    if not gathered.taken:
        why = "; ".join(f"{why.lower()}: {names[0]}" for why, names in gathered.left.items())
        raise BadInput(f"{name} has no request that a plan can have{f' ({why})' if why else ''}.")
    return gathered


def _gathered(data: bytes, name: str) -> Gathering:
    start = data[:2_000].decode(errors="replace")
    if curl.is_command(start):
        return curl.gather(data.decode())
    if start.lstrip().startswith(("{", "[")):
        sign = msgspec.json.decode(data, type=_Sign)
        if sign.log:
            return _of_har(sign.log)
        if sign.item or sign.paths:
            _see_small(data, name)
            whole: dict[str, Any] = msgspec.json.decode(data)
            return postman.gather(whole) if sign.item else openapi.gather(whole)
    else:
        _see_small(data, name)
        found = loads_yaml(data.decode(), name=name, what="OpenAPI file", most_nodes=_MOST_NODES)
        if isinstance(found, dict) and "paths" in found:
            return openapi.gather(found)
    raise BadInput(f"{name} is none of {_KINDS}.")


def _see_small(data: bytes, name: str) -> None:
    if len(data) > MOST_OTHER:
        raise BadInput(
            f"{name} has {len(data) >> 20:,} MiB; all but a HAR have at most {MOST_OTHER >> 20}."
        )


class _Pair(msgspec.Struct):
    name: str
    value: str = ""


class _Sent(msgspec.Struct, rename={"type": "mimeType"}):
    type: str = ""
    text: str = ""
    params: list[_Pair] = []


class _Request(msgspec.Struct, rename={"version": "httpVersion", "sent": "postData"}):
    method: str
    url: str
    version: str = ""
    headers: list[_Pair] = []
    sent: _Sent | None = None


class _Response(msgspec.Struct, frozen=True):
    status: int = 0


class _Entry(msgspec.Struct):
    request: _Request
    response: _Response = _Response()


class _Log(msgspec.Struct):
    entries: list[_Entry]


def _of_har(log: msgspec.Raw) -> Gathering:
    gathered = Gathering()
    for entry in msgspec.json.decode(log, type=_Log).entries:
        _take(entry, gathered)
    if len(gathered.taken) > 1:
        gathered.leave("", "The order and the pauses; a plan draws its requests by their weights")
    return gathered


def _take(entry: _Entry, gathered: Gathering) -> None:
    request, status = entry.request, entry.response.status
    what = f"{request.method} {request.url.partition('?')[0]}"
    if request.url.startswith(("data:", "blob:", "chrome-extension:", "about:")):
        return gathered.leave(request.url.partition(":")[0], "Requests inside the browser")
    if not status:
        return gathered.leave(what, "Requests that were not answered")
    body, headers = "", [(each.name, each.value) for each in request.headers]
    if sent := request.sent:
        body, params = sent.text, [(each.name, each.value) for each in sent.params]
        if not body and params and sent.type.startswith(FORM):
            body = urlencode(params)
        elif not body and params:
            body = multipart(params)
            headers = [pair for pair in headers if pair[0].lower() != "content-type"]
            headers.append(("Content-Type", MULTIPART))
    if request.version.lower() in ("h2", "h3", "http/2", "http/2.0", "http/3", "http/3.0"):
        gathered.leave("", "HTTP/2 and HTTP/3; the requests are made over HTTP/1.1")
    gathered.take(
        request.method, request.url, headers, body, status=None if 200 <= status < 300 else status
    )
