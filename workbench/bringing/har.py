"""Reads HAR files, which browsers and proxies write of what they requested.

Only what is used is decoded: the bodies of replies, which are most of such a file, are passed over.
"""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec

from workbench.bringing.gathering import FORM, MULTIPART, Gathering, multipart


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


class _Har(msgspec.Struct):
    log: _Log


def gather(data: bytes) -> Gathering:
    """Gather the requests of a HAR. Raises msgspec.MsgspecError."""
    gathered = Gathering()
    for entry in msgspec.json.decode(data, type=_Har).log.entries:
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
