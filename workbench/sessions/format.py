"""The format of documents on disk: JSON that PyYAML reads in the same way."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import yaml
from msgspec import structs

from workbench.analysis.histogram import all_packed, packed
from workbench.converting import convert
from workbench.documents import VERSION, AnyDocument, PointStop, RunStart, Window
from workbench.errors import PongbenchError
from workbench.presentable import presentable
from workbench.sessions.contents import Packed, check

HEADER = "# pongbench session"

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyDocument)

# YAML 1.1 takes these for line breaks, byte order marks or invalid characters.
_AWKWARD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_STRING_OR_EXPONENT = re.compile(rb'"(?:[^"\\]|\\.)*+"|-?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+')
_EXPONENT = re.compile(rb"[0-9][eE][-+]?[0-9]")


UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors raised by decoding."""


def decode(text: bytes | memoryview, packed: Packed | None = None) -> AnyDocument:
    """Return a checked and presentable document. `packed`: see `check`. Raises `UNREADABLE`."""
    return _checked(_decoder.decode(text), packed)


def from_data(data: object) -> AnyDocument:
    """Convert plain data, as `decode` does. Raises msgspec.ValidationError."""
    return _checked(convert(data, AnyDocument))


def _checked(document: AnyDocument, packed: Packed | None = None) -> AnyDocument:
    check(document, packed)
    # Most documents are windows without any text.
    if type(document) is Window and not (document.errors or document.values):
        return document
    return presentable(document)


def encode(document: AnyDocument) -> bytes:
    """Return one JSON object without a newline, safe to print and to put into a session.

    Raises PongbenchError for a document that would not be read back unchanged (with NaN, for
    example), which is a bug in this program.
    """
    back: AnyDocument | None
    try:
        # A round trip: integers where the document has floats get their decimal point.
        back = _decoder.decode(_encoder.encode(document))
    except UnicodeEncodeError:
        # Half a surrogate pair, for example from a file name, is not valid text.
        text = json.dumps(_plain(document), ensure_ascii=False)
        return encode(_decoder.decode(text.encode("utf-8", "replace")))
    except UNREADABLE:
        back = None
    if back is None or (back != document and _plain(back) != _plain(document)):
        raise PongbenchError(
            f"A {type(document).__name__} document holds a value that cannot be written,"
            " such as NaN; please report this as a bug in Pongbench."
        )
    return _yaml_safe(_encoder.encode(_with_version(back)))


def compact(document: AnyDocument) -> AnyDocument:
    """Return a document of any earlier version as it is recorded today."""
    match document:
        case RunStart(v=version) if version < VERSION:
            recorded = document.recorded_v or version
            return structs.replace(document, v=VERSION, recorded_v=recorded)
        case Window():
            latency, service = document.latency, document.service
            return structs.replace(
                document, latency=packed(latency, coarse=True), service=packed(service, coarse=True)
            )
        case PointStop():
            return structs.replace(document, histograms=all_packed(document.histograms))
        case _:
            return document


def encode_line(document: AnyDocument) -> bytes:
    """Return a document as a line of a session, with its newline."""
    return b"--- " + encode(document) + b"\n"


def encode_start(start: RunStart) -> bytes:
    """Return the beginning of a session, including the `---` that completes it."""
    data = msgspec.json.decode(encode(start))
    block = yaml.dump(
        data,
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=None,
        width=100,
    )
    return f"{HEADER}\n---\n{block}".encode()


def _with_version(document: AnyDocument) -> AnyDocument | dict[str, Any]:
    if not isinstance(document, RunStart):
        return document
    # Defaults are omitted, but those of a later version will differ.
    data = _plain(document)
    return {"kind": data.pop("kind"), "v": document.v} | data


def _plain(document: AnyDocument) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(document, str_keys=True)
    return data


def _yaml_safe(line: bytes) -> bytes:
    if not line.isascii() or b"\x7f" in line:
        line = _AWKWARD.sub(lambda m: f"\\u{ord(m[0]):04x}", line.decode()).encode()
    if _EXPONENT.search(line):
        line = _STRING_OR_EXPONENT.sub(lambda m: _with_dot(m[0]), line)
    return line


def _with_dot(token: bytes) -> bytes:
    """Return 1e16 as 1.0e+16, because YAML 1.1 takes the first for text."""
    if token.startswith(b'"'):
        return token
    mantissa, exponent = re.split(rb"[eE]", token)
    dot = b"" if b"." in mantissa else b".0"
    sign = b"" if exponent[:1] in b"+-" else b"+"
    return mantissa + dot + b"e" + sign + exponent


class _Dumper(yaml.SafeDumper):
    """Writes simple words unquoted and quotes everything else, so that every reader takes it for
    text."""


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    bare = re.fullmatch(r"[A-Za-z][\w./+-]*(?: [\w./+()-]+)*", text, re.ASCII)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if bare else '"')


_Dumper.add_representer(str, _text)
# The same list twice is written twice: readers of small files refuse aliases.
_Dumper.ignore_aliases = lambda self, data: True  # type: ignore[method-assign]
