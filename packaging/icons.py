"""Icons for Windows and macOS, from the drawing in packaging/linux; Windows' version resource."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

DRAWING = Path(__file__).parent / "linux" / "io.github.pongbench.Pongbench.svg"

ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_SIZES = {"ic11": 32, "ic12": 64, "ic07": 128, "ic08": 256, "ic09": 512, "ic10": 1024}
"""Type -> pixels. There are more types; macOS scales what is not there."""


def for_this_system(folder: Path) -> str | None:
    """The path of the icon a program has here, made in `folder`. None: programs have none."""
    makers = {"win32": ("pongbench.ico", ico), "darwin": ("pongbench.icns", icns)}
    if sys.platform not in makers:
        return None
    name, make = makers[sys.platform]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(make())
    return str(folder / name)


def ico() -> bytes:
    """Of several sizes, each a PNG, which Windows reads since Vista."""
    pictures = [png(size) for size in ICO_SIZES]
    head = struct.pack("<HHH", 0, 1, len(pictures))
    begin = len(head) + 16 * len(pictures)
    for size, picture in zip(ICO_SIZES, pictures, strict=True):
        edge = size % 256  # 0 stands for 256
        head += struct.pack("<BBBBHHII", edge, edge, 0, 0, 1, 32, len(picture), begin)
        begin += len(picture)
    return head + b"".join(pictures)


def icns() -> bytes:
    """Apple's container of the same."""
    body = b""
    for kind, size in ICNS_SIZES.items():
        picture = png(size)
        body += kind.encode() + struct.pack(">I", len(picture) + 8) + picture
    return b"icns" + struct.pack(">I", len(body) + 8) + body


def png(size: int) -> bytes:
    """The drawing as a square of `size` pixels."""
    from PySide6.QtCore import QBuffer, QByteArray  # noqa: PLC0415 - only where icons are made
    from PySide6.QtGui import QImage, QPainter  # noqa: PLC0415
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415

    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(DRAWING)).render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


def version_resource(version: str) -> str:
    """What Windows shows under Properties, Details; in the form PyInstaller reads."""
    numbers = tuple(map(int, f"{version}.0.0.0".split(".")[:4]))
    strings = {
        "CompanyName": "The Pongbench developers",
        "FileDescription": "Pongbench",
        "FileVersion": version,
        "InternalName": "pongbench",
        "LegalCopyright": "MIT licence",
        "OriginalFilename": "pongbench.exe",
        "ProductName": "Pongbench",
        "ProductVersion": version,
    }
    told = ", ".join(f"StringStruct({key!r}, {text!r})" for key, text in strings.items())
    return (
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}),"
        f" kids=[StringFileInfo([StringTable('040904B0', [{told}])]),"
        " VarFileInfo([VarStruct('Translation', [1033, 1200])])])\n"
    )
