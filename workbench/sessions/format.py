"""How a document looks on disk: JSON that PyYAML reads the same way."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import yaml

from workbench.documents import AnyDocument, RunStart
from workbench.errors import PongbenchError
from workbench.presentable import presentable
from workbench.sessions.contents import check

HEADER = "# pongbench session"

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyDocument)

# YAML 1.1 takes these for line breaks, byte order marks or no text at all.
_AWKWARD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_STRING_OR_EXPONENT = re.compile(rb'"(?:[^"\\]|\\.)*+"|-?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+')
_EXPONENT = re.compile(rb"[0-9][eE][-+]?[0-9]")


UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding raises."""


def decode(line: bytes) -> AnyDocument:
    """Checked and presentable. Raises `UNREADABLE`."""
    return _taken(_decoder.decode(line))


def decode_lines(lines: bytes) -> list[AnyDocument]:
    """One JSON object a line; checked and presentable. Raises `UNREADABLE`."""
    return list(map(_taken, _decoder.decode_lines(lines)))


def from_data(data: object) -> AnyDocument:
    """From plain data, as `decode`. Raises msgspec.ValidationError."""
    return _taken(msgspec.convert(data, AnyDocument))


def _taken(document: AnyDocument) -> AnyDocument:
    check(document)
    return presentable(document)


def encode(document: AnyDocument) -> bytes:
    """One JSON object without a newline, safe to print and to put into a session.

    Raises PongbenchError for a document that would not come back as it was (NaN, for example):
    that is a mistake of this program.
    """
    back: AnyDocument | None
    try:
        # There and back again: whole numbers where the document has floats get their dot.
        back = _decoder.decode(_encoder.encode(document))
    except UnicodeEncodeError:
        # Half a surrogate pair, from a file name for example: no text, and not worth a session.
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


def encode_line(document: AnyDocument) -> bytes:
    """A document as a line of a session, with its newline."""
    return b"--- " + encode(document) + b"\n"


def encode_start(start: RunStart) -> bytes:
    """The beginning of a session, up to and without the `---` that makes it count."""
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
    # A default is left out, but a later version's default will be another one.
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
    """1e16 as 1.0e+16: YAML 1.1 takes the first for text."""
    if token.startswith(b'"'):
        return token
    mantissa, exponent = re.split(rb"[eE]", token)
    dot = b"" if b"." in mantissa else b".0"
    sign = b"" if exponent[:1] in b"+-" else b"+"
    return mantissa + dot + b"e" + sign + exponent


class _Dumper(yaml.SafeDumper):
    """Leaves simple words bare and quotes everything else, so that no reader takes it for more."""


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    bare = re.fullmatch(r"[A-Za-z][\w./+-]*(?: [\w./+()-]+)*", text, re.ASCII)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if bare else '"')


_Dumper.add_representer(str, _text)
# The same list twice is two lists: readers of small files refuse aliases.
_Dumper.ignore_aliases = lambda self, data: True  # type: ignore[method-assign]
