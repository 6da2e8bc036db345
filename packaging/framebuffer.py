"""What Xvfb has on its screen: the file it keeps with -fbdir, an XWD."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

from PySide6.QtGui import QImage


def pixels(frame: Path) -> tuple[int, int, bytes]:
    """Width, height and BGRX of an XWD file."""
    data = frame.read_bytes()
    header, _, _, _, width, height = struct.unpack(">6I", data[:24])
    (ncolours,) = struct.unpack(">I", data[76:80])
    begin = header + 12 * ncolours
    return width, height, data[begin : begin + 4 * width * height]


def share(frame: Path, colour: str) -> float:
    """Of a sample of its pixels, 0 to 1, how many have this colour ("#rrggbb")."""
    wanted = bytes.fromhex(colour[1:])[::-1]
    with suppress(OSError, struct.error):
        raw = pixels(frame)[2]
        sample = range(0, len(raw) - 4, 4 * 97)
        return sum(raw[i : i + 3] == wanted for i in sample) / len(sample)
    return 0.0


def keep(frame: Path, path: Path) -> None:
    """As PNG."""
    width, height, raw = pixels(frame)
    image = QImage(raw, width, height, QImage.Format.Format_RGB32)
    image.save(str(path))
