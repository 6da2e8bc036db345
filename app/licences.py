"""The parts of this program: versions, licences and licence texts. No Qt."""

from __future__ import annotations

import json
import os
import platform
import re
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from workbench import __version__
from workbench.paths import RESOURCES
from workbench.servers.requirements import normalised

TEXTS = RESOURCES / "licences"
"""Texts that packages should contain and do not."""
BUNDLED = TEXTS / "bundled.json"
"""In a bundle: the components that are no Python packages; written by the build."""

_FILE = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
_RESOURCES = {
    "Inter": ("typeface", "OFL-1.1", "fonts/Inter-LICENSE.txt"),
    "JetBrains Mono": ("typeface", "OFL-1.1", "fonts/JetBrainsMono-LICENSE.txt"),
    "Lucide": ("icons", "ISC", "icons/LICENSE.txt"),
    "uPlot": ("charts of HTML pages", "MIT", "report/uplot/LICENSE"),
    "libev": ("in gevent", "BSD-2-Clause OR GPL-2.0-or-later", "licences/libev.txt"),
    "libyaml": ("in PyYAML", "MIT", "licences/libyaml.txt"),
}
_FIRST = ("pyside6-essentials", "shiboken6", "pyqtgraph", "asyncssh", "gevent")
_UNDER_LGPL = ("pyside6-essentials", "shiboken6")
_QT_NOTE = """\
Qt and its binding for Python (PySide6, with shiboken6) are used under the
GNU Lesser General Public License 3.0, which adds to the General Public
License 3.0; both texts stand below. The libraries are files of their own
(in PySide6/Qt, PySide6 and shiboken6 below the program) and may be
replaced by others of the same version. Their sources are at
https://download.qt.io/official_releases/ (qt and QtForPython). What Qt
itself contains is listed at
https://doc.qt.io/qt-6/licenses-used-in-qt.html.
"""
_NO_TEXT = "Its package contains no licence text. {licence}: see https://spdx.org/licenses/."


@dataclass(frozen=True)
class Component:
    """One part, as installed here."""

    name: str
    version: str
    licence: str
    """The name of the licence, as its authors write it."""
    text: str
    """The text of all its licence files."""


def components() -> list[Component]:
    """Return all parts that ship with the program, its own first. Reads some hundred files."""
    packages: dict[str, Component] = {}
    _collect("pongbench", packages)
    # Qt ships in the wheel of its binding and has the same version.
    binding = packages.get(_FIRST[0])
    qt = [Component("Qt", binding.version, "LGPL-3.0-only", _lgpl())] if binding else []
    first = [packages.pop(name) for name in _FIRST if name in packages]
    inside = [
        Component(name, what, licence, (RESOURCES / file).read_text("utf-8", errors="replace"))
        for name, (what, licence, file) in _RESOURCES.items()
    ]
    rest = [packages[name] for name in sorted(packages)]
    bundled = json.loads(BUNDLED.read_text("utf-8")) if BUNDLED.is_file() else []
    others = [Component(**part) for part in bundled]
    return [_own(), _python(), *qt, *first, *inside, *rest, *others]


def of_packages(parts: list[Component]) -> set[str]:
    """Return the names of `parts` as Python packages."""
    return {normalised(part.name) for part in parts}


def _collect(name: str, found: dict[str, Component]) -> None:
    """Collect the requirements of a package, direct and indirect, that are installed here."""
    try:
        requirements = distribution(name).requires or []
    except PackageNotFoundError:
        return
    for requirement in requirements:
        match = re.match(r"[\w.-]+", requirement)
        wanted = normalised(match[0]) if match else ""
        if not wanted or wanted in found:
            continue
        if "extra ==" in requirement and "bcrypt" not in requirement:
            continue
        try:
            found[wanted] = _component(distribution(wanted))
        except PackageNotFoundError:
            continue
        _collect(wanted, found)


def _component(package: Distribution) -> Component:
    about = package.metadata
    licence = about.get("License-Expression") or (about.get("License") or "").split("\n")[0]
    if not licence:
        classifiers = about.get_all("Classifier") or []
        named = [c.rsplit(" :: ", 1)[-1] for c in classifiers if c.startswith("License ::")]
        licence = ", ".join(named) or "not named"
    files = [file for file in package.files or [] if _FILE.search(file.name)]
    texts = []
    for file in files:
        path = Path(str(package.locate_file(file)))
        if path.is_file() and path.suffix in ("", ".txt", ".md", ".rst", ".APACHE", ".BSD", ".PSF"):
            texts.append(f"{file.name}\n\n{path.read_text(encoding='utf-8', errors='replace')}")
    if normalised(about["Name"]) in _UNDER_LGPL:
        texts = [_lgpl()]
    text = "\n\n".join(texts) or _NO_TEXT.format(licence=licence)
    return Component(about["Name"], package.version, licence, text)


def _lgpl() -> str:
    texts = [
        (TEXTS / f"{name}.txt").read_text(encoding="utf-8") for name in ("LGPL-3.0", "GPL-3.0")
    ]
    return "\n\n".join([_QT_NOTE, *texts])


def _own() -> Component:
    text = "The licence of Pongbench is the MIT licence; its text is in the file LICENSE."
    if (file := RESOURCES.parent / "LICENSE").is_file():
        text = file.read_text(encoding="utf-8")
    return Component("Pongbench", __version__, "MIT", text)


def _python() -> Component:
    version = f"{platform.python_version()} ({platform.python_implementation()})"
    own = Path(os.__file__).with_name("LICENSE.txt")
    file = own if own.is_file() else TEXTS / "Python.txt"
    return Component("Python", version, "PSF-2.0", file.read_text("utf-8", errors="replace"))
