"""Where everything in a bundle comes from: licences with their texts, and a bill of materials."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cache
from importlib.metadata import distribution, distributions
from pathlib import Path

from bootstrap import base_python

from app.licences import Component, of_packages
from workbench import __version__

# Debian's notices tell each file's licence; this is what the whole of a library has.
_SYSTEM = {
    "libbz2-1.0": "bzip2-1.0.6",
    "libexpat1": "MIT",
    "libffi8": "MIT",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "liblzma5": "0BSD",
    "libssl3": "Apache-2.0",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libuuid1": "BSD-3-Clause",
    "zlib1g": "Zlib",
}
_ELSEWHERE = {
    "OpenSSL 1": (r"lib(ssl|crypto)-1_1", "OpenSSL", "openssl-1"),
    "OpenSSL": (r"(lib(ssl|crypto)(?!-1_1)|(_ssl|_hashlib)(?!\.pyd))\b", "Apache-2.0", "openssl"),
    "libffi": (r"(lib)?ffi|_ctypes", "MIT", "libffi"),
    "bzip2": (r"(lib)?bz2|_bz2", "bzip2-1.0.6", "bzip2"),
    "XZ Utils (liblzma)": (r"(lib)?lzma|_lzma", "0BSD", "xz"),
    "Expat": (r"(lib)?expat|pyexpat", "MIT", "expat"),
    "zlib": (r"(lib)?z(lib)?[.\d]|python3\d+\.dll", "Zlib", "zlib"),
    "Microsoft's C and C++ runtime": (
        r"vcruntime|msvcp|concrt|ucrtbase|api-ms-win-",
        "Microsoft Visual Studio licence terms",
        "microsoft",
    ),
}
"""Where no distribution tells: what is in files of Python or beside them, by how these begin; its
licence, and that one's text in `licences`."""
_PYTHONS = re.compile(r"(.*\.pyd|(lib)?python[.\d]*\.(dll|exe|dylib)|Python)$")
_COMMON = {"Apache-2.0": "Apache-2.0", "GPL-3.0-or-later": "GPL-3"}
"""Licence -> its text on Debian, where notices only name it."""
_CRATES = """\
Compiled into {package}, whose package names them and brings no texts
along. The source of each is at https://crates.io/crates/NAME, with its
licence; that of OpenSSL at https://openssl-library.org.

"""
_TEXTS = Path(__file__).with_name("licences")
_RULE = f"\n{'=' * 80}\n\n"


def bundled(app: Path) -> list[Component]:
    """What a bundle holds beside packages of Python: libraries and the interpreter of the system
    that built it, PyInstaller's boot loader, and what is compiled into packages."""
    found = [_boot_loader()]
    for package, (libraries, notice) in sorted(system_packages(app).items()):
        version = _asked("dpkg-query", "-W", "-f=${Version}", package)
        licence = "PSF-2.0" if "python" in package else _SYSTEM.get(package, "see its text")
        text = notice
        common = Path("/usr/share/common-licenses", _COMMON.get(licence.split(" WITH")[0], "-"))
        if common.is_file():
            text = f"{notice}\n\n{common.read_text(encoding='utf-8')}"
        version = f"{version} ({', '.join(libraries)})"
        found.append(Component(package, version, licence, text))
    if not system_packages(app):
        names = [path.name.lower() for path in app.joinpath("_internal").rglob("*")]
        for name, (begins, licence, file) in _ELSEWHERE.items():
            if any(re.match(begins, each) for each in names):
                text = (_TEXTS / f"{file}.txt").read_text(encoding="utf-8")
                found.append(Component(name, "", licence, text))
    for package, listed in inside():
        crates = [f"{one['name']} {one['version']}  {_licence(one)}" for one in listed]
        text = _CRATES.format(package=package) + "\n".join(crates)
        most = Counter(map(_licence, listed)).most_common(1)[0][0]
        name = f"{len(crates)} {'parts' if len(crates) > 1 else 'part'} of {package}"
        found.append(Component(name, "", f"{most}, and others", text))
    return found


def inside() -> list[tuple[str, list[dict[str, object]]]]:
    """What packages of Python say is compiled into them: name, components of CycloneDX."""
    found = []
    for package in sorted(distributions(), key=lambda each: each.name.lower()):
        lists = [file for file in package.files or [] if ".dist-info/sboms/" in str(file)]
        listed = []
        for file in lists:
            told = json.loads(Path(str(package.locate_file(file))).read_text(encoding="utf-8"))
            listed += told.get("components", [])
        if listed:
            found.append((package.name, listed))
    return found


def _licence(one: dict[str, object]) -> str:
    # OpenSSL's entry has none; its licence is Apache's since 3.0.
    named = one.get("licenses") or [{"expression": "Apache-2.0"}]
    assert isinstance(named, list)
    return str(named[0].get("expression") or named[0].get("license", {}).get("id", "not named"))


