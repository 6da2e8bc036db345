"""Files of the packages that no test runs: they parse and are consistent."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import gevent
import pytest
import yaml
from PySide6.QtGui import QImageReader

from app import licences
from app.licences import Component, components
from workbench import __version__
from workbench.machines import bundle
from workbench.machines.bundle import agent_sources
from workbench.remote import REMOTE
from workbench.workloads.registry import WORKLOADS

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
sys.path.insert(0, str(PACKAGING))

import agent_lock  # noqa: E402
import icons  # noqa: E402
import provenance  # noqa: E402
import surplus  # noqa: E402
from bootstrap import QT_WINDOW  # noqa: E402

ID = "io.github.pongbench.Pongbench"
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def test_menu_entry_file_type_and_description_refer_to_each_other() -> None:
    desktop = configparser.ConfigParser(interpolation=None)
    desktop.optionxform = str  # type: ignore[assignment,method-assign]
    desktop.read(PACKAGING / "linux" / f"{ID}.desktop")
    entry = desktop["Desktop Entry"]
    metainfo = ET.parse(PACKAGING / "linux" / f"{ID}.metainfo.xml").getroot()
    kind = ET.parse(PACKAGING / "linux" / f"{ID}.mime.xml").getroot().find(f"{MIME}mime-type")
    assert kind is not None
    assert entry["MimeType"] == f"{kind.attrib['type']};"
    assert metainfo.findtext("provides/mediatype") == kind.attrib["type"]
    assert metainfo.findtext("id") == entry["Icon"] == ID
    assert metainfo.findtext("launchable") == f"{ID}.desktop"
    release = metainfo.find("releases/release")
    assert release is not None and release.attrib["version"] == __version__


def test_a_session_is_recognised_by_its_name_or_its_first_line() -> None:
    kind = ET.parse(PACKAGING / "linux" / f"{ID}.mime.xml").getroot().find(f"{MIME}mime-type")
    assert kind is not None
    match, glob = kind.find(f"{MIME}magic/{MIME}match"), kind.find(f"{MIME}glob")
    assert match is not None and glob is not None
    session = ROOT / "resources" / "sessions" / "demo.pong.yaml"
    assert session.match(glob.attrib["pattern"])
    assert session.read_text(encoding="utf-8").startswith(match.attrib["value"])


@pytest.mark.parametrize("tool", ["desktop-file-validate", "appstreamcli", "shellcheck"])
def test_the_standard_checkers_find_nothing(tool: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not here")
    linux = PACKAGING / "linux"
    words: dict[str, list[object]] = {
        "desktop-file-validate": [linux / f"{ID}.desktop"],
        "appstreamcli": ["validate", "--no-net", linux / f"{ID}.metainfo.xml"],
        "shellcheck": [*linux.glob("*.sh"), *(PACKAGING / "macos").glob("*.sh")],
    }
    done = subprocess.run(
        [tool, *map(str, words[tool])], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def workflow() -> dict[str, Any]:
    text = (ROOT / ".github/workflows/package.yml").read_text(encoding="utf-8")
    flow: dict[str, Any] = yaml.safe_load(text)
    return flow


def test_the_workflow_pins_its_actions_and_signs_what_it_builds() -> None:
    flow = workflow()
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    (uv,) = [package["version"] for package in lock["package"] if package["name"] == "uv"]
    assert flow["permissions"] == {}
    for job in flow["jobs"].values():
        may = {"contents": "read", "id-token": "write", "attestations": "write"}
        assert job["permissions"] == may
        used = {step["uses"].partition("@")[0]: step for step in job["steps"] if "uses" in step}
        assert all(re.search(r"@[0-9a-f]{40}$", step["uses"]) for step in used.values())
        assert used["actions/checkout"]["with"] == {"persist-credentials": False}
        if "astral-sh/setup-uv" in used:
            assert used["astral-sh/setup-uv"]["with"]["version"] == uv
        kept = used["actions/upload-artifact"]["with"]["path"].split()
        signed = used["actions/attest-build-provenance"]["with"]["subject-path"].split()
        assert kept == [*signed, "dist/SHA256SUMS"]


def test_the_workflow_builds_tests_and_keeps_every_system() -> None:
    flow = workflow()
    assert set(flow["jobs"]) == {"linux", "windows", "macos"}
    for job in flow["jobs"].values():
        steps = [str(step.get("run", "")) + str(step.get("uses", "")) for step in job["steps"]]
        assert any("--selftest" in step for step in steps)
        assert any("upload-artifact" in step for step in steps)
    named = {
        path
        for job in flow["jobs"].values()
        for step in job["steps"]
        for path in re.findall(r"packaging/[\w./]+", str(step.get("run", "")))
    }
    assert named
    assert all((ROOT / path).is_file() for path in named)


@pytest.mark.parametrize(
    ("make", "kind", "sizes"),
    [(icons.ico, b"ico", icons.ICO_SIZES), (icons.icns, b"icns", icons.ICNS_SIZES.values())],
)
def test_icons_of_every_size_are_drawn(
    tmp_path: Path, make: object, kind: bytes, sizes: object
) -> None:
    assert callable(make)
    (tmp_path / "icon").write_bytes(make())
    reader = QImageReader(str(tmp_path / "icon"), kind)
    found = {}
    for number in range(reader.imageCount()):
        reader.jumpToImage(number)
        image = reader.read()
        assert not image.isNull(), reader.errorString()
        found[image.width()] = image.pixelColor(image.width() // 2, image.height() // 8).name()
    assert set(found) <= set(sizes) and len(found) >= len(set(sizes)) - 1  # type: ignore[call-overload]
    assert set(found.values()) == {"#131920"}


@pytest.mark.skipif(not shutil.which("makensis"), reason="no makensis here")
def test_the_installer_for_windows_compiles(tmp_path: Path) -> None:
    (tmp_path / "app" / "deep").mkdir(parents=True)
    (tmp_path / "app" / "pongbench.exe").write_bytes(b"MZ")
    (tmp_path / "app" / "deep" / "file").write_text("x")
    (tmp_path / "pongbench.ico").write_bytes(icons.ico())
    options = {
        "VERSION": __version__,
        "APP": tmp_path / "app",
        "OUT": tmp_path / "pongbench-windows-x86_64.exe",
        "ICON": tmp_path / "pongbench.ico",
    }
    script = PACKAGING / "windows" / "pongbench.nsi"
    words = ["-WX", *(f"-D{name}={value}" for name, value in options.items()), str(script)]
    done = subprocess.run(["makensis", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert (tmp_path / "pongbench-windows-x86_64.exe").read_bytes().startswith(b"MZ")


def test_windows_gets_the_version() -> None:
    reported = icons.version_resource("1.22.3")
    assert "filevers=(1, 22, 3, 0)" in reported
    compile(reported, "version.txt", "eval")


def test_modules_left_out_are_not_needed_by_the_window() -> None:
    left_out = (
        "PySide6/Qt/plugins/platforms/libqeglfs.so",
        "PySide6/Qt/translations/qt_de.qm",
        "PySide6/Qt/lib/libQt6Quick.so.6",
    )
    needed = (
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforms/libqwayland.so",
        "PySide6/Qt/plugins/platforms/libqoffscreen.so",
        "PySide6/Qt/plugins/platforms/qwindows.dll",
        "PySide6/Qt/plugins/imageformats/libqsvg.so",
        "PySide6/Qt/plugins/wayland-shell-integration/libxdg-shell.so",
        "PySide6/Qt/lib/libQt6DBus.so.6",
        "PySide6/Qt/lib/libQt6OpenGL.so.6",
        "PySide6/Qt/lib/libQt6Svg.so.6",
    )
    assert all(surplus.SURPLUS.search(name) for name in left_out)
    assert not any(surplus.SURPLUS.search(name) for name in needed)
    for lexer in ("python", "go", "javascript", "_mapping"):
        assert not surplus.UNSPOKEN.match(f"pygments.lexers.{lexer}")
    assert surplus.UNSPOKEN.match("pygments.lexers.haskell")


def test_system_libraries_are_dependencies_of_the_package() -> None:
    asked = {library for library in QT_WINDOW if library.startswith("lib")}
    assert {library for library in asked if not surplus.SYSTEM.match(library)} == set()
    ours = ("libssl.so.3", "libcrypto.so.3", "libstdc++.so.6", "libicuuc.so.73", "libQt6Gui.so.6")
    assert not any(surplus.SYSTEM.match(library) for library in ours)


def test_the_bill_of_materials_names_every_part_and_every_compiled_file(tmp_path: Path) -> None:
    (tmp_path / "_internal").mkdir()
    (tmp_path / "_internal" / "libx.so").write_bytes(b"\x7fELF and more")
    listed = {
        "metadata": {"component": {"name": "pongbench"}},
        "components": [{"type": "library", "name": "pyside6-essentials", "version": "6.11.3"}],
    }
    data = json.loads(provenance.bill(json.dumps(listed), components(), tmp_path))
    parts = {part["name"]: part for part in data["components"]}
    assert parts["Qt"]["version"] == parts["pyside6-essentials"]["version"] == "6.11.3"
    assert {"Python", "Inter", "Lucide", "gevent", "libev", "_internal/libx.so"} <= set(parts)
    assert "LGPL-3.0" in json.dumps(parts["pyside6-essentials"]["licenses"])
    # What cargo compiled into uv.
    assert parts["tokio"]["group"] == "in uv" and parts["tokio"]["purl"].startswith("pkg:cargo/")


@pytest.mark.parametrize("part", components(), ids=lambda part: part.name)
def test_every_part_has_the_text_of_its_licence(part: Component) -> None:
    assert part.licence != "not named"
    assert re.search(r"warrant(y|ies)|as is", part.text, re.IGNORECASE), (
        f"{part.name} has no text of a licence: {part.text[:200]}"
    )


def test_qt_comes_with_both_texts_of_its_licence_and_how_to_replace_it() -> None:
    texts = {part.text for part in components() if part.licence.startswith("LGPL-3.0-only")}
    (text,) = texts
    assert "GNU LESSER GENERAL PUBLIC LICENSE\n                       Version 3" in text
    assert "GNU GENERAL PUBLIC LICENSE\n                       Version 3" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert "replaced by others of the same version" in text
    reported = provenance.licences(components())
    assert reported.count(text.strip()) == 1
    assert "shiboken6 6.11.3\nLGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only" in reported
    assert "The text is the one of Qt, above." in reported


def test_files_sent_to_machines_are_in_the_bundle_as_source() -> None:
    inside = {path for pattern in surplus.SENT for path in (ROOT / "workbench").glob(pattern)}
    programs = {
        REMOTE / name
        for path in (ROOT / "workbench").rglob("*.py")
        for name in re.findall(r"""REMOTE / "([\w.]+)\"""", path.read_text(encoding="utf-8"))
    }
    assert {path.name for path in programs} >= {"runner", "sampler", "builders"}
    assert all(path.exists() for path in programs)
    assert set(agent_sources().values()) <= inside
    found = {path.parent.name for path in inside if path.parent.parent.name == "workloads"}
    assert found == set(WORKLOADS)


