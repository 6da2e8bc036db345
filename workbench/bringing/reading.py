"""Tells the formats of descriptions of requests apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from workbench.bringing import curl, har, openapi, postman
from workbench.bringing.gathering import Gathering
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
            return har.gather(data)
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
