"""Pictures of every page: `make screenshots [ARGS="1280x800 Live"]`, into out/screenshots.

Empty, running, full, and with 24 servers; dark and light; on screens of several sizes, and in the
smallest window. The presentation on the small screen of a projector and on a large one. What is
seen is made up (tests/synthetic.py, tests/furniture.py), but for the catalogue. ARGS names sizes
and what pictures begin with; of which none is named, all are made. `make pictures` makes those of
the README, into docs/.
"""

# ruff: noqa: E402

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "out" / "screenshots"
sys.path.insert(0, str(ROOT))

from PySide6.QtWidgets import QApplication

from app import stylesheet, theme
from app.log import LogBook
from tests.readme_pictures import ReadmePictures
from tests.studio import Projector, Studio

SIZES = {
    "1280x800": (1280, 800, 1.0, Studio),
    "1440x900": (1440, 900, 1.0, Studio),
    "1920x1080": (1920, 1080, 1.0, Studio),
    "3840x2160": (3840, 2160, 1.0, Studio),
    "960x620": (960, 620, 1.0, Studio),
    "1280x800@2": (1280, 800, 2.0, Studio),
    "1280x800-150": (853, 533, 1.5, Studio),
    "1280x800-200": (640, 400, 2.0, Studio),
    "1024x768-100": (1024, 768, 1.0, Studio),
    "1024x768-150": (682, 512, 1.5, Studio),
    "1024x768-200": (512, 384, 2.0, Studio),
    "1024x768": (1024, 768, 1.0, Projector),
    "1920x1080p": (1920, 1080, 1.0, Projector),
    "3840x2160p": (3840, 2160, 1.0, Projector),
    "1920x1080@2": (1920, 1080, 2.0, Projector),
    "readme": (1440, 900, 1.0, ReadmePictures),
}
"""In pixels of the interface, and how many of the screen's are one of them. A name with a
percentage has the size of the screen, and that of text.
"""


def main() -> int:
    wanted = sys.argv[1:]
    sizes = [size for size in SIZES if size in wanted] or [s for s in SIZES if s != "readme"]
    pages = [word for word in wanted if word not in SIZES]
    OUT.mkdir(parents=True, exist_ok=True)
    for size in sizes:
        width, height, ratio, _ = SIZES[size]
        wide, high = int(width * ratio), int(height * ratio)
        screen = {"x": 0, "y": 0, "width": wide, "height": high, "dpr": 1}
        screen |= {"name": size, "logicalDpi": 96, "logicalBaseDpi": 96}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "screen.json")
            file.write_text(json.dumps({"screens": [screen]}))
            env = {
                **os.environ,
                "QT_QPA_PLATFORM": f"offscreen:configfile={file}",
                "QT_SCALE_FACTOR": str(ratio),
                "QT_LOGGING_RULES": "*.warning=false",
                "HOME": folder,
                "PONGBENCH_HOME": folder,
                "PONGBENCH_SHOOT": size,
            }
            code = subprocess.call([sys.executable, __file__, *pages], env=env)
            if code:
                return code
    print(f"{len(list(OUT.glob('*.png')))} pictures in {OUT}")
    return 0


def shoot(size: str, pages: list[str]) -> None:
    """In a process with a screen of its own."""
    app = QApplication(["pongbench", *stylesheet.FUSION])
    book = LogBook()
    book.install()
    home = os.environ["PONGBENCH_HOME"]
    width, height, _, kind = SIZES[size]
    for chosen in (theme.DARK, theme.LIGHT):
        os.environ["PONGBENCH_HOME"] = str(Path(home, chosen.name))  # empty again
        stylesheet.apply(app, chosen)
        studio = kind(app, chosen, book, (width, height))
        studio.camera.aim(OUT, f"{chosen.name}-{size}", pages)
        studio.shoot()
        studio.close()


if __name__ == "__main__":
    shooting = os.environ.get("PONGBENCH_SHOOT")
    if shooting:
        shoot(shooting, sys.argv[1:])
    else:
        raise SystemExit(main())