def test_the_about_box_of_a_bundle_has_what_came_from_elsewhere_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openssl = Component("libssl3", "3.0.19", "Apache-2.0", "Apache License")
    (tmp_path / "bundled.json").write_text(provenance.kept([openssl]))
    assert openssl not in components()
    monkeypatch.setattr(licences, "BUNDLED", tmp_path / "bundled.json")
    assert components()[-1] == openssl


def test_a_file_in_the_bundle_that_no_part_accounts_for_is_found(tmp_path: Path) -> None:
    work = tmp_path / "build"
    work.mkdir()
    parts = components()
    installed = Path(gevent.__file__).parents[1]
    entries = [
        ("gevent", f"{installed}/gevent/__init__.py", "DATA"),
        ("uv", f"{installed}/../../../bin/uv", "BINARY"),
        ("json", json.__file__, "PYMODULE"),
        ("ours", str(ROOT / "LICENSE"), "DATA"),
        ("libpython3.11.so.1.0", "/opt/python/lib/libpython3.11.so.1.0", "BINARY"),
        ("libx.so", "elsewhere/libx.so", "SYMLINK"),
        ("zope", "-", "PYMODULE"),
    ]
    strange = [
        ("pytest", f"{installed}/pytest/__init__.py", "DATA"),
        ("libunheard.so.1", "/usr/lib/libunheard.so.1", "BINARY"),
    ]
    (work / "COLLECT-00.toc").write_text(repr((entries,)))
    (work / "PYZ-00.toc").write_text(repr(("x.pyz", strange)))
    found = provenance.strangers(provenance.gathered(work), parts, ROOT)
    assert found == {source for _, source, _ in strange}


@pytest.mark.parametrize("worker", ["", "zeromq"])
def test_the_agents_packages_are_those_of_the_lock_file_with_its_hashes(worker: str) -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    packages = agent_lock.LISTED[f"{worker or 'requirements'}.txt"]
    locked = [p for p in lock["package"] if p["name"] in packages]
    assert len(locked) == len(packages)
    listed = bundle.agent_packages(worker)
    pins = set(re.findall(r"^([\w-]+)==(\S+)", listed, re.MULTILINE))
    assert {(package["name"], package["version"]) for package in locked} - pins == set()
    hashes = {wheel["hash"] for package in locked for wheel in package["wheels"]}
    assert hashes - set(re.findall(r"sha256:\w+", listed)) == set()
