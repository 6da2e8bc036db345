"""Takes out of ICU's data what Qt's widgets never look up: 32 MB become 4.

Qt's own wheel brings names of languages, currencies, units and zones in 800 locales, dictionaries
for breaking lines of Thai, transliteration and East Asian encodings. Qt asks ICU for collation,
case mapping, encodings and time zones only, and has tables of its own (CLDR) for all else. What is
lost: zones are told by their offset, not by name, and encodings of several bytes are not known.

The data is one object of the library libicudata: a header, a table of names and offsets, and the
items, each on 16 bytes (https://unicode-org.github.io/icu/userguide/icu_data/).
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

KEPT = re.compile(
    r"cnvalias\.icu|\w+\.nrm"
    r"|(pool|res_index|root|supplementalData|likelySubtags|numberingSystems|keyTypeData)\.res"
    r"|(metaZones|timezoneTypes|windowsZones|zoneinfo64)\.res"
    r"|coll/(?!zh|ja|ko|yue).*|zone/(pool|res_index|root)\.res"
)
ONE_BYTE = 10_000
"""An encoding of one byte a character needs no larger table."""

_ALIGNED = 16


class NotIcu(Exception):
    """The file is not what this module knows how to take apart."""


def slim(library: Path) -> bool:
    """Make the library anew with what is kept. False: it stays, for want of a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return False
    data = data_of(library)
    symbol = re.search(rb"icudt\d+_dat", library.read_bytes())
    if symbol is None:
        raise NotIcu(f"{library} names no data.")
    name = symbol[0].decode()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data").write_bytes(slimmed(data))
        source = Path(folder, "data.S")
        source.write_text(
            f'.section .rodata,"a",@progbits\n.globl {name}\n.type {name}, @object\n'
            f'.balign {_ALIGNED}\n{name}:\n.incbin "data"\n.size {name}, . - {name}\n'
            '.section .note.GNU-stack,"",@progbits\n'
        )
        made = Path(folder, library.name)
        options = ["-shared", "-nostdlib", "-Wl,--build-id=none", f"-Wl,-soname,{library.name}"]
        command = [compiler, *options, "-o", made.name, source.name]
        subprocess.run(command, cwd=folder, check=True)
        shutil.copyfile(made, library)
    return True


def data_of(library: Path) -> bytes:
    """The data as it lies in the library."""
    content = library.read_bytes()
    at = -1
    while (at := content.find(b"CmnD", at + 1)) >= 0:
        begin = at - 12
        if begin >= 0 and content[begin + 2 : begin + 4] == b"\xda\x27":
            return content[begin:]
    raise NotIcu(f"{library} holds no data of ICU.")


def items(data: bytes) -> dict[str, bytes]:
    """Name, without the package's prefix -> item. The last may have more behind it."""
    table = struct.unpack_from("<H", data)[0]
    (count,) = struct.unpack_from("<I", data, table)
    offsets = list(struct.iter_unpack("<II", data[table + 4 : table + 4 + 8 * count]))
    found = {}
    for index, (name, begin) in enumerate(offsets):
        end = offsets[index + 1][1] if index + 1 < count else len(data) - table
        full = data[table + name : data.index(b"\0", table + name)].decode()
        found[full.split("/", 1)[1]] = data[table + begin : table + end]
    return found


def slimmed(data: bytes) -> bytes:
    """The same with only the items that are kept, in their order, which is by name."""
    begin = struct.unpack_from("<H", data)[0]
    first_name = begin + struct.unpack_from("<I", data, begin + 4)[0]
    prefix = data[first_name : data.index(b"/", first_name) + 1]
    kept = {name: item for name, item in items(data).items() if wanted(name, len(item))}
    names = b""
    table = b""
    body = b""
    names_at = 4 + 8 * len(kept)
    length = names_at + sum(len(prefix) + len(name) + 1 for name in kept)
    body_at = length + -length % _ALIGNED
    for name, item in kept.items():
        table += struct.pack("<II", names_at + len(names), body_at + len(body))
        names += prefix + name.encode() + b"\0"
        body += item + bytes(-len(item) % _ALIGNED)
    padding = bytes(body_at - length)
    return data[:begin] + struct.pack("<I", len(kept)) + table + names + padding + body


def wanted(name: str, size: int) -> bool:
    """Whether anything that Qt asks for needs this item of `size` bytes."""
    if name.endswith(".cnv"):
        return size <= ONE_BYTE
    return KEPT.fullmatch(name) is not None