def _boot_loader() -> Component:
    package = distribution("pyinstaller")
    (file,) = (file for file in package.files or [] if file.name == "COPYING.txt")
    text = Path(str(package.locate_file(file))).read_text(encoding="utf-8")
    licence = "GPL-2.0-or-later WITH Bootloader-exception"
    return Component("PyInstaller", f"{package.version} (boot loader)", licence, text)


def kept(parts: list[Component]) -> str:
    """As the about box of a bundle reads it."""
    return json.dumps([asdict(part) for part in parts], indent=1) + "\n"


def licences(parts: Iterable[Component]) -> str:
    """Every part, its version, licence and text; a text that stands there already is named."""
    told = []
    first: dict[str, str] = {}
    for part in parts:
        text = part.text.strip()
        owner = first.setdefault(text, part.name)
        if owner != part.name:
            text = f"The text is the one of {owner}, above."
        told.append(f"{f'{part.name} {part.version}'.strip()}\n{part.licence}\n\n{text}\n")
    return _RULE.join(told)


def strangers(sources: Iterable[str], parts: list[Component], root: Path) -> set[str]:
    """Files among `sources`, from which a bundle was made, that belong to none of its `parts`."""
    owners = of_packages(parts)
    by_path = {
        os.path.normpath(package.locate_file(file)): _plain(package.name)
        for package in distributions()
        for file in package.files or []
    }
    known = tuple(f"{place}{os.sep}" for place in (root, Path(json.__file__).parents[1]))
    found = set()
    for source in sources:
        owner = by_path.get(os.path.normpath(source))
        if owner is None:
            if source.startswith(known) and not source.startswith(f"{sys.prefix}{os.sep}"):
                continue  # ours, or Python's
            name = Path(source).name
            if name.startswith("libpython"):
                continue  # wherever that Python came from
            owner = _package_of(f"*/{name}") or _elsewhere(source)
        if owner is None or _plain(owner) not in owners:
            found.add(source)
    return found


def _elsewhere(source: str) -> str | None:
    """The part that a file beside Python is from, where no distribution has packages."""
    if not os.path.normcase(source).startswith(os.path.normcase(sys.base_prefix)):
        return None
    name = Path(source).name
    known = (part for part, (begins, *_) in _ELSEWHERE.items() if re.match(begins, name, re.I))
    return next(known, "Python" if _PYTHONS.match(name) else None)


def gathered(work: Path) -> set[str]:
    """The files that PyInstaller made a bundle from, as it keeps them in its work directory."""
    found = set()
    for name in ("COLLECT-00.toc", "PYZ-00.toc"):
        told = ast.literal_eval((work / name).read_text(encoding="utf-8"))
        (entries,) = (part for part in told if isinstance(part, list))
        found |= {source for _, source, kind in entries if kind != "SYMLINK" and source != "-"}
    return found


def system_packages(app: Path) -> dict[str, tuple[list[str], str]]:
    """Package of the distribution -> its files in the bundle, and what it says of its rights.

    Empty where the system has no dpkg.
    """
    found: dict[str, tuple[list[str], str]] = {}
    libraries = sorted(app.joinpath("_internal").glob("lib*.so*"))
    # A link leads into a package's own folder.
    files = {path.name: f"*/{path.name}" for path in libraries if not path.is_symlink()}
    if (app / "_internal" / "bin" / "python3").is_file():
        files["python3"] = str(Path(base_python()).resolve())
    for name, pattern in files.items():
        package = _package_of(pattern)
        if package is None:
            continue
        notice = Path("/usr/share/doc", package, "copyright")
        text = notice.read_text(encoding="utf-8", errors="replace") if notice.is_file() else ""
        found.setdefault(package, ([], text))[0].append(name)
    return found


@cache
def _package_of(pattern: str) -> str | None:
    """The package of the distribution that a file is from."""
    named = re.match(r"[^:,\s]+", _asked("dpkg", "-S", pattern))
    return named[0] if named else None


def _asked(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def bill(listed: str, parts: list[Component], app: Path) -> str:
    """CycloneDX: what uv.lock pins (`listed`, as uv exports it), every other part, what packages
    say is compiled into them, and each compiled file with its hash."""
    told = json.loads(listed)
    told.pop("serialNumber", None)
    told["metadata"].pop("timestamp", None)
    told["metadata"]["component"]["version"] = __version__
    by_name = {_plain(one["name"]): one for one in told["components"]}
    for part in parts[1:]:
        one = by_name.get(_plain(part.name))
        if one is None:
            one = {"type": "library", "name": part.name, "version": part.version}
            told["components"].append(one)
        one["licenses"] = [{"license": {"name": part.licence}}]
    for package, crates in inside():
        for crate in crates:
            kept = {key: crate[key] for key in ("type", "name", "version", "purl") if key in crate}
            licence = [{"expression": _licence(crate)}]
            told["components"].append({**kept, "group": f"in {package}", "licenses": licence})
    for path in elves(app):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        told["components"].append(
            {
                "type": "file",
                "name": str(path.relative_to(app)),
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }
        )
    return json.dumps(told, indent=1) + "\n"


def elves(app: Path) -> Iterator[Path]:
    """Every program and library below, in order, links left out."""
    for path in sorted(app.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
